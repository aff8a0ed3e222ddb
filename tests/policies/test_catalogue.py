"""The catalogue of rules: each id has existing rules, a page entry, and a defect that exactly its rules report."""

from __future__ import annotations

import importlib
import pkgutil
from pathlib import Path
from typing import Any

import pytest
import yaml

import components.specs
from components.render.manifest import MANAGEMENT
from components.rules import checks
from components.specs.base import Spec, Stage
from components.specs.reading.problems import FORM, SpecError
from components.specs.struct import replace
from jacquard.machine import paths
from policies.catalogue import FILE, catalogue, is_field, rules_of, text
from policies.check import judge
from policies.facts import Context, Fact, object_fact
from policies.judging import Judge
from policies.rules import RULES
from tests.support.checks.corpus import apply_mistakes
from tests.support.data.workbench import Workbench

_DEFECTS = yaml.load(Path(__file__).with_name("catalogue_defects.yaml").read_bytes(), Loader=yaml.CSafeLoader)
_DATA = [pytest.param(case, id=case["id"]) for case in _DEFECTS if "edits" in case]
_OBJECTS = [pytest.param(case, id=case["id"]) for case in _DEFECTS if "object" in case]
_TESTS = [pytest.param(case, id=case["id"]) for case in _DEFECTS if "test" in case]
_NAMES = {str(rule.name) for rule in RULES} | set(checks.descriptions())


def _fields() -> set[str]:
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(components.specs.__path__, f"{components.specs.__name__}.")
    ]
    models = {item for module in modules for item in vars(module).values() if isinstance(item, type)}
    return {f"{m.__name__}.{field}" for m in models if issubclass(m, Spec) for field in m.model_fields}


def test_each_of_the_53_ids_has_rules_that_exist() -> None:
    fields, rows = _fields(), catalogue().rows

    assert (len(rows), len({row.id for row in rows})) == (53, 53)
    named = {name for row in rows for name in row.rules}
    assert {name for name in named if name not in (fields if is_field(name) else _NAMES)} == set()
    assert {name for row in rows for name in row.gates} == catalogue().gates.keys()


def test_each_id_has_one_defect_that_one_of_its_rules_rejects() -> None:
    assert [case["id"] for case in _DEFECTS] == [row.id for row in catalogue().rows]
    for row, case in zip(catalogue().rows, _DEFECTS, strict=True):
        models = any(map(is_field, row.rules))
        assert "test" in case or case["rule"] in row.rules or (case["rule"] == FORM and models), row.id


def test_a_part_that_no_rule_enforces_has_a_reason_with_a_source() -> None:
    sections = {row.id: text().split(f"### {row.id}\n")[1].split("\n### ")[0] for row in catalogue().rows if row.open}

    assert sections.keys() == {"IMG-06", "IMG-08", "VER-03", "REG-01"}
    for row in catalogue().rows:
        if row.open:
            words = " ".join(sections[row.id].split("- Not enforced: ")[1].split())
            assert words == f"{row.open.part}, because {row.open.reason} ([source]({row.open.source}))."


def test_the_page_in_the_repository_is_current() -> None:
    assert (paths.ROOT / FILE).read_text(encoding="utf-8") == text(), "run jacquard schema --write"


def test_an_id_is_found_in_any_case() -> None:
    assert rules_of("sec-03") == rules_of("SEC-03") == ("escalating-role", "excessive-binding", "self-chosen-partition")
    assert rules_of("SEC-99") == ()


@pytest.mark.parametrize("case", _DATA)
def test_a_defect_of_the_data_is_rejected_by_its_rule_only(case: Any, laptop_copy: Workbench, now: Any) -> None:
    assert _rules(laptop_copy, now) == set()

    apply_mistakes(laptop_copy, case)

    assert _rules(laptop_copy, now) == {case["rule"], *case.get("also", ())}


def _rules(bench: Workbench, now: Any) -> set[str]:
    """Return the rules with problems, or else the policies with violations, as ``jacquard check``."""
    try:
        environment = bench.load()
    except SpecError as error:
        return {problem.rule for problem in error.problems}
    if problems := checks.check(environment):
        return {problem.rule for problem in problems}
    result = judge(environment, now)
    return {str(item.rule.name) for item in (*result.refused, *result.advised)}


@pytest.mark.parametrize("case", _OBJECTS)
def test_a_defect_of_an_object_is_rejected_by_its_rule_only(case: Any, context: Context) -> None:
    body = case["object"]
    fact = Fact(kind=case["kind"], title="", body=body) if "kind" in case else object_fact(body, MANAGEMENT)

    violations = Judge(RULES, replace(context, stage=Stage.PRODUCTION)).violations(fact)

    assert {item.rule.name for item in violations} == {case["rule"], *case.get("also", ())}


@pytest.mark.parametrize("case", _TESTS)
def test_a_defect_of_a_change_or_of_live_facts_has_its_test(case: Any) -> None:
    file, _, name = case["test"].partition("::")

    assert f"def {name}(" in (paths.ROOT / file).read_text(encoding="utf-8")
