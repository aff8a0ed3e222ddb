"""``jacquard explain`` explains every rule that a report can name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from components.rules import checks
from components.specs.reading.problems import FORM
from components.specs.reading.secret_finds import RULE as FOUND
from jacquard.cli.views.rules import filters, matching, rules
from policies import levels
from policies.catalogue import catalogue
from policies.rules import RULES

Invoke = Callable[..., Result]


def test_a_policy_with_its_levels_and_reason(invoke: Invoke) -> None:
    result = invoke("explain", "unpinned-image")

    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "unpinned-image: A node image is pinned by its SHA-256 in the catalogue.",
        "  why: an unpinned image can change, so that two nodes of one pool would boot different software",
        "  levels: rehearsal mandatory, development mandatory, staging mandatory, production mandatory",
        "  can be waived in waivers.yaml: yes",
    ]


def test_a_rule_with_the_rules_that_hide_it(invoke: Invoke) -> None:
    result = invoke("explain", "networks.service-prefixes")

    assert result.stdout.splitlines() == [
        "networks.service-prefixes: Report prefix lengths that Kubernetes does not accept for Services.",
        "  hidden by networks.vpc-sizes: sizes are immutable, so it is irrelevant whether another one fits",
        "  can be waived in waivers.yaml: no",
    ]


def test_every_rule_of_a_report_is_explained() -> None:
    names = {FORM, FOUND, *(rule.name for rule in RULES), *levels.DESCRIPTIONS, *checks.descriptions()}
    known = rules()

    assert known.keys() == names
    for name, rule in known.items():
        first, *_, last = rule.lines()
        assert first.startswith(f"{name}: ")
        assert first.endswith(".")
        assert last in {"  can be waived in waivers.yaml: yes", "  can be waived in waivers.yaml: no"}


def test_all_rules_as_a_list_and_as_data(invoke: Invoke) -> None:
    entries, listed = json.loads(invoke("explain", "--format", "json").stdout), invoke("explain").stdout

    assert len(entries) == 2 + len(RULES) + len(levels.DESCRIPTIONS) + len(checks.descriptions())
    assert [one["name"] for one in entries if one["name"] not in listed] == []
    assert entries[0].keys() == {"name", "text", "why", "levels", "advisory", "hidden_by", "waivable"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("unpined-image", "error: rule 'unpined-image' is unknown; did you mean 'unpinned-image'?\n"),
        ("networ", "error: rule 'networ' is unknown; did you mean 'network'?\n"),
        ("qqq", "error: rule 'qqq' is unknown; 'jacquard explain' lists all rules\n"),
    ],
)
def test_an_unknown_name(name: str, expected: str, invoke: Invoke) -> None:
    result = invoke("explain", name)

    assert (result.exit_code, result.stderr) == (2, expected)


def test_an_id_of_the_catalogue_lists_its_rules(invoke: Invoke) -> None:
    answer = json.loads(invoke("explain", "sec-02", "--format", "json").stdout)

    assert [one["name"] for one in answer] == ["plain-text-bmc", "unverified-bmc", "inventory.bmc-logins"]
    assert invoke("explain", "UNI-08").stdout.split() == [
        "ignored-changes",
        *["The", "engine", "ignores", "no", "changes", "of", "objects."],
    ]


def names(result: Result) -> list[str]:
    return [one["name"] for one in json.loads(result.stdout)]


def test_an_area_of_ids_lists_the_rules_of_all_its_ids(invoke: Invoke) -> None:
    area = names(invoke("explain", "sec", "--format", "json"))
    ids = [names(invoke("explain", row.id, "--format", "json")) for row in catalogue().rows if row.id[:4] == "SEC-"]

    assert len(ids) > 1
    assert set(area) == {name for of_one in ids for name in of_one}
    assert len(area) == len(set(area))


@pytest.mark.parametrize(
    ("room", "rule", "other"),
    [
        ("network", "networks.vpc-sizes", "images.drivers"),
        ("pools", "images.drivers", "networks.vpc-sizes"),
        ("access", "escalating-role", "unpinned-image"),
        ("deployments", "ignored-changes", "escalating-role"),
        ("vm-nodes", "vm-nodes.needs", "vms.vm-room"),
        ("region", "references.charts", "vms.vm-room"),
    ],
)
def test_a_room_lists_its_rules(invoke: Invoke, room: str, rule: str, other: str) -> None:
    listed = names(invoke("explain", room, "--format", "json"))

    assert rule in listed
    assert other not in listed


def test_each_rule_has_a_room() -> None:
    listed = {name for text in filters() for name in matching(text)}

    assert {*checks.descriptions(), *(rule.name for rule in RULES)} <= listed


def test_check_names_the_rules_behind_its_problems(
    invoke: Invoke, data_folder: Path, edit: Callable[[Path, str, str], None]
) -> None:
    edit(data_folder / "laptop" / "tenants" / "acme.yaml", "image_storage_class: shared-vast", "image_storage_class: x")

    last = invoke("check", "laptop").stderr.splitlines()[-1]

    assert last == "  reported by references.vm-references; for details: jacquard explain references.vm-references"
