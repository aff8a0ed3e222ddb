"""A defect for each policy among all objects of a large region: exactly its policies report it, in every audit.

All defects are seeded together (``region_defects.yaml``), so that the region is loaded and evaluated once. `check`
evaluates the rendered objects; an audit evaluates the recorded resources, in the form in which the engine sends them to
the policy pack, and live objects.
"""

from __future__ import annotations

import copy
import datetime as dt
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import MANAGEMENT, Manifest, created
from components.render.objects import digest
from components.specs.environment import Environment
from components.specs.struct import replace
from jacquard.audits.audit import Auditor
from jacquard.audits.recorded import recorded_facts
from jacquard.observe.live_declared import LiveObject, LiveObjects
from policies import check
from policies.facts import Fact, object_fact
from policies.results import Source
from policies.rules import RULES
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

_REGION = "us-east-04a"
_CASES = yaml.load(Path(__file__).with_name("region_defects.yaml").read_bytes(), Loader=yaml.CSafeLoader)
_FREEZE = "change-in-freeze"
_DIGITS = 10
_STACK_WIDE = {str(rule.name) for rule in RULES if rule.is_stack_wide}
Region = Mapping[str, tuple[Manifest, ...]]
"""Objects of the region by slice."""
Found = Mapping[str, frozenset[str]]
"""Names of policies by the object that they report."""


def _object(case: Any) -> str:
    """Return the object of a case: kind, namespace and name; only the beginning of its name if it has a digest."""
    if "fact" in case:
        return f"{'provider kubernetes' if case['fact'] == 'provider' else case['fact']} {_named(case)}"
    if "add" in case:
        return _place(case["add"])
    if "copy" in case:
        return f"{case['copy'].rpartition('/')[0]}/{case['as'].rstrip('*')}"
    return str(case.get("object") or case["change"])


def _named(case: Any) -> str:
    return "-".join(case["rules"])


def _place(body: Mapping[str, Any]) -> str:
    metadata = body["metadata"]
    return f"{body['kind']} {metadata.get('namespace', '')}/{metadata['name']}"


def _of_title(title: str) -> str:
    """Return the object of a fact's title."""
    kind, _, place = title.partition(" in cluster ")[0].partition(" ")
    return f"{kind} {place}" if "/" in place or kind[0].islower() else f"{kind} /{place}"


def _changed(body: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    body = copy.deepcopy(dict(body))
    for path, value in values.items():
        *parents, last = path.split(".")
        at = body
        for step in parents:
            at = at.setdefault(step, {})
        at[last] = value
    return body


def _with_defects(item: Manifest, cases: Sequence[Any]) -> Iterator[Manifest]:
    """Yield an object with its defect, and its copies with defects."""
    place = _place(item.body)
    for case in cases:
        if case.get("copy") == place:
            body = _changed(item.body, case["set"])
            body["metadata"]["name"] = case["as"].replace("*", digest(body.get("spec"), _DIGITS))
            yield replace(item, body=body)
    changes = [case["set"] for case in cases if case.get("change") == place]
    yield replace(item, body=_changed(item.body, changes[0])) if changes else item


def _rendered(environment: Environment) -> Region:
    return {piece.name: tuple(created(manifests(environment, piece))) for piece in slices(environment)}


def _seeded(region: Region, cases: Sequence[Any]) -> Region:
    seeded = {
        name: tuple(new for item in items for new in _with_defects(item, cases)) for name, items in region.items()
    }
    added = (Manifest(body=case["add"], cluster=case.get("cluster", MANAGEMENT)) for case in cases if "add" in case)
    return {**seeded, "foundation": (*seeded["foundation"], *added)}


def _recorded(region: Region, cases: Sequence[Any]) -> Iterator[Fact]:
    """Yield the facts about recorded resources: those with defects as the engine sends them, others as objects."""
    places = tuple(map(_object, cases))
    for item in (item for items in region.values() for item in items):
        body = item.body
        if _place(body).startswith(places):
            kind = f"kubernetes:{body['apiVersion']}:{body['kind']}"
            yield from recorded_facts([_resource(kind, body["metadata"]["name"], body, item.cluster)])
        else:
            yield object_fact(body, item.cluster, source="resource")
    for case in cases:
        if case.get("fact") == "provider":
            yield from recorded_facts([_resource("pulumi:providers:kubernetes", _named(case), case["inputs"])])
        elif case.get("fact") == "resource":
            resource = _resource("kubernetes:v1:ConfigMap", _named(case), {"metadata": {}})
            yield from recorded_facts([{**resource, **case["inputs"]}])


def _resource(kind: str, name: str, inputs: Mapping[str, Any], cluster: str = MANAGEMENT) -> dict[str, Any]:
    urn = f"urn:pulumi:{_REGION}::jacquard"
    provider = f"{urn}::pulumi:providers:kubernetes::{cluster}::1"
    return {"custom": True, "type": kind, "urn": f"{urn}::{kind}::{name}", "inputs": inputs, "provider": provider}


def _grouped(found: Iterable[tuple[str, str]]) -> Found:
    rules: dict[str, set[str]] = defaultdict(set)
    for title, rule in found:
        rules[_of_title(title)].add(str(rule))
    return {place: frozenset(names) for place, names in rules.items()}


@dataclass(frozen=True)
class Judged:
    """Policies that report objects of a region, by the place of evaluation."""

    check: Found
    recorded: Found
    live: Found


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory, now: dt.datetime) -> Judged:
    """The violations of the region with all defects, without those of the committed region."""
    bench = Workbench(copy_data(tmp_path_factory.mktemp("region") / "environments", _REGION), _REGION)
    before = _judged(bench.load(), now, ())
    for edit in (edit for case in _CASES for edit in case.get("edits", ())):
        bench.edit(*edit)
    after = _judged(bench.load(), now, _CASES)
    places = {
        name: {
            place: rules - getattr(before, name).get(place, frozenset())
            for place, rules in getattr(after, name).items()
            if rules != getattr(before, name).get(place)
        }
        for name in ("check", "recorded", "live")
    }
    return Judged(**places)


def _judged(environment: Environment, now: dt.datetime, cases: Sequence[Any]) -> Judged:
    region = _seeded(_rendered(environment), cases)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(check, "manifests", lambda _, piece: region[piece.name])
        result = check.judge(environment, now)
    live = LiveObjects(
        objects=tuple(LiveObject(cluster=item.cluster, body=item.body) for items in region.values() for item in items)
    )
    audited = Auditor(environment, now).audit({_REGION: _recorded(region, cases)}, live).results
    violations = (*result.refused, *result.advised, *result.waived)
    return Judged(
        check=_grouped((item.fact.title, item.rule.name) for item in violations),
        recorded=_grouped((item.subject, item.rule) for item in audited if item.source is Source.RECORDED),
        live=_grouped((item.subject, item.rule) for item in audited if item.source is Source.LIVE),
    )


def _places(case: Any) -> set[str]:
    """Return the places where a defect is evaluated."""
    if case.get("place") == "check":
        return {"check"}
    if "fact" in case:
        return {"recorded"}
    return {"check", "recorded"} | (set() if _STACK_WIDE & {*case["rules"]} else {"live"})


def test_each_policy_has_a_defect() -> None:
    assert {rule for case in _CASES for rule in case["rules"]} | {_FREEZE} == {str(rule.name) for rule in RULES}


@pytest.mark.parametrize("place", ["check", "recorded", "live"])
def test_exactly_its_policies_report_each_defect_of_the_region(judged: Judged, place: str) -> None:
    found: Found = getattr(judged, place)
    expected = {_object(case): (frozenset(case["rules"]) if place in _places(case) else None) for case in _CASES}

    reported = {start: {rules for name, rules in found.items() if name.startswith(start)} for start in expected}
    unexpected = {name: rules for name, rules in found.items() if not name.startswith(tuple(expected))}

    assert unexpected == {}
    assert reported == {start: {rules} if rules else set() for start, rules in expected.items()}


def test_a_freeze_is_evaluated_for_the_stacks_of_its_tenant(now: dt.datetime, tmp_path: Path) -> None:
    environment = Workbench(copy_data(tmp_path / "environments", _REGION), _REGION).load()

    frozen = {name: check.frozen(environment, f"{_REGION}.tenant-{name}", now) for name in ("aurelia", "cobalt")}

    assert {name: [item.rule.name for item in found] for name, found in frozen.items()} == {
        "aurelia": [_FREEZE],
        "cobalt": [],
    }
