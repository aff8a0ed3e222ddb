"""Replays past changes of an environment through the current rules: which rule would have stopped which commit."""

import datetime as dt
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from components.rules import checks
from components.specs.reading.loader import CATALOG
from components.specs.struct import Struct, replace
from jacquard.audits.data import JudgedData, judged_data
from jacquard.previews.base_commits import commit_of, git, repository_of
from jacquard.previews.bases import data_at
from policies.result_data import to_json
from policies.results import Decision, Result, Source, State, against, decision, of_problem

_SEPARATOR = ".."
_SHORT = 9
_FORMAT = "--format=%H %cI %s"
"""Line of ``git log`` for a commit: full hash, time of the commit, subject."""


class _Commit(Struct):
    """Commit of the history."""

    name: str
    at: dt.datetime
    subject: str

    @classmethod
    def of(cls, line: str) -> "_Commit":
        """Return the commit of a line in `_FORMAT`."""
        name, at, *subject = line.split(" ", maxsplit=2)  # a commit can have no subject
        return cls(name=name, at=dt.datetime.fromisoformat(at), subject="".join(subject))


class Replayed(Struct):
    """One past change, judged by the current rules at the time of its commit."""

    commit: str
    """Short hash of the commit."""
    subject: str
    at: dt.datetime
    stopped: tuple[Result, ...] = ()
    """New violations that would have blocked the change."""
    unreadable: str | None = None
    """Reason why this version cannot judge the change; None if it was judged."""

    def to_json(self) -> dict[str, Any]:
        """Return the change as data."""
        return {
            "commit": self.commit,
            "subject": self.subject,
            "at": self.at.isoformat(),
            "stopped": to_json(self.stopped),
            "unreadable": self.unreadable,
        }


def replay(environments: Path, name: str, span: str) -> Iterator[Replayed]:
    """Yield the changes of an environment and of its catalogue in a span of commits, oldest first.

    Each merged change is compared with the state before it. Rules that compare several regions are not evaluated.

    Args:
        environments: folder of all environments, in a git repository.
        name: name of the environment.
        span: two commits, such as ``v1..main``; the second is HEAD by default.

    Raises:
        BaseError: git is missing, there is no repository, or it does not contain a commit.
    """
    home = environments.resolve()
    top = repository_of(home)
    data = home.relative_to(top).as_posix()
    first, _, last = span.partition(_SEPARATOR)
    first, last = commit_of(top, first), commit_of(top, last or "HEAD")
    listed = ("log", "--first-parent", "--reverse", _FORMAT, f"{first}..{last}", "--")
    changes = git(top, *listed, f"{data}/{name}", f"{data}/{CATALOG}", what="list the changes")
    start = _Commit.of(git(top, "show", "--no-patch", _FORMAT, first, what="read a commit"))
    before = _at(top, data, name, start)
    for commit in (_Commit.of(line) for line in changes.split("\n") if line):
        after = _at(top, data, name, commit)
        yield _replayed(commit, name, before, after)
        before = after


def _at(top: Path, data: str, name: str, commit: _Commit) -> JudgedData:
    with data_at(top, data, commit.name) as folder:
        if not (folder / name).is_dir():
            return JudgedData(environment=None, results=())
        return judged_data(folder, name, commit.at)


def _replayed(commit: _Commit, name: str, before: JudgedData, after: JudgedData) -> Replayed:
    result = Replayed(commit=commit.name[:_SHORT], subject=commit.subject, at=commit.at)
    if after.results and after.environment is None and before.results and before.environment is None:
        first, rest = after.results[0], len(after.results) - 1
        reason = f"{first.file}:{first.line}: {first.text}"
        return replace(result, unreadable=f"{reason} and {rest} more" if rest else reason)
    new = [item for item in against(before.results, after.results) if item.state is State.NEW and item.blocks]
    sides = (before, after)
    if (
        before.environment
        and after.environment
        and all(decision(side.results) is not Decision.BAD_DATA for side in sides)
    ):
        day = result.at.astimezone(dt.UTC).date()
        changed = checks.check_change(before.environment, after.environment, day)
        new += [of_problem(name, problem, Source.CHANGE) for problem in checks.errors(changed, day)]
    return replace(result, stopped=tuple(new))
