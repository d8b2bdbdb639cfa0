"""The report of a simulation as a dict with attributes."""
from __future__ import annotations

import html
from collections.abc import Mapping
from typing import Any, Iterator


def human_bytes(size: int) -> str:
    """"71.3 GiB": binary units."""
    value, unit = float(size), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if abs(value) < 1024:
            break
        value, unit = value / 1024, larger
    return f"{size} B" if unit == "B" else f"{value:.{2 if abs(value) < 10 else 1}f} {unit}"


class View(Mapping):
    """A JSON object whose fields are attributes too: view["peak"], view.peak."""

    def __init__(self, data: Mapping[str, Any]):
        self._data = dict(data)

    def __getitem__(self, key: str) -> Any:
        return _viewed(self._data[key])

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self[name]
        except KeyError:
            raise AttributeError(f"no field {name!r}; there are {', '.join(self._data)}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self._data!r})"

    def to_dict(self) -> dict[str, Any]:
        """The plain JSON object."""
        return self._data


def _viewed(value: Any) -> Any:
    if isinstance(value, dict):
        return View(value)
    return [_viewed(v) for v in value] if isinstance(value, list) else value


class Report(View):
    """What `memcrest simulate --format json` prints (docs/JSON.md). Sizes in bytes.

    str(report) is the answer in one line; report.devices[0] has the peaks, the timeline and the largest tensors.
    """

    def __init__(self, data: Mapping[str, Any], text: str = ""):
        super().__init__(data)
        self._text = text

    @property
    def device(self) -> View:
        """The fullest device."""
        return self["devices"][0]

    @property
    def fits(self) -> bool:
        """Whether the job fits every device."""
        return all(device["fits"] for device in self._data["devices"])

    @property
    def peak_bytes(self) -> int:
        """The peak of live tensors in allocator blocks on the fullest device, in bytes (torch.cuda.max_memory_allocated)."""
        return self.device["peak"]["allocated_bytes"]

    @property
    def text(self) -> str:
        """The text report."""
        return self._text

    def __str__(self) -> str:
        return self._text.split("\n", 1)[0]

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(self._text)}</pre>"

    def tensors(self):
        """The largest tensors alive at the peak as a pandas.DataFrame (bytes)."""
        return _frame(self._data["devices"][0].get("top_tensors", []))

    def modules(self):
        """What each module holds at the peak as a pandas.DataFrame (bytes)."""
        return _frame(self._data["devices"][0].get("top_modules", []))

    def timeline(self):
        """Bytes by category over the reported step as a pandas.DataFrame, indexed by event."""
        frame = _frame(self._data["devices"][0].get("timeline", {}))
        return frame.set_index("event") if "event" in frame else frame

    def plot(self, ax: Any = None):
        """The timeline as stacked areas in GiB (needs pandas and matplotlib); gives the axes."""
        frame = self.timeline().select_dtypes("number") / 2**30
        ax = frame.loc[:, frame.max() > 0].plot.area(ax=ax, linewidth=0)
        ax.set_xlabel("event of the step")
        ax.set_ylabel("GiB")
        return ax


def _frame(rows: Any):
    import pandas

    return pandas.DataFrame(rows)
