"""Resources wait for the objects that they need, and are deleted before them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from components.render.manifest import Readiness
from tests.support.engine.component_of_manifests import Group, children, manifest

Run = Callable[..., list[Any]]


def test_a_template_is_retained_and_its_references_follow_it(run: Run) -> None:
    template = manifest("Template", "pool-0123456789", "acme", retain=True)
    deployment = manifest("Deployment", "pool", "acme", spec={"ref": {"kind": "Template", "name": "pool-0123456789"}})

    found = children(run(lambda: Group("acme-pool", template, deployment)))

    assert found["acme-pool-template-pool-0123456789"].retain
    assert "acme-pool-template-pool-0123456789" in found["acme-pool-deployment-pool"].dependencies


def test_an_object_depends_on_its_references_which_are_deleted_after_it(run: Run) -> None:
    api = "svc.dpu.nvidia.com/v1alpha1"
    services = {"hbn": {"serviceConfiguration": "acme-hbn", "serviceTemplate": "hbn"}}
    rendered = (
        manifest("DPUServiceConfiguration", "acme-hbn", "dpf", api_version=api),
        manifest("DPUServiceConfiguration", "else", "dpf", api_version=api),
        manifest("DPUDeployment", "acme", "dpf", api_version=api, spec={"services": services}),
    )

    found = children(run(lambda: Group("acme", *rendered)))

    waits = found["acme-dpudeployment-dpf-acme"].dependencies
    assert {name for name in waits if "service" in name} == {"acme-dpuserviceconfiguration-dpf-acme-hbn"}


def test_awaited_objects_are_a_gate_and_operators_precede_other_awaited_objects(run: Run) -> None:
    ready = Readiness(conditions=("condition=Ready",), timeout_seconds=5)
    rendered = (
        manifest("HelmRelease", "one", readiness=ready),
        manifest("Kustomization", "two", readiness=ready),
        manifest("KubeVirt", "kubevirt", readiness=ready),
        manifest("Size", "small"),
    )

    found = children(run(lambda: Group("vms", *rendered)))

    waits = {name: item.dependencies - {"management", "vms"} for name, item in found.items()}
    assert waits == {
        "vms-helmrelease-one": set(),
        "vms-kustomization-two": set(),
        "vms-kubevirt-kubevirt": {"vms-helmrelease-one", "vms-kustomization-two"},
        "vms-size-small": {"vms-kubevirt-kubevirt"},
    }


def test_operators_wait_only_for_the_operators_that_flux_installs_first(run: Run) -> None:
    ready = Readiness(conditions=("condition=Ready",), timeout_seconds=5)
    rendered = (
        manifest("HelmRelease", "certificates", readiness=ready),
        manifest("Issuer", "ca"),
        manifest("HelmRelease", "metrics", readiness=ready, spec={"dependsOn": [{"name": "certificates"}]}),
        manifest("HelmRelease", "logs", spec={"dependsOn": [{"name": "metrics"}, {"name": "elsewhere"}]}),
        manifest("Kustomization", "hosts", readiness=ready),
        manifest("Rule", "latency"),
        manifest("Provider", "core", readiness=ready),
        manifest("HelmRelease", "store", readiness=ready),
        manifest("Bucket", "backups"),
    )

    found = children(run(lambda: Group("region", *rendered)))

    waits = {name.removeprefix("region-"): item.dependencies - {"management", "region"} for name, item in found.items()}
    first = {"region-helmrelease-certificates", "region-helmrelease-metrics", "region-kustomization-hosts"}
    assert waits == {
        "helmrelease-certificates": set(),
        "issuer-ca": {"region-helmrelease-certificates"},
        "helmrelease-metrics": {"region-helmrelease-certificates"},
        "helmrelease-logs": {"region-helmrelease-metrics"},
        "kustomization-hosts": set(),
        "rule-latency": first,
        "provider-core": first,
        "helmrelease-store": {"region-provider-core"},
        "bucket-backups": {"region-provider-core", "region-helmrelease-store"},
    }


def test_an_object_has_dependencies_without_a_reference_field(run: Run) -> None:
    rendered = (
        manifest("HelmRelease", "one"),
        manifest("Kustomization", "two", after=(("HelmRelease", "one"), ("HelmRelease", "elsewhere"))),
    )

    found = children(run(lambda: Group("vms", *rendered)))

    assert found["vms-kustomization-two"].dependencies - {"management", "vms"} == {"vms-helmrelease-one"}


def test_an_object_follows_its_namespace_in_its_own_cluster(run: Run) -> None:
    rendered = (
        manifest("Namespace", "csi", api_version="v1"),
        manifest("Namespace", "csi", api_version="v1", cluster="acme"),
        manifest("Thing", "x", "csi", cluster="acme"),
    )

    found = children(run(lambda: Group("store", *rendered, tenants=("acme",))))

    assert found["store-thing-acme-csi-x"].dependencies - {"acme", "store"} == {"store-namespace-acme-csi"}


def test_a_release_follows_the_namespace_it_installs_into_in_any_cluster(run: Run) -> None:
    rendered = (
        manifest("Namespace", "csi", api_version="v1", cluster="acme"),
        manifest("HelmRelease", "csi", "acme", spec={"targetNamespace": "csi"}),
    )

    found = children(run(lambda: Group("acme", *rendered, tenants=("acme",))))

    assert "acme-namespace-csi" in found["acme-helmrelease-csi"].dependencies
