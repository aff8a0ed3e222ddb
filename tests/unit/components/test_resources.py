"""Manifests become resources: types, names, providers, options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pulumi
import pytest

from components.render.manifest import Manifest, ManifestSet, Readiness, Rendered
from components.resources import Cluster, child_name, type_token
from components.specs.struct import replace
from tests.support.engine.component_of_manifests import KUBECONFIGS, Group, children, manifest

Run = Callable[..., list[Any]]


def test_an_object_is_registered_whole_with_its_readiness_and_a_stable_field_manager(run: Run) -> None:
    store = manifest(
        "DataStore",
        "shared-a",
        spec={"driver": "etcd"},
        readiness=Readiness(conditions=("condition=Ready", "jsonpath={.status.ready}=true"), timeout_seconds=60),
        protect=True,
    )

    found = children(run(lambda: Group("lab", store)))["lab-datastore-shared-a"]

    assert found.type == "kubernetes:example.com/v1:DataStore"
    assert found.inputs == {
        "apiVersion": "example.com/v1",
        "kind": "DataStore",
        "metadata": {
            "name": "shared-a",
            "annotations": {
                "pulumi.com/patchFieldManager": "jacquard",
                "pulumi.com/waitFor": '["condition=Ready", "jsonpath={.status.ready}=true"]',
                "pulumi.com/timeoutSeconds": "60",
            },
        },
        "spec": {"driver": "etcd"},
    }
    assert (found.provider, found.protect, found.retain) == ("kubernetes/management", True, False)


def test_a_single_condition_is_written_as_itself(run: Run) -> None:
    awaited = manifest("Thing", "x", readiness=Readiness(conditions=("condition=Ready",), timeout_seconds=5))

    found = children(run(lambda: Group("lab", awaited)))["lab-thing-x"]

    assert found.inputs["metadata"]["annotations"]["pulumi.com/waitFor"] == "condition=Ready"


def test_the_provider_waits_for_jobs_by_itself(run: Run) -> None:
    """With an annotation, it would wait for a failed Job until the timeout."""
    readiness = Readiness(conditions=("condition=Complete",), timeout_seconds=5)
    job = manifest("Job", "x", api_version="batch/v1", readiness=readiness)

    found = children(run(lambda: Group("lab", job)))["lab-job-x"]

    annotations = found.inputs["metadata"]["annotations"]
    assert annotations == {"pulumi.com/patchFieldManager": "jacquard", "pulumi.com/timeoutSeconds": "5"}


def test_annotations_of_the_renderer_are_kept(run: Run) -> None:
    body = {"apiVersion": "v1", "kind": "Thing", "metadata": {"name": "x", "annotations": {"a": "b"}}}

    found = children(run(lambda: Group("lab", Manifest(body=body))))["lab-thing-x"]

    assert found.inputs["metadata"]["annotations"] == {"a": "b", "pulumi.com/patchFieldManager": "jacquard"}


def test_providers_name_their_kubeconfig_and_their_cluster_for_ever(run: Run) -> None:
    rack = ManifestSet(name="rack-a01", namespace="inventory", members={"h/Host": manifest("Host", "h", "inventory")})
    here, there = manifest("Thing", "x"), manifest("Thing", "x", cluster="acme")

    registered = run(lambda: Group("lab", here, there, rack, tenants=("acme",)))

    providers = {
        (item.type, item.name): item.inputs for item in registered if item.type.startswith("pulumi:providers:")
    }
    ways = {"enableServerSideApply": "true", "enableConfigMapMutable": "true", "enableSecretMutable": "true"}
    assert providers == {
        ("pulumi:providers:kubernetes", "management"): {
            "kubeconfig": "/kubeconfigs/management.yaml",
            "clusterIdentifier": "lab/management",
            **ways,
        },
        ("pulumi:providers:kubernetes", "acme"): {
            "kubeconfig": "/kubeconfigs/acme.yaml",
            "clusterIdentifier": "lab/acme",
            **ways,
        },
        ("pulumi:providers:jacquard", "management"): {
            "kubeconfig": "/kubeconfigs/management.yaml",
            "clusterIdentifier": "lab/management",
        },
    }
    assert {name: item.provider for name, item in children(registered).items()} == {
        "lab-thing-x": "kubernetes/management",
        "lab-thing-acme-x": "kubernetes/acme",
        "lab-objectset-inventory-rack-a01": "jacquard/management",
    }


def test_a_retained_object_has_a_provider_that_adopts_it_when_it_is_declared_again(run: Run) -> None:
    template = replace(manifest("Template", "x-1a2b3c"), retain=True)

    registered = run(lambda: Group("lab", manifest("Thing", "x"), template))

    ways = {
        item.name: item.inputs.get("upsertExistingObjects")
        for item in registered
        if item.type == "pulumi:providers:kubernetes"
    }
    assert ways == {"management": None, "management/retained": "true"}
    assert {name: (item.provider, item.retain) for name, item in children(registered).items()} == {
        "lab-thing-x": ("kubernetes/management", False),
        "lab-template-x-1a2b3c": ("kubernetes/management/retained", True),
    }


def test_a_slow_deletion_has_its_own_time_limit(run: Run) -> None:
    machine = replace(manifest("Machine", "ledger"), deletion_seconds=4200)

    found = children(run(lambda: Group("lab", machine)))["lab-machine-ledger"]

    assert found.deletion_timeout == "4200s"


def test_a_provider_names_the_context_of_the_region(run: Run) -> None:
    def program() -> None:
        _ = Cluster(name="m", kubeconfig=KUBECONFIGS / "m.yaml", identifier="lab/m", context="admin@lab").kubernetes

    [provider] = run(program)

    assert provider.inputs["context"] == "admin@lab"


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        (Path(), "'.' of cluster m is not an absolute path"),
        (Path("management.yaml"), "'management.yaml' of cluster m is not an absolute path"),
        (Path("/"), "'/' of cluster m is not a file"),
        (Path("empty"), "'{folder}/empty' of cluster m is an empty file"),
    ],
)
def test_no_kubeconfig_leads_to_the_ambient_cluster(run: Run, tmp_path: Path, given: Path, wrong: str) -> None:
    (tmp_path / "empty").write_text("\n")
    path = tmp_path / "empty" if given.name == "empty" else given

    with pytest.raises(pulumi.RunError) as error:
        run(lambda: Cluster(name="m", kubeconfig=path, identifier="lab/m").kubernetes)

    assert str(error.value) == (
        f"kubeconfig {wrong.format(folder=tmp_path)}, so objects could be applied to another cluster; set the absolute "
        "path of a kubeconfig of this cluster"
    )


def test_objects_that_cannot_be_awaited_are_rejected_before_registration() -> None:
    with pytest.raises(ValueError, match="is an invalid condition") as error:
        Readiness(conditions=("Ready", "jsonpath={.a", "condition=Ready=True"), timeout_seconds=0)

    form = "is an invalid condition; write condition=TYPE, condition=TYPE=STATUS or jsonpath={.path}=VALUE"
    assert str(error.value).splitlines() == [
        f"'Ready' {form}",
        f"'jsonpath={{.a' {form}",
        "timeout_seconds is 0; write at least 1",
    ]
    with pytest.raises(ValueError, match="conditions must not be empty; add at least one condition"):
        Readiness(conditions=(), timeout_seconds=1)


def test_a_set_is_one_resource_with_its_members_by_key(run: Run) -> None:
    host = manifest("BareMetalHost", "a01-u01", "inventory", spec={"online": True})
    rack = ManifestSet(name="rack-a01", namespace="inventory", members={"a01-u01/BareMetalHost": host})

    found = children(run(lambda: Group("a", rack)))["a-objectset-inventory-rack-a01"]

    assert found.type == "jacquard:index:ObjectSet"
    assert found.inputs == {
        "setName": "rack-a01",
        "namespace": "inventory",
        "members": {"a01-u01/BareMetalHost": host.body},
    }


@pytest.mark.parametrize(
    ("component", "item", "name"),
    [
        ("laptop", manifest("Namespace", "acme-train"), "laptop-namespace-acme-train"),
        ("laptop", manifest("HelmRelease", "kamaji", "operators"), "laptop-helmrelease-operators-kamaji"),
        ("acme-train", manifest("Cluster", "acme-train", "acme-train"), "acme-train-cluster-acme-train"),
        ("acme-train-h100", manifest("MachineDeployment", "x", "acme-train"), "acme-train-h100-machinedeployment-x"),
        ("acme", manifest("Thing", "x", "acme-train"), "acme-thing-acme-train-x"),
        ("laptop", manifest("Thing", "x", cluster="acme"), "laptop-thing-acme-x"),
        ("laptop", manifest("Thing", "x", "acme", cluster="acme"), "laptop-thing-acme-x"),
        ("a", ManifestSet(name="rack-a01", namespace="inventory", members={}), "a-objectset-inventory-rack-a01"),
    ],
)
def test_child_names_add_to_the_name_of_the_component(component: str, item: Rendered, name: str) -> None:
    assert child_name(component, item) == name


@pytest.mark.parametrize(
    ("api_version", "token"),
    [
        ("v1", "kubernetes:core/v1:Thing"),
        ("apps/v1", "kubernetes:apps/v1:Thing"),
        ("cluster.x-k8s.io/v1beta2", "kubernetes:cluster.x-k8s.io/v1beta2:Thing"),
    ],
)
def test_type_tokens_are_the_vendors(api_version: str, token: str) -> None:
    assert type_token(manifest("Thing", "x", api_version=api_version)) == token
