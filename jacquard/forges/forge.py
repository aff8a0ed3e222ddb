"""Interface of a forge: read and write the comments of a pull request that belong to the run's token."""

from collections.abc import Iterable
from typing import Protocol

from components.specs.struct import Struct


class ForgeError(Exception):
    """A request to a forge failed; the message is lower case, without a full stop, and contains the remedy."""


class Busy(ForgeError):  # noqa: N818 - a rate limit is a normal answer with a time to retry, not always an error
    """Temporary failure: a later attempt may succeed.

    Args:
        message: error message.
        seconds: waiting time that the forge requests; None if it requests none.
    """

    def __init__(self, message: str, seconds: float | None = None) -> None:
        super().__init__(message)
        self.seconds = seconds


class Gone(ForgeError):  # noqa: N818 - not an error if the resource was to be deleted
    """The resource does not exist, or the token has no access to it."""


class Comment(Struct, kw_only=False):
    """A comment of a pull request."""

    number: int
    """Identifier at the forge; later comments have higher numbers."""
    body: str


class Forge(Protocol):
    """A pull request at a forge, accessed with the rights of a token; every method can raise `ForgeError`."""

    def own_comments(self) -> Iterable[Comment]:
        """Return the comments written by the owner of the token, from all pages."""

    def create(self, body: str) -> None:
        """Create a comment."""

    def update(self, number: int, body: str) -> None:
        """Replace the text of a comment."""

    def delete(self, number: int) -> None:
        """Delete a comment."""
