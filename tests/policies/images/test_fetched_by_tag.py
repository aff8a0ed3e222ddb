"""fetched-by-tag."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from components.render.providers import KINDS
from components.specs.base import Stage
from components.specs.region.policy import Enforcement
from components.specs.struct import replace
from policies.facts import UNKNOWN, Context, Fact, object_fact
from policies.rules.images.fetched_by_tag import RULE
from policies.verdict import Verdict

DIGEST = f"sha256:{1:064x}"
IMAGE = "registry.cloud.example/kubectl"


def thing(kind: str, spec: Any) -> Fact:
    metadata = {"name": "x", "namespace": "operators"}
    return object_fact({"kind": kind, "metadata": metadata, "spec": spec}, "management")


def pods(kind: str, *images: Any, before: tuple[str, ...] = ()) -> Fact:
    spec: dict[str, Any] = {"containers": [{"name": "a", "image": one} for one in images]}
    spec |= {"initContainers": [{"name": "b", "image": one} for one in before]} if before else {}
    template = {"template": {"spec": spec}}
    return thing(kind, {"jobTemplate": {"spec": template}} if kind == "CronJob" else template)


def multus(version: Any) -> Fact:
    return thing("NicClusterPolicy", {"secondaryNetwork": {"multus": {"version": version}}})


def cni_plugins(version: Any) -> Fact:
    parts = {"multus": {"version": DIGEST}, "cniPlugins": {"version": version}}
    return thing("NicClusterPolicy", {"secondaryNetwork": parts})


def plugin(version: Any) -> Fact:
    return thing("NicNodePolicy", {"sriovDevicePlugin": {"version": version}})


RIGHT = {
    "a provider that selects": thing("CoreProvider", {"fetchConfig": {"selector": {"matchLabels": {"a": "b"}}}}),
    "a source": thing("OCIRepository", {"ref": {"tag": "v1", "digest": DIGEST}}),
    "a job": pods("CronJob", f"{IMAGE}@{DIGEST}", before=(f"{IMAGE}@{DIGEST}",)),
    "multus": multus(DIGEST),
    "a device plugin": plugin(DIGEST),
    "plug-ins": cni_plugins(DIGEST),
    "no multus": thing("NicClusterPolicy", {}),
}
WRONG = {
    "a provider from a registry": (
        thing("CoreProvider", {"fetchConfig": {"oci": "registry.cloud.example/cluster-api"}}),
        "registry.cloud.example/cluster-api, referenced by tag",
    ),
    "a provider from a site": (
        thing("IPAMProvider", {"fetchConfig": {"url": "https://x"}}),
        "https://x, referenced by tag",
    ),
    "a provider from upstream": (thing("CoreProvider", {"version": "v1"}), "an upstream release, referenced by tag"),
    "a source": (thing("OCIRepository", {"ref": {"tag": "v1"}}), "its source, referenced by tag"),
    "plug-ins": (cni_plugins("v1"), "v1, referenced by tag"),
    "a job": (pods("CronJob", f"{IMAGE}@{DIGEST}", f"{IMAGE}:v1"), f"{IMAGE}:v1, referenced by tag"),
    "what runs before": (pods("Deployment", f"{IMAGE}@{DIGEST}", before=(IMAGE,)), f"{IMAGE}, referenced by tag"),
    "multus": (multus("v4.2.3"), "v4.2.3, referenced by tag"),
    "a device plugin": (plugin("v3.9.0"), "v3.9.0, referenced by tag"),
}
UNKNOWNS = {
    "a provider": thing("CoreProvider", {"fetchConfig": UNKNOWN}),
    "its selector": thing("CoreProvider", {"fetchConfig": {"selector": UNKNOWN}}),
    "a source": thing("OCIRepository", {"ref": UNKNOWN}),
    "an image": pods("Deployment", UNKNOWN),
    "containers": thing("Deployment", {"template": {"spec": {"containers": UNKNOWN}}}),
}


@pytest.mark.parametrize("fact", RIGHT.values(), ids=RIGHT)
def test_passes_artefacts_pinned_by_digest(fact: Fact, context: Context) -> None:
    assert RULE.judge(fact, context).verdict is Verdict.PASS


@pytest.mark.parametrize("kind", ["OCIRepository", "CronJob", *KINDS.values()])
def test_passes_all_of_laptop(rendered: Callable[[str], list[Fact]], context: Context, kind: str) -> None:
    found = rendered(kind)

    assert found
    assert {RULE.judge(fact, context).verdict for fact in found} == {Verdict.PASS}


@pytest.mark.parametrize(("fact", "found"), WRONG.values(), ids=WRONG)
def test_refuses_artefacts_selected_by_tag(fact: Fact, found: str, context: Context) -> None:
    finding = RULE.judge(fact, context)

    assert (finding.verdict, finding.found) == (Verdict.VIOLATION, found)


@pytest.mark.parametrize("fact", UNKNOWNS.values(), ids=UNKNOWNS)
def test_unknown_values_are_undecided(fact: Fact, context: Context) -> None:
    assert RULE.judge(fact, context).verdict is Verdict.UNDECIDED


def test_the_report_names_the_pin(context: Context, text: Callable[..., str]) -> None:
    real = replace(context, stage=Stage.PRODUCTION)

    assert text(RULE, WRONG["a provider from a registry"][0], real) == (
        "fetched-by-tag: CoreProvider operators/x in cluster management\n"
        "  found:   registry.cloud.example/cluster-api, referenced by tag\n"
        "  allowed: artefacts and images referenced by the digest that catalog/versions.yaml pins\n"
        "  why:     the content of a tag can change, and the controllers and jobs that use the tag serve all tenants\n"
        "  fix:     pin cluster-api-providers in the manifests of catalog/versions.yaml\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject CoreProvider operators/x"
    )
    assert RULE.judge(WRONG["a job"][0], real).fix == "write the digest of the tag, as name@sha256:<64 hex digits>"


def test_is_mandatory_in_stages_with_tenants(context: Context) -> None:
    levels = {stage: RULE.level(replace(context, stage=stage)) for stage in Stage}

    assert levels == {
        Stage.REHEARSAL: None,
        Stage.DEVELOPMENT: Enforcement.ADVISORY,
        Stage.STAGING: Enforcement.ADVISORY,
        Stage.PRODUCTION: Enforcement.MANDATORY,
    }
