"""self-chosen-partition."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import SliceKind, slices
from components.render.manifest import objects
from components.specs.reading.loader import load_environment
from components.specs.region.policy import Enforcement
from jacquard.machine import paths
from policies.facts import UNKNOWN, Context, Fact, object_fact
from policies.rules.access.self_chosen_partition import KIND, RULE
from policies.verdict import Verdict


def attachment(config: Any) -> Fact:
    metadata = {"name": "ib-east-1", "namespace": "default"}
    return object_fact({"kind": KIND, "metadata": metadata, "spec": {"config": config}}, "acme-train")


@pytest.mark.parametrize(
    "config",
    [{"type": "ib-sriov", "pkey": "0x11"}, {"plugins": [{"type": "ib-sriov", "pkey": "0x11"}, {"type": "rdma"}]}],
    ids=["one plug-in", "a chain"],
)
def test_reports_a_partition_that_the_tenant_may_change(
    config: dict[str, Any], context: Context, text: Callable[..., str]
) -> None:
    fact = attachment(json.dumps(config))

    assert RULE.level(context) is Enforcement.ADVISORY
    assert text(RULE, fact, context) == (
        "self-chosen-partition: NetworkAttachmentDefinition default/ib-east-1 in cluster acme-train\n"
        "  found:   a partition that any author of network attachments in the cluster can change\n"
        "  allowed: whole or shared ports, or partition members exactly as in jacquard show ENV network --partitions\n"
        "  why:     ib-kubernetes uses the partition of the attachment, so a tenant can reach ports in another"
        " tenant's partition\n"
        "  fix:     remove unlisted members from partitions at UFM, then add a waiver for this object\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject"
        " NetworkAttachmentDefinition default/ib-east-1"
    )


@pytest.mark.parametrize("config", [None, json.dumps({"type": "macvlan"})], ids=["nothing", "no partition"])
def test_passes_an_attachment_without_a_partition(config: str | None, context: Context) -> None:
    assert RULE.judge(attachment(config), context).verdict is Verdict.PASS


def test_unknown_values_and_invalid_json_are_undecided(context: Context) -> None:
    assert RULE.judge(attachment(UNKNOWN), context).verdict is Verdict.UNDECIDED
    assert RULE.judge(attachment("{"), context).verdict is Verdict.UNDECIDED


def test_reports_every_rendered_partition() -> None:
    environment = load_environment("us-east-04a", paths.ROOT / "environments")
    parts = [part for part in slices(environment) if part.kind is SliceKind.CLUSTER]
    rendered = [
        object_fact(item.body, item.cluster)
        for part in parts
        for item in objects(manifests(environment, part))
        if item.kind == KIND
    ]

    assert len(rendered) > 1
    assert {RULE.find(fact, None).verdict for fact in rendered} == {Verdict.VIOLATION}  # type: ignore[arg-type]
