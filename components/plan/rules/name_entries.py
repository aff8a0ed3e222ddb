"""Names that are compared with each other: where each stands, and which of them are one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from components.plan.pools import DataPath, problem
from components.specs.environment import Environment
from components.specs.problems import Problem

Entry = tuple[str, DataPath, str]
"""File and path of a name, and the name."""
Parts = tuple[str, DataPath, str, tuple[str, ...]]
"""File and path of a joined name, what it is, and the names that are joined."""


def items(file: str, path: DataPath, names: Iterable[str]) -> Iterator[Entry]:
    """Yield the entries of a list of names at ``path``."""
    for index, name in enumerate(names):
        yield file, (*path, index), name


def entries(file: str, path: DataPath, key: str, values: Iterable[object]) -> Iterator[Entry]:
    """Yield the entries that items of a list at ``path`` have under ``key``."""
    for index, value in enumerate(values):
        yield file, (*path, index, key), getattr(value, key)


def twice(environment: Environment, what: str, found: Iterable[Entry], remedy: str = "rename one") -> Iterator[Problem]:
    """Yield each name that has stood before."""
    first: dict[str, str] = {}
    for file, path, name in found:
        here = problem(environment, file, path, "")
        if name in first:
            text = f"{what} '{name}' stands twice, first in {first[name]}; {remedy}"
            yield problem(environment, file, path, text)
        first.setdefault(name, here.place)


def joined(environment: Environment, found: Iterable[Parts]) -> Iterator[Problem]:
    """Yield each joined name that others come to, joined of other parts."""
    first: dict[tuple[str, str], tuple[tuple[str, ...], str]] = {}
    for file, path, what, parts in found:
        name = "-".join(parts)
        other, place = first.setdefault((what, name), (parts, problem(environment, file, path, "").place))
        if other != parts:
            text = f"{what} {'/'.join(parts)} is called {name}, and so is {'/'.join(other)} ({place}); rename one"
            yield problem(environment, file, path, text)
