"""Error of the local region."""


class RehearsalError(Exception):
    """A problem that the user can fix; the text is the complete message."""
