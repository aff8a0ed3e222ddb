"""What is asked of a forge: the comments of one pull request that this run's token wrote, and to change them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol


class ForgeError(Exception):
    """A forge did not do what was asked: lower case, no full stop, with what to do about it."""


class Busy(ForgeError):  # noqa: N818 - not every answer of this kind is an error: a limit says when to come back
    """The same question may be answered later.

    Args:
        message: who said what.
        seconds: when the forge wants to be asked again; None when it did not say.
    """

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class Gone(ForgeError):  # noqa: N818 - what was to be deleted may be gone, which is no error
    """What was asked for is not there, or the token may not see it."""


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment of a pull request."""

    number: int
    """By which the forge knows it; later comments have greater ones."""
    body: str


class Forge(Protocol):
    """One pull request at a forge, as its token sees it; every method raises `ForgeError`."""

    def own_comments(self) -> Iterable[Comment]:
        """Return the comments that the owner of the token wrote, all pages of them."""

    def create(self, body: str) -> None:
        """Write a new comment."""

    def update(self, number: int, body: str) -> None:
        """Write another text into a comment."""

    def delete(self, number: int) -> None:
        """Remove a comment."""
