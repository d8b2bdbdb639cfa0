"""Jobs as dicts, and the program's commands called with them."""
from __future__ import annotations

import json
import os
import tempfile
from contextlib import contextmanager
from typing import Any, Iterator, Mapping, Sequence

from . import _core


class MemcrestError(ValueError):
    """The input was refused: what, where, why and how to fix it, as the program says it."""


@contextmanager
def job_file(job: Mapping[str, Any]) -> Iterator[str]:
    """The path of a file that holds `job` while the context lasts."""
    handle, path = tempfile.mkstemp(suffix=".json", prefix="memcrest-job-")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            json.dump(job, file)
        yield path
    finally:
        os.unlink(path)


def merged(job: Mapping[str, Any] | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """`job` with `fields` over it; the maps in it (bind ...) are merged entry by entry."""
    result = dict(job or {})
    for name, value in fields.items():
        both = isinstance(value, Mapping) and isinstance(result.get(name), Mapping)
        result[name] = {**result[name], **value} if both else value
    return result


def run(words: Sequence[str], job: Mapping[str, Any]) -> str:
    """Standard output of a command under a job; exit codes 0 (fits) and 1 (does not fit) are results."""
    with job_file(job) as path:
        code, out, err = _core.run([*words, "--job", path])
    if code in (0, 1):
        return out
    raise (MemcrestError if code == 2 else RuntimeError)(err.strip())
