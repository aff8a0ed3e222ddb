"""Unambiguous remedies: replacement texts that can be written without confirmation."""

from components.specs.struct import Struct


class Remedy(Struct, kw_only=False):
    """Replacement of one value."""

    path: tuple[str | int, ...]
    """Path of keys to the value; for an inventory file, the line and the column."""
    text: str | None
    """Text to write, in the notation of the file; None to delete the line."""
    is_key: bool = False
    """Whether to replace the last key of ``path`` instead of its value."""
    instead_of: str | None = None
    """Original text for which the remedy is valid; None if it is valid for any text."""


class FormError(ValueError):
    """Value with a correct meaning in a form that is not accepted."""

    def __init__(self, rule: str, write: str) -> None:
        super().__init__(f"{rule}; write {write}")
        self.write = write
        """Value in the accepted form, in the notation of the file."""
