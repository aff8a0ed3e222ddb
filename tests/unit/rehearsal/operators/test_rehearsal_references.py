"""The table of references between objects."""

from __future__ import annotations

from typing import Any

import pytest

from jacquard.lab.rehearsal.operators import references
from jacquard.lab.rehearsal.operators.view import conditions, reported
from tests.support.objects.live_objects import obj

READY = {"conditions": [{"type": "Ready", "status": "True", "reason": "x", "message": ""}]}


NO_CLUSTER = {}.get


def release(**spec: Any) -> dict[str, Any]:
    chart = {"kind": "OCIRepository", "name": "chart", "namespace": "flux-system"}
    return obj("helm.toolkit.fluxcd.io/v2", "HelmRelease", "app", {"chartRef": chart, **spec})


def source(**more: Any) -> dict[str, Any]:
    return obj("source.toolkit.fluxcd.io/v1", "OCIRepository", "chart", namespace="flux-system", **more)


def condition(found: dict[str, Any], name: str) -> tuple[str, str, str]:
    [one] = [entry for entry in found["status"]["conditions"] if entry["type"] == name]
    return one["status"], one["reason"], one["message"]


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("spec.one", ["a"]),
        ("spec.many[]", [{"name": "b"}, {"name": "c"}]),
        ("spec.many[].name", ["b", "c"]),
        ("spec.named[].ref", ["d", "e"]),
        ("spec.none", []),
        ("spec.none[].name", []),
        ("spec.one.deeper", []),
    ],
)
def test_a_path_traverses_lists_and_mappings(path: str, expected: list[Any]) -> None:
    spec = {"one": "a", "many": [{"name": "b"}, {"name": "c"}], "named": {"x": {"ref": "d"}, "y": {"ref": "e"}}}

    assert list(references.values({"spec": spec}, path)) == expected


def test_a_release_waits_for_a_source_that_is_missing(objects: Any) -> None:
    view = objects(release())

    references.report(view, NO_CLUSTER)

    assert condition(view.get("HelmRelease", "app", "ns"), "Ready") == (
        "False",
        "SourceNotReady",
        "OCIRepository 'chart' not found",
    )


def test_a_release_waits_for_a_source_that_is_not_ready(objects: Any) -> None:
    view = objects(release(), source())

    references.report(view, NO_CLUSTER)

    assert condition(view.get("HelmRelease", "app", "ns"), "Ready")[2] == "OCIRepository 'chart' is not ready"


def test_a_release_continues_when_all_references_exist(objects: Any) -> None:
    view = objects(release(), source(status=READY))

    references.report(view, NO_CLUSTER)

    found = view.get("HelmRelease", "app", "ns")
    assert condition(found, "Reconciling") == ("True", "Progressing", "")
    assert reported(found, "Reconciling")
    assert not reported(found, "Ready")


def test_all_that_is_missing_is_named(objects: Any) -> None:
    view = objects(
        release(dependsOn=[{"name": "cni"}], kubeConfig={"secretRef": {"name": "acme-kubeconfig"}}),
        source(status=READY),
    )

    references.report(view, NO_CLUSTER)

    assert condition(view.get("HelmRelease", "app", "ns"), "Ready")[2] == (
        "HelmRelease 'cni' not found; Secret 'acme-kubeconfig' not found"
    )


KUBECONFIG = obj("v1", "Secret", "acme-kubeconfig")
INTO_ACME = {"kubeConfig": {"secretRef": {"name": "acme-kubeconfig"}}, "targetNamespace": "csi"}


@pytest.mark.parametrize(
    ("storage", "there", "lacking"),
    [
        ({}, ["csi"], "Namespace 'ns' not found in cluster 'acme'"),
        ({}, ["csi", "ns"], ""),
        ({"storageNamespace": "csi"}, ["csi"], ""),
        (
            {"storageNamespace": "helm"},
            [],
            "Namespace 'helm' not found in cluster 'acme'; Namespace 'csi' not found in cluster 'acme'",
        ),
    ],
)
def test_a_release_in_another_cluster_waits_for_its_namespaces_there(
    objects: Any, storage: dict[str, str], there: list[str], lacking: str
) -> None:
    view = objects(release(**INTO_ACME, **storage), source(status=READY), KUBECONFIG)
    acme = objects(*(obj("v1", "Namespace", name, namespace="") for name in there))

    references.report(view, {"acme": acme}.get)

    found = view.get("HelmRelease", "app", "ns")
    assert reported(found, "Reconciling") is not bool(lacking)
    if lacking:
        assert condition(found, "Ready") == ("False", "SourceNotReady", lacking)


def test_a_release_in_a_cluster_that_does_not_answer_waits(objects: Any) -> None:
    view = objects(release(**INTO_ACME), source(status=READY), KUBECONFIG)

    references.report(view, NO_CLUSTER)

    assert condition(view.get("HelmRelease", "app", "ns"), "Ready")[2] == "cluster 'acme' does not answer"


@pytest.mark.parametrize(
    ("subject", "target"),
    [
        (
            obj("vpc.dpu.nvidia.com/v1alpha1", "DPUVPC", "vpc", {"isolationClassName": "evpn"}),
            obj("vpc.dpu.nvidia.com/v1alpha1", "IsolationClass", "evpn", namespace=""),
        ),
        (
            obj("vpc.dpu.nvidia.com/v1alpha1", "DPUVirtualNetwork", "net", {"vpcName": "vpc"}),
            obj("vpc.dpu.nvidia.com/v1alpha1", "DPUVPC", "vpc", status=READY),
        ),
        (
            obj("svc.dpu.nvidia.com/v1alpha1", "DPUDeployment", "dep", {"dpus": {"bfb": "bfb"}}),
            obj("provisioning.dpu.nvidia.com/v1alpha1", "BFB", "bfb"),
        ),
    ],
)
def test_dpf_objects_report_their_prerequisites(objects: Any, subject: Any, target: Any) -> None:
    for there in (False, True):
        view = objects(subject, *([target] if there else []))

        references.report(view, NO_CLUSTER)

        found = view.get(subject["kind"], subject["metadata"]["name"], "ns")
        assert reported(found, "PrerequisitesReady") is there


def test_an_object_in_another_namespace_does_not_count(objects: Any) -> None:
    network = obj("vpc.dpu.nvidia.com/v1alpha1", "DPUVirtualNetwork", "net", {"vpcName": "vpc"})
    elsewhere = obj("vpc.dpu.nvidia.com/v1alpha1", "DPUVPC", "vpc", namespace="other", status=READY)
    view = objects(network, elsewhere)

    references.report(view, NO_CLUSTER)

    assert not reported(view.get("DPUVirtualNetwork", "net", "ns"), "PrerequisitesReady")


def test_a_ready_object_is_skipped_until_it_changes(objects: Any) -> None:
    vpc = obj("vpc.dpu.nvidia.com/v1alpha1", "DPUVPC", "vpc", {"isolationClassName": "gone"}, status=READY)
    vpc["status"]["conditions"][0]["observedGeneration"] = 1
    view = objects(vpc)
    references.report(view, NO_CLUSTER)
    assert view.get("DPUVPC", "vpc", "ns")["status"] == READY

    view.get("DPUVPC", "vpc", "ns")["metadata"]["generation"] = 2
    references.report(view, NO_CLUSTER)

    assert condition(view.get("DPUVPC", "vpc", "ns"), "PrerequisitesReady")[0] == "False"


def test_conditions_that_hold_already_are_not_written_again() -> None:
    made = obj("v1", "Thing", "x")
    made["metadata"]["generation"] = 3
    first = conditions(made, Ready=("False", "Waiting", "for it"))

    assert first["conditions"][0]["observedGeneration"] == 3
    assert conditions({**made, "status": first}, Ready=("False", "Waiting", "for it")) == {}
    assert conditions({**made, "status": first}, Ready=("False", "Waiting", "longer")) != {}


def test_conditions_keep_the_time_of_the_last_transition_and_the_others() -> None:
    old = {"type": "Ready", "status": "False", "reason": "a", "message": "", "lastTransitionTime": "2020"}
    other = {"type": "Other", "status": "True", "reason": "o", "message": "", "lastTransitionTime": "2019"}
    made = {**obj("v1", "Thing", "x"), "status": {"conditions": [old, other]}}

    changed = conditions(made, Ready=("False", "b", ""))["conditions"]

    assert [entry["type"] for entry in changed] == ["Other", "Ready"]
    assert changed[0] == other
    assert (changed[1]["reason"], changed[1]["lastTransitionTime"]) == ("b", "2020")
