"""MAC addresses: the one form that is taken, and what is written in the forms of other programs."""

from __future__ import annotations

import re

from components.specs.reading.remedy import FormError

MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")
_OTHER_FORM = re.compile(r"(?i)[0-9a-f]{2}([-:]?[0-9a-f]{2}){5}|[0-9a-f]{4}(\.[0-9a-f]{4}){2}")
_RULE = "a MAC address is six lower-case hex pairs with colons in quotes"


def mac(value: str) -> str:
    """Return ``value`` if it is a MAC address in the form that is taken.

    Raises:
        ValueError: it is none; a FormError when it is one in another form.
    """
    if MAC.fullmatch(value):
        return value
    if _OTHER_FORM.fullmatch(value):
        meant = ":".join(re.findall("[0-9a-f]{2}", value.lower().replace(".", "")))
        raise FormError(_RULE, f'"{meant}"')
    msg = f'{_RULE}, like "80:c1:00:00:01:01"'
    raise ValueError(msg)
