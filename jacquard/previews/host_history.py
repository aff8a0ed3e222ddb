"""Reads hosts out of service from the git history of an environment."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path

import yaml

from components.reports.hosts.failure_history import Revision
from components.specs.reading.loader import OUT_OF_SERVICE
from jacquard.previews.base_commits import answer, commit_of, git, repository_of

_SEPARATOR = ".."


def revisions(folder: Path, span: str) -> tuple[list[Revision], dt.datetime]:
    """Return the hosts out of service at the first commit of a span and after each change, and the end of the span.

    A merged change counts from the time of its merge.

    Args:
        folder: folder of the environment, in a git repository.
        span: two commits, such as ``v1..main``; the second is HEAD by default.

    Raises:
        BaseError: git is missing, there is no repository, or it does not contain a commit.
    """
    home = folder.resolve()
    top = repository_of(home)
    file = (home.relative_to(top) / OUT_OF_SERVICE).as_posix()
    first, _, last = span.partition(_SEPARATOR)
    first, last = commit_of(top, first), commit_of(top, last or "HEAD")
    changes = git(top, "log", "--first-parent", "--reverse", "--format=%H", f"{first}..{last}", "--", file, what="read")
    found = [_revision(top, commit, file) for commit in (first, *changes.split())]
    return found, _time(top, last)


def _revision(top: Path, commit: str, file: str) -> Revision:
    content = yaml.load(answer(top, "show", f"{commit}:{file}"), Loader=yaml.CSafeLoader) or {}
    return Revision(at=_time(top, commit), states=dict(_states(content)))


def _states(content: dict[str, dict[str, dict[str, str]]]) -> Iterator[tuple[str, str]]:
    """Yield hosts and states; earlier formats of the file are read as far as they have the same fields."""
    for host, entry in (content.get("hosts") or {}).items():
        yield host, str(entry.get("state"))


def _time(top: Path, commit: str) -> dt.datetime:
    return dt.datetime.fromisoformat(git(top, "show", "--no-patch", "--format=%cI", commit, what="read a commit"))
