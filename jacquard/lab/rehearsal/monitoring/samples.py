"""Samples in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple


class Sample(NamedTuple):
    """A value of a series."""

    metric: str
    labels: Mapping[str, str]
    value: float = 1.0


def text(samples: Iterable[Sample]) -> str:
    """Return the lines of ``samples``."""
    return "".join(f"{sample.metric}{_labels(sample.labels)} {sample.value:.15g}\n" for sample in samples)


def _labels(labels: Mapping[str, str]) -> str:
    pairs = ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items())
    return f"{{{pairs}}}" if pairs else ""


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
