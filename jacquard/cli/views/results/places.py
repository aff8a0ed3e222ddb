"""Positions of results in the repository."""

import posixpath
from urllib.parse import quote

from jacquard.machine import paths
from policies.results import Result


def path(result: Result) -> str:
    """Return the path of the file of ``result`` relative to the root of the repository."""
    return posixpath.normpath(f"{paths.environments().name}/{result.environment}/{result.file}")


def uri(result: Result) -> str:
    """Return `path` as a URI reference."""
    return quote(path(result))
