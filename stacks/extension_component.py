"""The component of objects that a user's repository adds."""

from __future__ import annotations

from components.component import Component
from components.render.extensions import ExtensionInput


class Extension(Component[ExtensionInput]):
    """Objects that an extension component of the user's repository adds to a slice."""

    INPUT = ExtensionInput
