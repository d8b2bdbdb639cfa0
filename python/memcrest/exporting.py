"""Skeleton ONNX files of live or meta-device modules: the whole network, no weights.

The file is an export of PyTorch's dynamo exporter, whose notes (FX nodes, module scopes, source lines) tell which
operators run. Tables in the model's metadata_props add what an export cannot show (JSON, `memcrest.` + name):

    parameters  in registration order: name, aliases (tied names), shape, dtype, requires_grad, buffer, persistent
    modules     in order: path, class, training, and what settles memory: dropout's p, inplace, momentum ...
    calls       executions of modules in order: path, depth
"""
from __future__ import annotations

import json
import os
import warnings
from contextlib import contextmanager
from typing import Any, Iterator, Mapping, Sequence

EXTERNAL = "weights.data"  # where the weights would be; the file is never written
KEEP_ELEMENTS = 64         # tensors up to this many elements stay: shapes, scalars
SETTINGS = ("p", "dropout", "inplace", "momentum", "track_running_stats", "eps", "affine")


def parameters_table(module) -> list[dict[str, Any]]:
    """Parameters, then buffers, each with all its names."""
    rows: dict[int, dict[str, Any]] = {}
    buffers = {id(b) for b in module.buffers()}
    persistent = set(module.state_dict(keep_vars=True))
    named = [*module.named_parameters(remove_duplicate=False), *module.named_buffers(remove_duplicate=False)]
    for name, tensor in named:
        if id(tensor) in rows:
            rows[id(tensor)]["aliases"].append(name)
            continue
        rows[id(tensor)] = {
            "name": name, "aliases": [], "shape": list(tensor.shape), "dtype": str(tensor.dtype).removeprefix("torch."),
            "requires_grad": bool(tensor.requires_grad), "buffer": id(tensor) in buffers, "persistent": name in persistent}
    return list(rows.values())


def modules_table(module) -> list[dict[str, Any]]:
    """Every module with its class and the settings that memory depends on."""
    rows = []
    for path, part in module.named_modules():
        row: dict[str, Any] = {"path": path, "class": f"{type(part).__module__}.{type(part).__qualname__}",
                               "training": part.training}
        for name in SETTINGS:
            value = getattr(part, name, None)
            if isinstance(value, (bool, int, float)):
                row[name] = value
        rows.append(row)
    return rows


@contextmanager
def _calls_recorded(module) -> Iterator[list[dict[str, Any]]]:
    """Executions of modules, as the export's tracing runs them."""
    calls: list[dict[str, Any]] = []
    depth = [0]
    handles = []

    def before(path):
        def hook(part, arguments):
            calls.append({"path": path, "depth": depth[0]})
            depth[0] += 1
        return hook

    def after(part, arguments, output):
        depth[0] -= 1

    try:
        for path, part in module.named_modules():
            handles += [part.register_forward_pre_hook(before(path)), part.register_forward_hook(after)]
        yield calls
    finally:
        for handle in handles:
            handle.remove()


@contextmanager
def _as_trained(module, training: bool) -> Iterator[None]:
    """The module in training mode, its parameters without gradients; both as they were afterwards."""
    modes = [(part, part.training) for part in module.modules()]
    grads = [(p, p.requires_grad) for p in module.parameters()]
    try:
        if training and not module.training:
            module.train()
        for p, _ in grads:
            p.requires_grad_(False)
        yield
    finally:
        for part, mode in modes:
            part.training = mode
        for p, grad in grads:
            p.requires_grad_(grad)


def _arguments(example_inputs: Any) -> tuple[tuple, dict[str, Any]]:
    if isinstance(example_inputs, Mapping):
        return (), dict(example_inputs)
    return (tuple(example_inputs) if isinstance(example_inputs, (tuple, list)) else (example_inputs,)), {}


def _on_device_of(module, value):
    """Example inputs follow a meta-device module to the meta device."""
    import torch
    from torch.utils._pytree import tree_map

    first = next(module.parameters(), None)
    if first is None or first.device.type != "meta":
        return value
    return tree_map(lambda v: v.to("meta") if isinstance(v, torch.Tensor) else v, value)


def _blank_weights(model, names: set[str]) -> None:
    """Parameters, float buffers, and what has no data, become arrays of one value that take no memory.

    So the exporter's optimizer has something to read. The values differ, since it merges initializers that are equal.
    """
    import numpy
    import onnx_ir as ir

    for i, value in enumerate(model.graph.initializers.values()):
        tensor = value.const_value
        if value.name not in names and not _is_meta(tensor):
            continue
        kind = tensor.dtype.numpy()
        one = numpy.asarray(i % 127 if kind.kind in "iub" else i / 1024 + 0.5).astype(kind)
        shape = [int(d) for d in tensor.shape]
        value.const_value = ir.Tensor(numpy.broadcast_to(one, shape), dtype=tensor.dtype, name=value.name)


def _stub_weights(model) -> None:
    """Initializers become references to a file that is not there."""
    import onnx_ir as ir

    offset = 0
    for value in model.graph.initializers.values():
        tensor = value.const_value
        count = 1
        for d in tensor.shape:
            count *= int(d)
        if count <= KEEP_ELEMENTS:
            continue
        size = (count * tensor.dtype.bitwidth + 7) // 8
        value.const_value = ir.ExternalTensor(EXTERNAL, offset, size, tensor.dtype, shape=ir.Shape(tensor.shape),
                                              name=value.name, base_dir="")
        offset += (size + 4095) // 4096 * 4096


def _is_meta(tensor) -> bool:
    raw = getattr(tensor, "raw", None)
    device = getattr(raw, "device", None)
    return getattr(device, "type", "") == "meta"


def export(module, example_inputs: Any, path: str | os.PathLike = "", *,
           dynamic_axes: Mapping[str, Mapping[int, str]] | Sequence[Mapping[int, str]] | None = None, training: bool = True,
           input_names: Sequence[str] | None = None) -> str:
    """Writes the skeleton ONNX file of `module`, without weights, and gives its path.

    module:         a torch.nn.Module on any device; on the meta device a 70B network needs no memory.
    example_inputs: what it is called with: a tensor, a tuple of arguments, or a dict of keyword arguments.
    path:           "" stands for CLASS.onnx in the working directory.
    dynamic_axes:   names of free dimensions, later given by bind: {"input_ids": {0: "batch", 1: "seq"}}, or a sequence in
                    the order of the inputs. Sizes 0 and 1 in the example cannot be freed: use 2 or more.
    training:       export in training mode (dropout, batch statistics); False leaves the module's mode.
    The module is left as it was. Needs torch, onnx and onnxscript.
    """
    import torch

    path = os.fspath(path) or f"{type(module).__name__}.onnx"
    args, kwargs = _on_device_of(module, _arguments(example_inputs))
    tables = {"parameters": parameters_table(module)}
    shapes: Any = None
    if dynamic_axes is not None:
        shapes = dict(dynamic_axes) if isinstance(dynamic_axes, Mapping) else tuple(dynamic_axes)
        if isinstance(shapes, dict):
            given = set(kwargs) | set(list(_parameter_names(module))[:len(args)])
            shapes = {name: shapes.get(name) for name in _parameter_names(module) if name in given}
    with _as_trained(module, training), _calls_recorded(module) as calls, torch.no_grad(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Exporting a model while it is in training mode")
        tables["modules"] = modules_table(module)
        program = torch.onnx.export(module, args, kwargs=kwargs, dynamo=True, dynamic_shapes=shapes, verbose=False,
                                    input_names=list(input_names) if input_names else None, optimize=False)
        tables["calls"] = list(calls)
    floats = [row for row in tables["parameters"] if not row["buffer"] or "float" in row["dtype"]]
    _blank_weights(program.model, {name for row in floats for name in [row["name"], *row["aliases"]]})
    program.optimize()
    _stub_weights(program.model)
    _write(program.model, tables, path)
    return path


def _parameter_names(module) -> list[str]:
    import inspect

    return list(inspect.signature(module.forward).parameters)


def _write(model, tables: Mapping[str, Any], path: str) -> None:
    import onnx_ir as ir

    for name, table in tables.items():
        model.metadata_props[f"memcrest.{name}"] = json.dumps(table, separators=(",", ":"))
    model.metadata_props["memcrest.exporter"] = "1"
    proto = ir.serde.serialize_model(model)
    with open(path, "wb") as file:
        file.write(proto.SerializeToString())
