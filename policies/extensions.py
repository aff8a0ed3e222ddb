"""Loads extension policies: each file in ``extensions/policies/`` of a user's repository defines a ``RULE``."""

import re
from collections.abc import Iterator
from pathlib import Path

from components.inputs.extensions import inputs as extensions
from components.specs.base import LABEL
from components.specs.reading.problems import Problem, shown
from components.specs.region.policy import RuleId
from jacquard.machine import paths
from policies.rules import RULES
from policies.verdict import Rule

FOLDER = "extensions/policies"


def rules() -> tuple[Rule, ...]:
    """Return Jacquard's rules, followed by valid extension policies; `problems` reports invalid extension policies."""
    return (*RULES, *_extensions()[0])


def problems() -> tuple[Problem, ...]:
    """Return the errors in files of extension policies; any error blocks an apply."""
    return _extensions()[1]


def problem_lines() -> list[str]:
    """Return `problems` as lines of text, for commands without an environment."""
    return [f"{extensions.from_project(item.place)}: {item.text}" for item in problems()]


def _extensions() -> tuple[tuple[Rule, ...], tuple[Problem, ...]]:
    project = paths.own()
    if project is None:
        return (), ()
    loaded, problems = extensions.load(project, FOLDER, "RULE")
    valid: list[Rule] = []
    invalid: list[Problem] = []
    files: dict[str, str] = dict.fromkeys(map(str, RuleId), "jacquard")
    for extension in loaded:
        errors = list(_errors(extension, files))
        invalid += errors
        if not errors:
            valid.append(extension.value)
            files[extension.value.name] = extensions.from_project(extension.file)
    return tuple(valid), (*problems, *invalid)


def _errors(extension: extensions.ExtensionFile, files: dict[str, str]) -> Iterator[Problem]:
    rule = extension.value
    if not isinstance(rule, Rule):
        text = f"is of type {extension.type_name}; write RULE = Rule(...) of policies.verdict"
        yield Problem(extension.file, 0, "RULE", text)
        return
    line = _line(extension.path, rule.name)
    if not re.fullmatch(LABEL, rule.name):
        text = f"must be lower-case letters, digits and '-', such as no-latest (got {shown(rule.name)})"
        yield Problem(extension.file, line, "RULE.name", text)
    elif rule.name in files:
        text = f"'{rule.name}' is already a rule of {files[rule.name]}; choose another name"
        yield Problem(extension.file, line, "RULE.name", text)


def _line(path: Path, name: str) -> int:
    """Return the number of the line with the rule's name; 0 if the name is computed."""
    quoted = (f'"{name}"', f"'{name}'")
    lines = enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
    return next((number for number, line in lines if any(name in line for name in quoted)), 0)
