"""The package without torch: the sample exports of models/."""
import concurrent.futures
import pathlib

import pytest

import memcrest

GPT2 = pathlib.Path(__file__).parents[2] / "models" / "gpt2.onnx"
JOB = {"bind": {"batch": 2, "seq": 256}, "loss": "causal-lm", "device": "t4"}


def test_a_report_is_a_dict_with_attributes():
    report = memcrest.simulate(GPT2, JOB)
    assert report["model"]["parameter_count"] == report.model.parameter_count == 124439808
    assert report.device.device == "t4"
    assert report.device.fits and str(report).startswith("peak ")
    assert "devices" in report.to_dict() and "<pre>" in report._repr_html_()
    with pytest.raises(AttributeError, match="no field"):
        report.peek


def test_keywords_win_over_the_job_and_maps_merge():
    few = memcrest.simulate(GPT2, JOB)
    more = memcrest.simulate(GPT2, JOB, bind={"batch": 4})
    assert more.device.process_bytes > few.device.process_bytes


def test_a_refusal_says_how_to_fix_it():
    with pytest.raises(memcrest.MemcrestError, match="E0102"):
        memcrest.simulate(GPT2, JOB, batchsize=3)
    with pytest.raises(memcrest.MemcrestError, match="E0201"):
        memcrest.simulate("no-such-file.onnx", JOB)


def test_assert_fits():
    assert memcrest.assert_fits(GPT2, job=JOB).device.fits
    with pytest.raises(AssertionError, match="does not fit"):
        memcrest.assert_fits(GPT2, job=JOB, bind={"batch": 512})
    with pytest.raises(AssertionError, match="needs"):
        memcrest.assert_fits(GPT2, job=JOB, headroom=0.95)


def test_fit_gives_a_size_that_fits_and_one_that_does_not():
    answer = memcrest.fit(GPT2, "batch", JOB)
    assert answer.largest > 2
    fits = {row.size: row.fits for row in answer.tried}
    assert fits[answer.largest] and not fits[answer.next_limit.size]


def test_a_sweep_is_the_same_with_any_executor():
    axes = {"batch": [1, 2, 4], "precision": ["fp32", "amp-bf16"]}
    alone = memcrest.sweep(GPT2, axes, JOB)
    assert [row["index"] for row in alone] == list(range(6))
    assert alone[5]["batch"] == "4" and alone[5]["process_bytes"] > 0
    with concurrent.futures.ThreadPoolExecutor(2) as executor:
        assert memcrest.sweep(GPT2, axes, JOB, executor=executor, shards=4) == alone
    with concurrent.futures.ProcessPoolExecutor(2) as executor:
        assert memcrest.sweep(GPT2, axes, JOB, executor=executor) == alone


class Failing(concurrent.futures.ThreadPoolExecutor):
    """The first task's worker dies."""

    deaths = 1

    def submit(self, function, *arguments):
        if self.deaths == 0:
            return super().submit(function, *arguments)
        self.deaths -= 1
        dead = concurrent.futures.Future()
        dead.set_exception(RuntimeError("worker lost"))
        return dead


def test_a_lost_worker_loses_nothing():
    axes = {"batch": "1,2,4"}
    with Failing(2) as executor:
        assert memcrest.sweep(GPT2, axes, JOB, executor=executor, shards=3) == memcrest.sweep(GPT2, axes, JOB)


def test_frames_and_plots():
    pytest.importorskip("pandas")
    report = memcrest.simulate(GPT2, JOB)
    assert report.tensors()["bytes"].is_monotonic_decreasing
    assert report.timeline()["parameters"].max() >= 124439808 * 4
    pytest.importorskip("matplotlib").use("Agg")
    assert report.plot().get_ylabel() == "GiB"
