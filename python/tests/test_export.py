"""Exports of live and meta-device modules; skipped where PyTorch or its exporter is missing."""
import json

import pytest

import memcrest

torch = pytest.importorskip("torch")
onnx = pytest.importorskip("onnx")
pytest.importorskip("onnxscript")


class Tied(torch.nn.Module):
    """An embedding tied to the head, a dropout, a shared norm, a buffer."""

    def __init__(self):
        super().__init__()
        self.table = torch.nn.Embedding(1000, 64)
        self.norm = torch.nn.LayerNorm(64)
        self.blocks = torch.nn.ModuleList(
            torch.nn.Sequential(torch.nn.Linear(64, 256), torch.nn.GELU(), torch.nn.Dropout(0.1), torch.nn.Linear(256, 64))
            for _ in range(3))
        self.head = torch.nn.Linear(64, 1000, bias=False)
        self.head.weight = self.table.weight
        self.register_buffer("scale", torch.ones(64), persistent=False)

    def forward(self, ids):
        h = self.table(ids) * self.scale
        for block in self.blocks:
            h = h + block(self.norm(h))
        return self.head(h)


AXES = {"ids": {0: "batch", 1: "seq"}}
PARAMETERS = 1000 * 64 + 2 * 64 + 3 * (64 * 256 + 256 + 256 * 64 + 64)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("exports")
    files = {}
    for device in ("cpu", "meta"):
        with torch.device(device):
            module = Tied().eval()
        before = [p.requires_grad for p in module.parameters()]
        ids = torch.zeros(2, 16, dtype=torch.long)
        files[device] = memcrest.export(module, ids, folder / f"{device}.onnx", dynamic_axes=AXES)
        assert not module.training and before == [p.requires_grad for p in module.parameters()]
    return files


def test_live_and_meta_modules_give_the_same_bytes(exported):
    with open(exported["cpu"], "rb") as live, open(exported["meta"], "rb") as meta:
        assert live.read() == meta.read()


def test_the_tables_name_every_parameter_module_and_call(exported):
    model = onnx.load(exported["meta"], load_external_data=False)
    tables = {p.key: json.loads(p.value) for p in model.metadata_props if p.key.startswith("memcrest.")}
    rows = {row["name"]: row for row in tables["memcrest.parameters"]}
    assert rows["table.weight"]["aliases"] == ["head.weight"] and rows["table.weight"]["requires_grad"]
    assert rows["scale"]["buffer"] and not rows["scale"]["persistent"]
    assert {row["path"]: row.get("p") for row in tables["memcrest.modules"]}["blocks.0.2"] == 0.1
    calls = [call["path"] for call in tables["memcrest.calls"]]
    assert calls[0] == "" and calls.count("norm") == 3 and calls[-1] == "head"


def test_the_export_is_simulated_with_any_sizes(exported):
    report = memcrest.simulate(exported["meta"], bind={"batch": 8, "seq": 128}, loss="causal-lm")
    assert report.model.parameter_count == report.model.trainable_count == PARAMETERS
    assert not report.to_dict().get("unknown_ops")


def test_predict_needs_no_file():
    with torch.device("meta"):
        module = Tied()
    report = memcrest.predict(module, torch.zeros(8, 128, dtype=torch.long), optimizer="sgd", loss="causal-lm")
    assert report.model.parameter_count == PARAMETERS
