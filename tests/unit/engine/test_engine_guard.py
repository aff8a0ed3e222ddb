"""Destructive changes that need confirmation: by declaration, by kind, and by what was removed from the data."""

from __future__ import annotations

from typing import Any

import pytest

from components.lookups.effects.changes import kind_of
from components.lookups.effects.table import effects_table
from components.render.manifest import Manifest
from components.specs.environment import Environment
from components.specs.reading.loader import load_environment
from jacquard.engine.guard import Held, Reason, digest, held
from jacquard.engine.plan import Plan
from jacquard.machine import paths
from tests.support.changes.planned_steps import deleted, replaced, same

CAPI, KAMAJI = "cluster.x-k8s.io/v1beta2", "controlplane.cluster.x-k8s.io/v1alpha2"
DPU_VPC = "vpc.dpu.nvidia.com/v1alpha1"


@pytest.fixture(scope="module")
def laptop() -> Environment:
    return load_environment("laptop", paths.ROOT / "environments")


def judged(environment: Environment, *steps: dict[str, Any]) -> list[Held]:
    plan = Plan()
    for step in steps:
        plan.see(step)
    return held(plan, environment)


def owned(*path: str) -> dict[str, Any]:
    keys = ("jacquard.dev/tenant", "jacquard.dev/cluster", "jacquard.dev/pool")
    return {"labels": dict(zip(keys, path, strict=False))}


def test_these_kinds_are_guarded() -> None:
    assert effects_table().guarded == {
        "Namespace",
        "PersistentVolumeClaim",
        "apps/StatefulSet",
        "cluster.x-k8s.io/Cluster",
        "cluster.x-k8s.io/MachineDeployment",
        "controlplane.cluster.x-k8s.io/K0smotronControlPlane",
        "controlplane.cluster.x-k8s.io/KamajiControlPlane",
        "externaldns.k8s.io/DNSEndpoint",
        "kamaji.clastix.io/DataStore",
        "kubeovn.io/Subnet",
        "kubeovn.io/Vpc",
        "networking.k8s.io/NetworkPolicy",
        "slinky.slurm.net/Controller",
        "slinky.slurm.net/LoginSet",
        "slinky.slurm.net/NodeSet",
        "svc.dpu.nvidia.com/DPUDeployment",
        "vpc.dpu.nvidia.com/DPUVPC",
        "vpc.dpu.nvidia.com/DPUVirtualNetwork",
    }


REPLACEMENTS = {
    "any kind, unchanged": (replaced("Secret", "a", namespace="n"), Reason.UNCHANGED),
    "any kind, its provider made anew": (replaced("Secret", "a", forced_by=("provider",)), Reason.UNCHANGED),
    "any kind, another field changed": (
        replaced("Secret", "a", before={"data": {"x": "1"}}, now={"data": {"x": "2"}}, forced_by=("type",)),
        Reason.UNCHANGED,
    ),
    "any kind, as declared": (
        replaced("Secret", "a", before={"type": "a"}, now={"type": "b"}, forced_by=("type",)),
        None,
    ),
    "guarded, as declared": (
        replaced("Cluster", "c", api_version=CAPI, before={"spec": 1}, now={"spec": 2}, forced_by=("spec",)),
        Reason.GUARDED,
    ),
    "guarded, as declared, its owner gone": (
        replaced(
            "Cluster", "c", api_version=CAPI, metadata=owned("x", "c"), before={"s": 1}, now={"s": 2}, forced_by=("s",)
        ),
        Reason.GUARDED,
    ),
}


@pytest.mark.parametrize(("step", "reason"), REPLACEMENTS.values(), ids=REPLACEMENTS)
def test_a_replacement_is_blocked(laptop: Environment, step: dict[str, Any], reason: Reason | None) -> None:
    assert [one.reason for one in judged(laptop, step)] == ([reason] if reason else [])


def deployment(name: str, replicas: int | None, *owner: str) -> dict[str, Any]:
    spec = {} if replicas is None else {"replicas": replicas}
    metadata = owned(*owner)
    return deleted("MachineDeployment", name, api_version=CAPI, namespace="n", metadata=metadata, spec=spec)


def hbn(name: str) -> dict[str, Any]:
    return deleted("DPUDeployment", name, api_version="svc.dpu.nvidia.com/v1alpha1", namespace="dpf-operator-system")


def policy(name: str) -> dict[str, Any]:
    api_version, metadata = "networking.k8s.io/v1", owned("acme")
    return deleted(
        "NetworkPolicy", name, api_version=api_version, namespace="default", cluster="acme-train", metadata=metadata
    )


RELEASE, KUSTOMIZATION = (
    {"kind": "HelmRelease", "api_version": "helm.toolkit.fluxcd.io/v2"},
    {"kind": "Kustomization", "api_version": "kustomize.toolkit.fluxcd.io/v1"},
)


@pytest.mark.parametrize(
    ("goes", "comes", "is_held"),
    [
        ({**RELEASE, "spec": {}}, KUSTOMIZATION, True),
        ({**RELEASE, "spec": {"suspend": True}}, KUSTOMIZATION, False),
        ({**RELEASE, "spec": {}}, {**KUSTOMIZATION, "name": "other"}, False),
        ({**RELEASE, "spec": {}}, {**KUSTOMIZATION, "namespace": "acme-train"}, False),
        ({**KUSTOMIZATION, "spec": {}}, RELEASE, True),
    ],
    ids=["a release", "a release at rest", "another operator", "another cluster", "manifests"],
)
def test_a_delivery_change_that_would_delete_objects_of_the_other_kind_is_blocked(
    laptop: Environment, goes: dict[str, Any], comes: dict[str, Any], *, is_held: bool
) -> None:
    operator = {"name": "cdi-operator", "namespace": "operators"}

    found = judged(laptop, same(**{**operator, **comes}), deleted(**{**operator, **goes}))

    assert [one.reason for one in found] == ([Reason.TAKEN_OVER] if is_held else [])


TRAIN = ("acme", "acme-train", "train")
DELETIONS = {
    "any kind": (deleted("Secret", "a", namespace="n"), False),
    "a namespace of nobody's": (deleted("Namespace", "operators"), True),
    "a namespace of a cluster that stands in the data": (
        deleted("Namespace", "acme-train", metadata=owned("acme", "acme-train")),
        True,
    ),
    "a namespace of a cluster that has left the data": (
        deleted("Namespace", "acme-old", metadata=owned("acme", "acme-old")),
        False,
    ),
    "a namespace of a tenant that has left the data": (deleted("Namespace", "tenant-x", metadata=owned("x")), False),
    "a namespace inside a cluster": (deleted("Namespace", "csi", cluster="acme-train"), True),
    "a namespace inside a cluster that has left the data": (deleted("Namespace", "csi", cluster="acme-old"), False),
    "a control plane": (
        deleted("KamajiControlPlane", "c", api_version=KAMAJI, metadata=owned("acme", "acme-train")),
        True,
    ),
    "a control plane that has left the data": (
        deleted("KamajiControlPlane", "c", api_version=KAMAJI, metadata=owned("acme", "acme-old")),
        False,
    ),
    "a data store": (deleted("DataStore", "shared-a", api_version="kamaji.clastix.io/v1alpha1"), True),
    "a group with nodes": (deployment("g", 4, *TRAIN), True),
    "a group whose size an autoscaler keeps": (deployment("g", None, *TRAIN), True),
    "a group without nodes": (deployment("g", 0, *TRAIN), False),
    "a group with nodes of a pool that has left the data": (deployment("g", 4, "acme", "acme-train", "old"), True),
    "a group without nodes of a pool that has left the data": (deployment("g", 0, "acme", "acme-train", "old"), False),
    "a VPC": (deleted("DPUVPC", "globex", api_version=DPU_VPC, metadata=owned("globex")), True),
    "a VPC that is another tenant's": (deleted("DPUVPC", "globex", api_version=DPU_VPC, metadata=owned("acme")), True),
    "a VPC on DPUs": (hbn("acme"), True),
    "a VPC on the DPUs of one DPU cluster": (hbn("acme-west"), True),
    "a VPC on DPUs that has left the data": (hbn("old"), False),
    "a VPC on DPUs whose name begins like another one's": (hbn("acmeold"), False),
    "what runs on the DPUs of no VPC": (hbn("unassigned"), True),
    "the network of a VPC": (
        deleted("DPUVirtualNetwork", "globex-1f2e3d4c5b", api_version=DPU_VPC, metadata=owned("globex")),
        True,
    ),
    "the switch of a VPC in a cluster": (
        deleted("Subnet", "acme-pods", api_version="kubeovn.io/v1", cluster="acme-train", metadata=owned("acme")),
        True,
    ),
    "a VPC by policy alone": (policy("acme"), True),
    "a VPC by policy alone that has left the data": (policy("old"), False),
    "a VPC that has left the data": (deleted("DPUVPC", "old", api_version=DPU_VPC, metadata=owned("globex")), False),
}


@pytest.mark.parametrize(("step", "is_held"), DELETIONS.values(), ids=DELETIONS)
def test_an_undeclared_deletion_is_blocked(laptop: Environment, step: dict[str, Any], *, is_held: bool) -> None:
    assert [one.reason for one in judged(laptop, step)] == ([Reason.GUARDED] if is_held else [])


def test_an_object_that_another_resource_declares_is_blocked_for_any_kind(laptop: Environment) -> None:
    moved = judged(laptop, deleted("Secret", "a", urn="old"), same("Secret", "a", urn="new"))
    elsewhere = judged(laptop, deleted("Secret", "a", urn="old"), same("Secret", "a", urn="new", cluster="acme-train"))

    assert [one.reason for one in moved] == [Reason.RENAMED]
    assert elsewhere == []


def test_a_line_states_operation_object_cause_and_reason_of_the_block(laptop: Environment) -> None:
    found = judged(laptop, replaced("Secret", "b", namespace="n"), deleted("Namespace", "a"))

    assert [str(one) for one in found] == [
        "delete Namespace a: its kind is guarded",
        "replace Secret n/b, forced by metadata.namespace: its declaration did not change",
    ]


def test_a_token_confirms_exactly_these_changes_of_this_stack_in_any_order(laptop: Environment) -> None:
    a, b = replaced("Secret", "a", namespace="n"), deleted("Namespace", "b")
    word = digest("laptop", judged(laptop, a, b))

    assert digest("laptop", judged(laptop, b, a)) == word
    others = (
        digest("laptop.foundation", judged(laptop, a, b)),
        digest("laptop", judged(laptop, a)),
        digest("laptop", judged(laptop, a, b, deleted("Namespace", "c"))),
        digest("laptop", judged(laptop, replaced("Secret", "a", namespace="n", forced_by=("type",)), b)),
        digest("laptop", judged(laptop, replaced("Namespace", "b"), a)),
    )
    assert len({word, *others}) == 6


def test_the_kinds_are_spelt_as_rendered_objects_are() -> None:
    body = {"apiVersion": CAPI, "kind": "Cluster", "metadata": {"name": "c"}}
    assert kind_of(Manifest(body=body)) in effects_table().guarded


_SEVEN = tuple(f"Claim a/{number}" for number in range(7))
STORE = deleted("StorageClass", "fast", api_version="storage.k8s.io/v1", cluster="acme-train")


@pytest.mark.parametrize(
    ("users", "expected"),
    [
        (("Claim a/b",), "delete StorageClass fast: it is in use by 1: Claim a/b"),
        (
            _SEVEN,
            f"delete StorageClass fast: it is in use by 7: {', '.join(_SEVEN[:5])} and 2 more",
        ),
        (None, "delete StorageClass fast: its users could not be determined"),
    ],
)
def test_objects_in_use_are_blocked_with_their_users_named(laptop: Environment, users: Any, expected: str) -> None:
    plan = Plan()
    plan.see(STORE)

    found = held(plan, laptop, lambda _: users)

    assert [str(one) for one in found] == [expected]
    others = held(plan, laptop, lambda _: ("Claim a/another",))
    assert digest("laptop", found) != digest("laptop", others), "who came to use it since is another word"


def test_no_cluster_is_queried_for_retained_objects_or_after_its_deletion(laptop: Environment) -> None:
    plan = Plan()
    plan.see(replaced("DataSource", "a", cluster="acme-train", before={"p": 1}, now={"p": 2}, forced_by=("p",)))
    plan.see(deleted("StorageClass", "b", cluster="no-cluster-of-the-data"))
    assert len(plan.losses) == 2

    assert held(plan, laptop, lambda loss: (str(loss),)) == []
    assert held(Plan(), laptop, lambda loss: (str(loss),)) == []


def test_a_class_whose_parameters_change_is_replaced_after_confirmation_only(laptop: Environment) -> None:
    plan = Plan()
    subdirectories = {"before": {"parameters": {"subDir": "a"}}, "now": {"parameters": {"subDir": "b"}}}
    plan.see(
        replaced(
            "StorageClass",
            "shared-nfs",
            api_version="storage.k8s.io/v1",
            cluster="acme-train",
            forced_by=("parameters.subDir",),
            **subdirectories,
        )
    )

    [found] = held(plan, laptop)

    expected = "replace StorageClass shared-nfs, forced by parameters.subDir: existing volumes keep the old parameters"
    assert str(found) == expected
    assert effects_table().recreated == {"storage.k8s.io/StorageClass"}


def test_a_plan_knows_its_declared_and_deleted_objects() -> None:
    plan = Plan()
    plan.see(STORE)
    plan.see(same("ConfigMap", "c", namespace="n"))

    assert plan.known == {
        ("acme-train", "storage.k8s.io/StorageClass", "", "fast"),
        ("management", "ConfigMap", "n", "c"),
    }
