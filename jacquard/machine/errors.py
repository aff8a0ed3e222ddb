"""Errors that users can fix, and messages for errors of the operating system."""


class ToolchainError(Exception):
    """An error that the user can fix; the text is the complete message, with one line per problem."""


class SettingError(ToolchainError):
    """A setting has an invalid value, or there is no project: wrong usage."""


def explained(error: OSError) -> str:
    """Return a one-line message for an operating system error, such as ``/cache: read-only file system``."""
    reason = (error.strerror or str(error)).lower()
    return f"{error.filename}: {reason}" if error.filename else reason
