"""Error of this package with a message for users."""


class StackError(Exception):
    """The stack matches no environment; the message is for users."""
