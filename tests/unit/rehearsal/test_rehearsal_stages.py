"""Stages generated from the short form."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal import stages
from jacquard.lab.rehearsal.kinds import stand_ins

PUBLISHED = {("metal3.io/v1alpha1", "BareMetalHost"), ("controlplane.cluster.x-k8s.io/v1alpha2", "KamajiControlPlane")}
BUILT_IN = {("v1", "Node"), ("v1", "Pod")}


def by_name(cluster: str, factor: float = 1.0) -> dict[str, Any]:
    return {stage["metadata"]["name"]: stage["spec"] for stage in stages.stages(cluster, factor)}


def test_delays_are_divided_by_the_speed() -> None:
    assert by_name("management")["host-provisioned"]["delay"] == {
        "durationMilliseconds": 10000,
        "jitterDurationMilliseconds": 14000,
    }
    assert by_name("management", 10)["host-provisioned"]["delay"] == {
        "durationMilliseconds": 1000,
        "jitterDurationMilliseconds": 1400,
    }


def test_an_entry_for_several_kinds_becomes_one_stage_each() -> None:
    found = {name: spec["resourceRef"]["kind"] for name, spec in by_name("management").items() if "source-" in name}

    assert found == {
        "source-fetched-ocirepository": "OCIRepository",
        "source-fetched-helmrepository": "HelmRepository",
        "source-fetched-bucket": "Bucket",
    }


def test_a_stage_selects_by_its_expression_and_patches_the_status_with_conditions() -> None:
    spec = by_name("management")["dpf-operator"]

    [expression] = spec["selector"]["matchExpressions"]
    assert expression["jq"]["key"] == stages.DEFINITIONS + 'alive and (reported("Ready") | not)'
    assert (expression["jq"]["operator"], expression["jq"]["values"]) == ("In", ["true"])
    [step] = spec["steps"]
    assert {key: step["patch"][key] for key in ("subresource", "root", "type")} == {
        "subresource": "status",
        "root": "status",
        "type": "merge",
    }
    assert step["patch"]["template"].splitlines()[:3] == [
        "observedGeneration: {{ .metadata.generation }}",
        "conditions:",
        (
            '  - {type: Ready, status: "True", reason: "Success", message: "", '
            "observedGeneration: {{ .metadata.generation }}, lastTransitionTime: {{ Now | Quote }}}"
        ),
    ]


def test_a_kubelet_keeps_the_conditions_of_others() -> None:
    types = {
        name: step["patch"]["type"]
        for name, spec in by_name("acme").items()
        if spec["resourceRef"]["apiGroup"] == "v1"
        for step in spec["steps"]
        if "patch" in step
    }

    assert {"node-ready", "node-without-network", "pod-running"} <= types.keys()
    assert set(types.values()) == {"strategic"}


def test_a_kind_without_status_subresource_is_patched_as_a_whole() -> None:
    [step] = by_name("acme")["vm-schedule"]["steps"]

    assert "subresource" not in step["patch"]


def test_finalizers_are_set_before_the_status_and_removed_after_it() -> None:
    assert [list(step) for step in by_name("management")["host-register"]["steps"]] == [["finalizers"], ["patch"]]
    assert by_name("management")["host-deleted"]["steps"] == [
        {"finalizers": {"remove": [{"value": "baremetalhost.metal3.io"}]}}
    ]


@pytest.mark.parametrize("cluster", ["management", "acme"])
def test_stages_are_for_kinds_that_the_cluster_serves(cluster: str) -> None:
    served = {(f"{kind.group}/{kind.version}", kind.kind) for kind in stand_ins(cluster)} | PUBLISHED | BUILT_IN
    found = {(spec["resourceRef"]["apiGroup"], spec["resourceRef"]["kind"]) for spec in by_name(cluster).values()}

    assert found - served == set()


@pytest.mark.parametrize("cluster", ["management", "acme"])
def test_nothing_of_jacquards_own_is_read(cluster: str) -> None:
    assert "jacquard" not in "".join(path.read_text() for path in stages.sources(cluster)).lower()


@pytest.mark.parametrize("cluster", ["management", "acme"])
def test_names_are_unique(cluster: str) -> None:
    names = [stage["metadata"]["name"] for stage in stages.stages(cluster, 1)]

    assert sorted(set(names)) == sorted(names)
