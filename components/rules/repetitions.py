"""Problems that repeat each other: several references to a name that one list lacks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from components.specs.reading.problems import Problem, listed

_MAX_PLACES = 3


def without_repetitions(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield ``problems``; references to the same undeclared name, or to a list without entries, are one problem."""
    lists: dict[tuple[str, str, str], list[Problem]] = defaultdict(list)
    for problem in problems:
        if problem.undeclared is None:
            yield problem
        else:
            name, where = problem.undeclared.name, problem.undeclared.where
            lists[problem.file, where, name if problem.undeclared.declared else ""].append(problem)
    for same in lists.values():
        first, *others = sorted(same)
        yield replace(first, text=f"{first.text}; {_places(others)}") if others else first


def _places(others: Sequence[Problem]) -> str:
    return f"the same applies to {listed(dict.fromkeys(problem.place for problem in others), _MAX_PLACES)}"
