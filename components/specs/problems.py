"""What is wrong with the data of an environment, said once and in one form everywhere."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

MAX_SHOWN_CHARACTERS = 60
"""A value is quoted up to this length, so that a wrong blob does not fill the screen."""


@dataclass(frozen=True, order=True)
class Problem:
    """One mistake in one place.

    ``text`` gives the rule, the value got and the remedy: lower case, no full stop.
    """

    file: str
    """Relative to the environment's folder, such as ``tenants/acme.yaml``."""
    line: int
    """From 1; 0 when the problem is the file itself."""
    path: str
    """Where in the file, such as ``clusters[0].pools[1].nodes``; empty for the file itself."""
    text: str

    @property
    def place(self) -> str:
        """Return ``file:line``, as editors understand it."""
        return f"{self.file}:{self.line}" if self.line else self.file


class SpecError(Exception):
    """The data of an environment is wrong. Its text is a report of all problems."""

    def __init__(self, environment: str, problems: Iterable[Problem]) -> None:
        self.environment = environment
        self.problems = tuple(sorted(set(problems)))
        super().__init__(environment, self.problems)

    def __str__(self) -> str:
        count = len(self.problems)
        width = max((len(problem.place) for problem in self.problems), default=0)
        lines = [f"environments/{self.environment}: {count} problem{'' if count == 1 else 's'}"]
        for problem in self.problems:
            where = f"{problem.path}: " if problem.path else ""
            lines.append(f"  {problem.place:<{width}}  {where}{problem.text}")
        return "\n".join(lines)

    def to_json(self) -> dict[str, Any]:
        """Return the report as data for ``--format json``."""
        return {"environment": self.environment, "problems": [asdict(problem) for problem in self.problems]}


def dotted(path: Sequence[str | int]) -> str:
    """Return ``path`` as people write it, ``clusters[0].name``."""
    text = ""
    for step in path:
        if isinstance(step, int):
            text += f"[{step}]"
        else:
            text += f".{step}" if text else step
    return text


def shown(value: object) -> str:
    """Return ``value`` for an error text: short, and in the words of a data file."""
    match value:
        case None:
            return "nothing"
        case bool():
            return str(value).lower()
        case dict():
            return "a mapping"
        case list() | tuple():
            return "a list" if value else "an empty list"
        case str() if len(value) > MAX_SHOWN_CHARACTERS:
            return f"{value[:MAX_SHOWN_CHARACTERS]!r}... of {len(value)} characters"
        case _:
            return repr(value)


def listed(names: Iterable[str]) -> str:
    """Return ``names`` as a list for an error text, or ``none``."""
    return ", ".join(names) or "none"


def nearest(wrong: str, names: Iterable[str]) -> str | None:
    """Return the name that ``wrong`` was probably meant to be."""
    return next(iter(difflib.get_close_matches(wrong, list(names), n=1, cutoff=0.5)), None)


def suggestion(wrong: str, names: Iterable[str]) -> str:
    """Return ``; did you mean '...'?`` for the name nearest to ``wrong``, or an empty text."""
    near = nearest(wrong, names)
    return f"; did you mean '{near}'?" if near else ""
