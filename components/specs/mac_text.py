"""MAC addresses: the accepted form, and conversion from the forms of other tools."""

from __future__ import annotations

import re

from components.specs.reading.remedy import FormError

MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
_OTHER_FORM = re.compile(r"(?i)[0-9a-f]{2}([-:]?[0-9a-f]{2}){5}|[0-9a-f]{4}(\.[0-9a-f]{4}){2}")
_RULE = "a MAC address must be six lower-case hex pairs with colons, in quotes"


def mac(value: str) -> str:
    """Return ``value`` if it is a MAC address in the accepted form.

    Raises:
        ValueError: ``value`` is not a MAC address; a FormError if it is a MAC address in another form.
    """
    if MAC.fullmatch(value):
        return value
    if _OTHER_FORM.fullmatch(value):
        meant = ":".join(re.findall("[0-9a-f]{2}", value.lower().replace(".", "")))
        raise FormError(_RULE, f'"{meant}"')
    msg = f'{_RULE}, like "80:c1:00:00:01:01"'
    raise ValueError(msg)
