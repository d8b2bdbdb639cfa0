"""memcrest: predicts the GPU memory of PyTorch training, without a GPU.

    import memcrest
    report = memcrest.predict(module, batch, optimizer="adamw", precision="amp-bf16", device="a100-80gb")
    print(report)                 # the first line answers
    report.peak_bytes             # bytes

All sizes are in bytes, all times in seconds. Job settings are the fields of a job file (proto/job.proto), given as
keywords or as a dict: bind, precision, optimizer, loss, checkpoint, device, ...
"""
from ._job import MemcrestError
from ._report import Report
from ._what_if import Fit, fit, sweep
from ._simulate import assert_fits, predict, simulate


def export(*arguments, **keywords):
    """Writes a skeleton ONNX file of a module: see memcrest.exporting.export. Needs torch, onnx and onnxscript."""
    from .exporting import export as export_module

    return export_module(*arguments, **keywords)


__all__ = ["Fit", "MemcrestError", "Report", "assert_fits", "export", "fit", "predict", "simulate", "sweep"]
__version__ = "0.1.0"
