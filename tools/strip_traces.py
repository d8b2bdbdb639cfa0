#!/usr/bin/env python3
"""Copies an ONNX file without the exporter's notes that memcrest does not need, and without weight data.

    tools/strip_traces.py IN.onnx OUT.onnx

Dropped: stack traces, namespaces, the notes on intermediate values. Kept: fx_node, name_scopes, class_hierarchy, rule_name, the
graph signature, value_info, initializers with shape, dtype and notes. Weight bytes become a reference to an external file that
is not made; literals up to 4096 elements stay. Needs the Python package onnx.

memcrest reads either file, but source lines are evidence (which variable holds a tensor, what ran in place): without them
it assumes more, and says so.
"""
import math
import sys

import onnx

DROPPED = {"pkg.torch.onnx.stack_trace", "namespace"}
LITERAL_ELEMENTS = 4096


def drop_notes(owner, dropped=None):
    """All notes, or those whose key is in `dropped`."""
    kept = [p for p in owner.metadata_props if dropped and p.key not in dropped]
    del owner.metadata_props[:]
    owner.metadata_props.extend(kept)


def drop_bytes(tensor):
    """Keeps what the tensor is, not what it holds."""
    if math.prod(tensor.dims) <= LITERAL_ELEMENTS or tensor.data_location == onnx.TensorProto.EXTERNAL:
        return
    for field in ("raw_data", "float_data", "int32_data", "int64_data", "double_data", "uint64_data", "string_data"):
        tensor.ClearField(field)
    tensor.data_location = onnx.TensorProto.EXTERNAL
    tensor.external_data.add(key="location", value="weights.bin")


def strip_graph(graph):
    for node in graph.node:
        drop_notes(node, DROPPED)
        for attribute in node.attribute:
            for body in [*attribute.graphs, *([attribute.g] if attribute.HasField("g") else [])]:
                strip_graph(body)
    for value in graph.value_info:
        drop_notes(value)
    for tensor in graph.initializer:
        drop_bytes(tensor)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    model = onnx.load(sys.argv[1], load_external_data=False)
    strip_graph(model.graph)
    for function in model.functions:
        for node in function.node:
            drop_notes(node, DROPPED)
    onnx.save(model, sys.argv[2])


if __name__ == "__main__":
    main()
