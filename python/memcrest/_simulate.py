"""One job: simulate a file, predict a module, assert that it fits."""
from __future__ import annotations

import json
import os
import tempfile
from typing import Any, Mapping

from ._job import merged, run
from ._report import Report, human_bytes


def simulate(model: str | os.PathLike, job: Mapping[str, Any] | None = None, **fields: Any) -> Report:
    """The peak memory of training the network of an ONNX file.

    model:  path of the file; weights are not needed.
    job:    the fields of a job file as a dict; keywords win over it.
    Raises MemcrestError if the file or the job is refused. Not fitting is a result: report.fits.

        simulate("gpt2.onnx", bind={"batch": 8, "seq": 1024}, precision="amp-bf16", device="a100-80gb")
    """
    settings = merged(job, fields)
    path = os.fspath(model)
    data = json.loads(run(["simulate", path, "--format", "json"], settings))
    return Report(data, run(["simulate", path], settings))


def predict(module: Any, batch: Any, job: Mapping[str, Any] | None = None, **fields: Any) -> Report:
    """The peak memory of training `module` on batches like `batch`; nothing is run and no file is left behind.

    module: a torch.nn.Module, on any device; on the meta device it needs no memory.
    batch:  what the module is called with: a tensor, a tuple of arguments, or a dict of keyword arguments.
    Other arguments: as simulate's. Needs torch, onnx and onnxscript.
    """
    from .exporting import export

    with tempfile.TemporaryDirectory(prefix="memcrest-") as folder:
        path = os.path.join(folder, type(module).__name__ + ".onnx")
        export(module, batch, path)
        return simulate(path, job, **fields)


def assert_fits(model: Any, batch: Any = None, job: Mapping[str, Any] | None = None, *, headroom: float = 0.0,
                **fields: Any) -> Report:
    """For tests: raises AssertionError unless the job fits with `headroom` (a share of the capacity) left free.

    model: the path of an ONNX file, or a module (then `batch` is needed). Gives the report.
    """
    if isinstance(model, (str, os.PathLike)):
        report = simulate(model, job, **fields)
    else:
        report = predict(model, batch, job, **fields)
    capacity, used = report.device["capacity_bytes"], report.device["process_bytes"]
    room = capacity - int(capacity * headroom)
    if not report.fits or used > room:
        raise AssertionError(f"{report}\nneeds {human_bytes(used)} of {human_bytes(room)}\n{report.text}")
    return report
