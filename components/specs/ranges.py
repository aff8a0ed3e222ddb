"""Ranges of numbers in data files: ``first-last``, both ends included."""

import re
from collections.abc import Callable
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainSerializer, WithJsonSchema

from components.specs.base import Spec
from components.specs.reading.remedy import FormError

_NUMBER = r"(0x[0-9a-f]{1,15}|0|[1-9][0-9]{0,17})"
_OTHER_DASH = re.compile("\\s*(?:-|\u2013|\u2014|\\.\\.)\\s*")
"""Separators between the ends of a range in the notations of users and other tools."""
_RANGE = re.compile(f"{_NUMBER}-{_NUMBER}")


class NumberRange(Spec):
    """An inclusive range of numbers, written ``first-last`` in decimal or ``0x`` hex."""

    first: int = Field(ge=0)
    """Lowest number of the range, included."""
    last: int = Field(ge=0)
    """Highest number of the range, included."""

    def __contains__(self, number: int) -> bool:
        """Return whether ``number`` is in the range, both ends included."""
        return self.first <= number <= self.last

    def __str__(self) -> str:
        """Return the range in decimal, in the notation of data files."""
        return f"{self.first}-{self.last}"


def range_reader(
    kind: type[NumberRange], form: re.Pattern[str], wrong: str, downwards: str
) -> Callable[[object], object]:
    """Return a validator that parses ``kind`` from text.

    ``wrong`` is the error text for values that are not a range, ``downwards`` for descending ranges.
    """

    def read(value: object) -> object:
        if isinstance(value, dict | kind):
            return value
        if not isinstance(value, str) or not form.fullmatch(value):
            plain = _OTHER_DASH.sub("-", value) if isinstance(value, str) else ""
            if form.fullmatch(plain):
                rule = wrong.partition(" like ")[0]
                raise FormError(rule, plain)
            raise ValueError(wrong)
        first, last = (int(part, 0) for part in value.split("-"))
        if first > last:
            raise ValueError(downwards)
        return {"first": first, "last": last}

    return read


Numbers = Annotated[
    NumberRange,
    BeforeValidator(
        range_reader(NumberRange, _RANGE, "must be a range like 10000-19999", "must go upwards, like 10000-19999")
    ),
    PlainSerializer(str, return_type=str),
    WithJsonSchema({"type": "string", "pattern": f"^{_RANGE.pattern}$", "examples": ["10000-19999"]}),
]
"""Range of numbers such as ``10000-19999``, both ends included."""
