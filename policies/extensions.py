"""The rules of the repository that is worked on, beside ours: each file of ``policies/rules/`` brings a ``RULE``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from components.inputs import extensions
from components.specs.base import LABEL
from components.specs.reading.problems import Problem, shown
from components.specs.region.policy import RuleId
from jacquard.machine import paths
from policies.rules import RULES
from policies.verdict import Rule

FOLDER = "policies/rules"


def rules() -> tuple[Rule, ...]:
    """Return all rules that can be judged by, ours first; `problems` tells what is wrong with others."""
    return (*RULES, *_own()[0])


def problems() -> tuple[Problem, ...]:
    """Return what is wrong with files of the repository's rules; nothing may be applied then."""
    return _own()[1]


def told() -> list[str]:
    """Return what `problems` says, a line each, for whom no environment is in question."""
    return [f"{extensions.from_project(item.place)}: {item.text}" for item in problems()]


def _own() -> tuple[tuple[Rule, ...], tuple[Problem, ...]]:
    project = paths.own()
    if project is None:
        return (), ()
    loaded, problems = extensions.load(project, FOLDER, "RULE")
    found: list[Rule] = []
    wrong: list[Problem] = []
    files: dict[str, str] = dict.fromkeys(map(str, RuleId), "jacquard")
    for one in loaded:
        faults = list(_faults(one, files))
        wrong += faults
        if not faults:
            found.append(one.value)
            files[one.value.name] = extensions.from_project(one.file)
    return tuple(found), (*problems, *wrong)


def _faults(one: extensions.Own, files: dict[str, str]) -> Iterator[Problem]:
    rule = one.value
    if not isinstance(rule, Rule):
        yield Problem(
            one.file, 0, "RULE", f"is of type {type(rule).__name__}; write RULE = Rule(...) of policies.verdict"
        )
        return
    line = _line(one.path, rule.name)
    if not re.fullmatch(LABEL, rule.name):
        text = f"is no name for a rule (got {shown(rule.name)}); write lower-case letters, digits and '-', as no-latest"
        yield Problem(one.file, line, "RULE.name", text)
    elif rule.name in files:
        text = f"'{rule.name}' is a rule of {files[rule.name]} already; give it another name"
        yield Problem(one.file, line, "RULE.name", text)


def _line(path: Path, name: str) -> int:
    """Return the line that says a rule's name; 0 when it is put together."""
    quoted = (f'"{name}"', f"'{name}'")
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return next((number for number, line in lines if any(one in line for one in quoted)), 0)
