"""Catalogue of rules by id (``catalogue.yaml``), and its page: ``docs/reference/policy-catalogue.md``."""

import textwrap
from functools import cache
from pathlib import Path

import yaml
from pydantic import Field

from components.lookups.admission import admission_rules
from components.rules import checks
from components.rules.fleet import campaigns, fleet, orders, regions
from components.rules.rule import AdvisoryPeriod, rule_name
from components.rules.tables import CHANGES
from components.specs.base import Label, Spec, Stage, Text
from policies.facts import PROVIDER, REFERENCE, RESOURCE, STACK, WAIVER
from policies.rules import RULES
from policies.verdict import Rule

TABLE = Path(__file__).with_suffix(".yaml")
FILE = "docs/reference/policy-catalogue.md"
"""Path of the page, relative to the repository."""
_MARK = "<!-- written by jacquard schema --write from policies/catalogue.yaml; do not edit -->\n"
_INTRODUCTION = """# Catalogue of rules

Find the rules that enforce a constraint of a GPU cloud, by the id of the constraint. `jacquard explain SEC-03` lists
the rules of an id, and `jacquard explain RULE` describes a rule. Each id has a test with a defect that its rules
reject.

"Judged" is the place where a rule finds a violation:

- *model*: a single value or entry of a file, when the file is read
- *data*: several entries or files of a region, or of all regions
- *objects*: a rendered object, in `check`, `up` and the engine, also of extensions
- *deployment*: a resource option, a provider or a stack, in the engine
- *change*: a change compared with its base, or planned operations
- *live facts*: objects that a cluster reports
- *admission*: an object of any client, in the API server of a cluster, if [`admission`](../region/admission.md) is set

"""
_WIDTH = 120


class Gate(Spec):
    """Command that stops a change or reports a difference without a rule."""

    judged: Text
    page: Text
    """Link from the page to the description of the gate."""
    offence: Text


class Open(Spec):
    """Part of a constraint that no rule enforces."""

    part: Text
    reason: Text
    """Why upstream, or the data, make a rule impossible."""
    source: Text
    """Link to the page with the reason, of upstream or in the documentation."""


class Row(Spec):
    """Constraint with the rules that enforce it."""

    id: str = Field(pattern=r"^[A-Z]{2,3}-[0-9]{2}$")
    text: Text
    rules: tuple[Text, ...] = Field(min_length=1)
    """Names of policies, cross-checks and rules on a change, and fields of models, such as ``GoldenImage.sha256``."""
    gates: tuple[Label, ...] = ()
    open: Open | None = None
    """Part of the constraint that no rule enforces."""


class Catalogue(Spec):
    """All gates and rows."""

    gates: dict[Label, Gate]
    rows: tuple[Row, ...]


@cache
def catalogue() -> Catalogue:
    """Return the catalogue."""
    return Catalogue.model_validate(yaml.load(TABLE.read_bytes(), Loader=yaml.CSafeLoader))


def rules_of(tag: str) -> tuple[str, ...]:
    """Return the names of the rules of the id ``tag``, in any case; empty for an unknown id."""
    return next((row.rules for row in catalogue().rows if row.id == tag.upper()), ())


def rules_of_area(area: str) -> tuple[str, ...]:
    """Return the names of the rules of all ids of ``area`` in any case, such as ``SEC``; empty for an unknown area."""
    rows = (row for row in catalogue().rows if row.id.partition("-")[0] == area.upper())
    return tuple(dict.fromkeys(name for row in rows for name in row.rules))


def areas() -> list[str]:
    """Return the areas of all ids."""
    return list(dict.fromkeys(row.id.partition("-")[0] for row in catalogue().rows))


def is_field(name: str) -> bool:
    """Return whether ``name`` is a field of a model; names of rules are lower-case."""
    return name[0].isupper()


def text() -> str:
    """Return the page."""
    rows = "".join(f"| [{row.id}](#{row.id.lower()}) | {row.text} | {_places(row)} |\n" for row in catalogue().rows)
    table = f"| id | constraint | judged |\n|---|---|---|\n{rows}"
    return f"{_MARK}{_INTRODUCTION}{table}\n" + "\n".join(map(_section, catalogue().rows))


def judged(name: str) -> str:
    """Return the place where rule ``name`` is judged."""
    if is_field(name):
        return "model"
    policy = _policies().get(name)
    if policy is None:
        return "change" if name in set(map(rule_name, CHANGES)) else "data"
    if WAIVER in policy.kinds:
        return "data"
    return "deployment" if policy.kinds <= {PROVIDER, REFERENCE, RESOURCE, STACK} else "objects"


def _places(row: Row) -> str:
    admitted = ("admission",) if _admitted().intersection(row.rules) else ()
    places = (*map(judged, row.rules), *(catalogue().gates[name].judged for name in row.gates), *admitted)
    return ", ".join(dict.fromkeys(places))


def _section(row: Row) -> str:
    items = [*map(_rule_item, row.rules), *map(_gate_item, row.gates)]
    if row.open:
        items += [f"Not enforced: {row.open.part}, because {row.open.reason} ([source]({row.open.source}))."]
    return f"### {row.id}\n\n{row.text}.\n\n" + "".join(map(_item, items))


def _rule_item(name: str) -> str:
    policy = _policies().get(name)
    if is_field(name):
        return f"`{name}`: a value that the schema of its file rejects. Model, mandatory, cannot be waived."
    if policy is not None:
        level = _level(policy.levels.get(Stage.PRODUCTION, "not evaluated"), policy.advisory_period)
        place = f"{judged(name).capitalize()}{' and admission' if name in _admitted() else ''}"
        return f"[`{name}`](policies.md#{name}): {policy.description} {place}, {level}, can be waived."
    level = _level("mandatory", checks.advisory_periods().get(name))
    summary = checks.descriptions()[name].partition("\n\n")[0].replace("\n", " ").replace("``", "`")
    between = {*map(rule_name, regions.RULES), *map(rule_name, (*fleet.RULES, *orders.RULES, *campaigns.RULES))}
    where = "all regions" if name in between else judged(name)
    waived = "can be waived" if name in checks.waivable() else "cannot be waived"
    return f"`{name}`: {summary} {where.capitalize()}, {level}, {waived}."


def _level(level: str, period: AdvisoryPeriod | None) -> str:
    return f"{level} ({period})" if period else level


def _gate_item(name: str) -> str:
    gate = catalogue().gates[name]
    return f"[{name}]({gate.page}): {gate.offence}. {gate.judged.capitalize()}."


def _item(line: str) -> str:
    wrapped = textwrap.wrap(line, _WIDTH - 2, break_long_words=False, break_on_hyphens=False)
    return "- " + "\n  ".join(wrapped) + "\n"


@cache
def _admitted() -> frozenset[str]:
    """Return the policies that API servers also evaluate."""
    return frozenset(rule.policy for rule in admission_rules())


@cache
def _policies() -> dict[str, Rule]:
    return {str(rule.name): rule for rule in RULES}
