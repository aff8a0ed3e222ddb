"""GUIDs of InfiniBand ports: the accepted form, and conversion from the forms of other tools."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, PlainSerializer, WithJsonSchema

from components.specs.reading.remedy import FormError

_GUID = re.compile(r"0x[0-9a-f]{16}")
_OTHER_FORM = re.compile(r"(?i)(?:0x)?([0-9a-f]{16}|[0-9a-f]{4}(?::[0-9a-f]{4}){3}|[0-9a-f]{2}(?::[0-9a-f]{2}){7})")
"""Forms printed by ibstat, ibdev2netdev and sysfs, by UFM, and by Linux as addresses."""
_BETWEEN = re.compile(r"[\s,;|]+")
_RULE = "each port GUID must be 0x and 16 lower-case hex digits, separated by single spaces"
_EXAMPLE = "0x946dae0300a10000"


def _guids(value: object) -> object:
    if not isinstance(value, str):
        return tuple(value) if isinstance(value, list) else value
    guids = tuple(value.split(" "))
    if all(map(_GUID.fullmatch, guids)):
        return guids
    forms = [_OTHER_FORM.fullmatch(part) for part in _BETWEEN.split(value.strip())]
    if all(forms):
        raise FormError(_RULE, " ".join(f"0x{form[1].lower().replace(':', '')}" for form in forms if form))
    msg = f"{_RULE}, like {_EXAMPLE}"
    raise ValueError(msg)


PortGuids = Annotated[
    tuple[str, ...],
    BeforeValidator(_guids),
    PlainSerializer(" ".join, return_type=str),
    WithJsonSchema(
        {"type": "array", "items": {"type": "string", "pattern": f"^{_GUID.pattern}$", "examples": [_EXAMPLE]}}
    ),
]
"""GUIDs of InfiniBand ports in port order; in a cell, ``0x946dae0300a10000 0x946dae0300a10001``."""
