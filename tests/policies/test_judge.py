"""Evaluation of the rules without an engine."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from components.lookups.slices import slices
from components.render.manifest import Manifest
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.region.catalog import Channel
from components.specs.region.policy import Enforcement, WaiversSpec
from policies import Judgement, judge
from tests.support.data.environment_data import REFERENCES, reference

WAIVER = {"reason": "a vendor's test", "owner": "ops", "ticket": "OPS-7", "expires": dt.date(2026, 12, 15)}


@pytest.fixture
def outside(laptop: Environment) -> Environment:
    """Laptop on a channel without the image of most of its pools."""
    region = laptop.region.model_copy(update={"image_channel": Channel.CANDIDATE})
    return laptop.model_copy(update={"region": region})


def waived(environment: Environment, *entries: dict[str, Any]) -> Environment:
    data = {"schema_version": 1, "waivers": [WAIVER | entry for entry in entries]}
    return environment.model_copy(update={"waivers": WaiversSpec.model_validate(data)})


def groups(found: Any) -> list[str]:
    return [item.fact.title.split(" ")[1].rsplit("-", 1)[0] for item in found]


def test_laptop_keeps_every_rule(laptop: Environment, now: dt.datetime) -> None:
    found = judge(laptop, now)

    assert found == Judgement(objects=found.objects, resources=found.resources, waived_checks=found.waived_checks)
    assert [problem.rule for problem, _ in found.waived_checks] == ["networks.unfiltered-hosts"]
    assert found.objects > 0


def test_check_compares_the_objects_of_all_slices(
    laptop: Environment, now: dt.datetime, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings", "namespace": "acme-train"}}
    monkeypatch.setattr("policies.check.manifests", lambda *_: (Manifest(body=body),))

    found = judge(laptop, now).refused

    assert {str(item.rule.name) for item in found} == {"duplicate-object"}
    names = ", ".join(f"slice {piece.name}" for piece in slices(laptop))
    assert found[0].finding.found == f"rendered {len(slices(laptop))} times, by {names}"
    assert len(found) == len(slices(laptop)) - 1


REPORTED = {"us-east-04a": {"self-chosen-partition"}, "eu-south-03a": {"unlimited-waiver"}}
"""Advisory findings of reference environments: partitions that UFM separates, and waivers of more than 90 days."""


@pytest.mark.parametrize("name", REFERENCES)
def test_no_reference_environment_is_refused(name: str, now: dt.datetime) -> None:
    found = judge(reference(name), now)

    assert found.refused == ()
    assert {item.rule.name for item in found.advised} == REPORTED.get(name, set())


def test_pools_on_images_outside_the_channel_are_refused_group_by_group(outside: Environment, now: dt.datetime) -> None:
    found = judge(outside, now).refused

    assert {violation.rule.name for violation in found} == {"image-outside-channel"}
    assert groups(found) == [
        "acme-train/acme-train-system-a04",
        "acme-train/acme-train-train-a01",
        "acme-train/acme-train-train-a02",
        "acme-train/acme-train-infer-a03",
    ]


def test_a_waiver_only_applies_to_its_pool(outside: Environment, now: dt.datetime) -> None:
    entry = {"rule": "image-outside-channel", "subject": "acme-train/train"}

    found = judge(waived(outside, entry), now)

    assert groups(found.waived) == ["acme-train/acme-train-train-a01", "acme-train/acme-train-train-a02"]
    assert groups(found.refused) == ["acme-train/acme-train-system-a04", "acme-train/acme-train-infer-a03"]
    assert found.idle_waivers == ()
    assert found.waived[0].waiver_text == "a vendor's test (ops, OPS-7, until 2026-12-15)"


def test_a_waiver_of_another_rule_or_of_nothing_that_offends_is_idle(outside: Environment, now: dt.datetime) -> None:
    entries = (
        {"rule": "unpinned-image", "subject": "acme-train/train"},
        {"rule": "image-outside-channel", "subject": "globex-lab/lab"},
        {"rule": "change-in-freeze", "subject": "acme"},  # Only a deployment can decide it.
    )
    environment = waived(outside, *entries)

    found = judge(environment, now)

    assert len(found.refused) == 4
    assert found.idle_waivers == environment.waivers.waivers[:2]


def test_a_waiver_that_has_expired_waives_nothing_and_is_not_idle(outside: Environment) -> None:
    environment = waived(outside, {"rule": "image-outside-channel", "subject": "acme-train/train"})

    found = judge(environment, dt.datetime(2026, 12, 15, tzinfo=dt.UTC))

    assert (len(found.refused), found.waived, found.idle_waivers) == (4, (), ())
    assert sum("void since 2026-12-15" in str(item) for item in found.refused) == 2


def test_an_advisory_rule_only_warns(outside: Environment, now: dt.datetime) -> None:
    policy = outside.policy.model_copy(update={"rules": {"image-outside-channel": Enforcement.ADVISORY}})

    found = judge(outside.model_copy(update={"policy": policy}), now)

    assert (len(found.refused), len(found.advised)) == (0, 4)


def test_production_keeps_a_critical_rule_mandatory_with_any_data(outside: Environment, now: dt.datetime) -> None:
    policy = outside.policy.model_copy(update={"rules": {"image-outside-channel": Enforcement.ADVISORY}})
    region = outside.region.model_copy(update={"stage": Stage.PRODUCTION})

    found = judge(outside.model_copy(update={"policy": policy, "region": region}), now)

    assert [item.rule.name for item in found.refused].count("image-outside-channel") == 4
