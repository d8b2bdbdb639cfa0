"""Questions that take many simulations: the largest size that fits, tables over settings."""
from __future__ import annotations

import csv
import io
import json
import os
from concurrent.futures import Executor
from typing import Any, Mapping, Sequence

from ._job import merged, run
from ._report import View


class Fit(View):
    """What `memcrest fit --format json` prints: largest, bytes_per_unit, next_limit, tried. Sizes in bytes."""


def fit(model: str | os.PathLike, vary: str = "batch", job: Mapping[str, Any] | None = None, *, headroom: float = 0.1,
        multiple: int = 1, most: int = 1 << 20, **fields: Any) -> Fit:
    """The largest value of a dimension ("batch", "seq" ...) with which the job fits its device.

    headroom: share of the device's capacity to keep free.  multiple: only multiples of it are tried.
    The answer is .largest; 0 if not even the smallest fits.
    """
    words = ["fit", os.fspath(model), "--vary", vary, "--headroom", repr(headroom * 100), "--multiple", str(multiple)]
    return Fit(json.loads(run([*words, "--most", str(most), "--format", "json"], merged(job, fields))))


def _shard(words: Sequence[str], shard: str, job: Mapping[str, Any]) -> str:
    return run([*words, "--shard", shard, "--format", "csv", "--threads", "1"], job)


def _rows(text: str) -> list[dict[str, Any]]:
    rows = list(csv.DictReader(io.StringIO(text)))
    for row in rows:
        for name in row:
            if name == "index" or name.endswith("_bytes"):
                row[name] = int(row[name])
    return rows


def sweep(model: str | os.PathLike, axes: Mapping[str, Any], job: Mapping[str, Any] | None = None, *,
          headroom: float = 0.1, executor: Executor | None = None, shards: int = 0, attempts: int = 3,
          **fields: Any) -> list[dict[str, Any]]:
    """One row for each combination of the axes' values, in a fixed order; pandas.DataFrame(rows) makes a table.

    axes:     {"batch": [1, 2, 4], "precision": ["fp32", "amp-bf16"]}; a string is as on the command line: "1,2,4..64".
    executor: any concurrent.futures executor (threads, processes, Dask's client.get_executor() ...); each task is a shard.
              The model's path and the package must be there for every worker. A shard whose worker dies is given out
              again, `attempts` times in all. Without one, the threads of this process are used.
    Sizes are in bytes.
    """
    settings = merged(job, fields)
    words = ["sweep", os.fspath(model), "--headroom", repr(headroom * 100)]
    for name, values in axes.items():
        text = values if isinstance(values, str) else ";".join(str(v) for v in values)
        words += ["--vary", f"{name}={text}"]
    if executor is None:
        return _rows(run([*words, "--format", "csv"], settings))
    count = shards or 4 * (getattr(executor, "_max_workers", None) or os.cpu_count() or 1)
    texts: dict[int, str] = {}
    for attempt in range(attempts):
        futures = {i: executor.submit(_shard, words, f"{i}/{count}", settings) for i in range(count) if i not in texts}
        for i, future in futures.items():
            try:
                texts[i] = future.result()
            except ValueError:  # the input is refused: no other worker would take it
                raise
            except Exception:
                if attempt + 1 == attempts:
                    raise
        if len(texts) == count:
            break
    return sorted((row for i in range(count) for row in _rows(texts[i])), key=lambda row: row["index"])
