"""Hides problems that follow from others, by the table `explanations`."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from components.rules.explanations import EXPLAINS, Explains
from components.rules.rule import Findings, Rule, advisory_period, rule_name
from components.specs.reading.problems import Problem, listed

_MAX_NAMES = 3
_MAX_PLACES = 3


def without_consequences(findings: Findings) -> list[Problem]:
    """Return the problems of ``findings`` that follow from no other one."""
    explained = {item for row in EXPLAINS for item in _explained(row, findings)}
    kept = (problem for rule, found in findings.items() for problem in found if (rule, problem) not in explained)
    return list(without_repetitions(kept))


def _explained(row: Explains, findings: Findings) -> Iterator[tuple[Rule, Problem]]:
    """Yield the problems of ``findings`` that ``row`` explains by others, each with its rule."""
    causes = [rule for rule in row.causes if advisory_period(rule) is None]
    reported = [problem for rule in causes for problem in findings.get(rule, ()) if row.of(problem)]
    places = {(problem.file, problem.path) for problem in reported}
    files = {problem.file for problem in reported}
    for rule in row.consequences if places else ():
        for problem in findings.get(rule, ()):
            is_here = not row.same_place or (problem.file, problem.path) in places
            is_in_file = not row.same_file or problem.file in files
            is_meant = not row.misspelt or any(_is_meant(problem, cause) for cause in reported)
            if row.where(problem) and is_here and is_in_file and is_meant:
                yield rule, problem


def _is_meant(problem: Problem, cause: Problem) -> bool:
    """Return whether the name of ``cause``, an entry of the list that ``problem`` refers to, is misspelt."""
    name, misspelt = problem.undeclared, cause.undeclared
    return bool(
        name
        and misspelt
        and problem.file == cause.file
        and misspelt.name in name.declared
        and name.name in misspelt.declared
    )


def explanations() -> dict[str, list[str]]:
    """Return by rule name the rules whose problems explain those of the rule, with the reason."""
    sentences = defaultdict[str, list[str]](list)
    for row in EXPLAINS:
        for rule in row.consequences:
            sentences[rule_name(rule)].append(f"{listed(map(rule_name, row.causes), _MAX_NAMES)}: {row.because}")
    return sentences


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
