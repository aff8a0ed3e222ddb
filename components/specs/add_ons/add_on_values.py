"""Values of charts that the data may set: which a release offers, and what is written for add-ons in its place."""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import QUANTITY, Spec, Text
from components.specs.reading.problems import one_of, suggestion

VALUE_PATH = r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$"
ValuePath = Annotated[str, StringConstraints(pattern=VALUE_PATH, max_length=253)]
"""Path of one value of a chart, its keys joined by dots, such as ``speaker.logLevel``."""
ChartValue = bool | int | Text
"""What the data may set a value of a chart to."""


class ValueType(StrEnum):
    """What a value of a chart may be set to."""

    BOOLEAN = "boolean"
    """The value is true or false."""
    COUNT = "count"
    """The value is a whole number of at least 0."""
    CPU = "cpu"
    """The value is CPUs as Kubernetes writes them, such as ``500m``."""
    MEMORY = "memory"
    """The value is bytes with a binary unit, such as ``512Mi``."""
    DURATION = "duration"
    """The value is a duration in one unit of Go's, such as ``30s``, ``5m`` or ``24h``."""


Tunable = ValueType | Annotated[tuple[Text, ...], Field(min_length=1)]
"""What a value may be: of a type, or one of a few words."""
_FORMS = {
    ValueType.CPU: (re.compile(r"[1-9][0-9]{0,6}m"), "CPUs in thousandths like 500m"),
    ValueType.MEMORY: (re.compile(QUANTITY), "a whole number with a binary unit like 512Mi"),
    ValueType.DURATION: (re.compile(r"[1-9][0-9]{0,6}[smh]"), "a duration with one of the units s, m and h like 30m"),
}


class AddOnValuesSpec(Spec):
    """Values of an add-on that differ from those that the library and the chart have."""

    reason: Text
    """Why they differ, with a ticket if there is one; releases carry it, and reports show it."""
    values: dict[ValuePath, ChartValue] = Field(min_length=1)
    """What is set, by path of the value; only what ``tunable`` of the chart's release in ``catalog/versions.yaml``
    lists."""


def unfit(value: ChartValue, tunable: Tunable) -> str:
    """Return what a value must be that is not as ``tunable`` has it; nothing where it is."""
    if isinstance(tunable, tuple):
        near = suggestion(value, tunable) if isinstance(value, str) else ""
        return "" if value in tunable else f"{one_of(tunable)}{near}"
    if tunable is ValueType.BOOLEAN:
        return "" if isinstance(value, bool) else "true or false"
    if tunable is ValueType.COUNT:
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return "" if is_count else "a whole number of at least 0"
    form, told = _FORMS[tunable]
    return "" if isinstance(value, str) and form.fullmatch(value) else told
