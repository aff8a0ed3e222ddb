"""Comment of a command that failed: it replaces the comment of an earlier run, whose result is no longer true."""

from jacquard.cli.views.changes.markdown import code, cut, fenced

_MOST_BYTES = 20_000
"""Maximum size of the message; a log contains the rest."""


def comment(verb: str, message: str) -> str:
    """Return ``message``, the error of ``jacquard VERB``, with the marker that comments of ``verb`` have."""
    lines = cut(message.splitlines(), _MOST_BYTES)
    return "\n".join([f"<!-- jacquard {verb} -->", f"### {code(f'jacquard {verb}')} failed", "", fenced(lines), ""])
