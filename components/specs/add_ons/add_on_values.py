"""Configurable values of Helm charts: the values that a release allows, and the values set for add-ons."""

import re
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import QUANTITY, Spec, Text
from components.specs.reading.problems import one_of, suggestion

VALUE_PATH = r"^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$"
ValuePath = Annotated[str, StringConstraints(pattern=VALUE_PATH, max_length=253)]
"""Path of one chart value: keys joined by dots, such as ``speaker.logLevel``."""
ChartValue = bool | int | Text
"""Value of a configurable key of a chart."""


class ValueType(StrEnum):
    """Type of a chart value."""

    BOOLEAN = "boolean"
    """The value is true or false."""
    COUNT = "count"
    """The value is a whole number of at least 0."""
    CPU = "cpu"
    """The value is a CPU quantity of Kubernetes, such as ``500m``."""
    MEMORY = "memory"
    """The value is a number of bytes with a binary unit, such as ``512Mi``."""
    DURATION = "duration"
    """The value is a duration with one of Go's units, such as ``30s``, ``5m`` or ``24h``."""


Tunable = ValueType | Annotated[tuple[Text, ...], Field(min_length=1)]
"""Valid values: a type, or a choice of words."""
_FORMS = {
    ValueType.CPU: (re.compile(r"[1-9][0-9]{0,6}m"), "a number of CPUs in thousandths like 500m"),
    ValueType.MEMORY: (re.compile(QUANTITY), "a whole number above 0 with a binary unit like 512Mi"),
    ValueType.DURATION: (re.compile(r"[1-9][0-9]{0,6}[smh]"), "a duration with one of the units s, m and h like 30m"),
}


class AddOnValuesSpec(Spec):
    """Values of an add-on that override those of the library and the chart."""

    reason: Text
    """Reason for the values, with a ticket if there is one. It is written to releases and shown in reports."""
    values: dict[ValuePath, ChartValue] = Field(min_length=1)
    """Values by path. Only paths in ``tunable`` of the chart's release in ``catalog/versions.yaml`` are allowed."""


def unmet_requirement(value: ChartValue, tunable: Tunable) -> str:
    """Return the requirement of ``tunable`` that ``value`` does not meet; an empty text if it meets it."""
    if isinstance(tunable, tuple):
        near = suggestion(value, tunable) if isinstance(value, str) else ""
        return "" if value in tunable else f"{one_of(tunable)}{near}"
    if tunable is ValueType.BOOLEAN:
        return "" if isinstance(value, bool) else "true or false"
    if tunable is ValueType.COUNT:
        is_count = isinstance(value, int) and not isinstance(value, bool) and value >= 0
        return "" if is_count else "a whole number of at least 0"
    form, requirement = _FORMS[tunable]
    return "" if isinstance(value, str) and form.fullmatch(value) else requirement
