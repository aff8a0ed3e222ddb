"""The component of objects that a user's repository adds."""

from __future__ import annotations

from components.component import Component
from components.render.extensions import OwnInput


class Own(Component[OwnInput]):
    """Objects that an extension component of the user's repository adds to a slice."""

    INPUT = OwnInput
