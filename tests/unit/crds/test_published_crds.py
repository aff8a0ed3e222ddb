"""Every custom object of every environment conforms to its published schema."""

from __future__ import annotations

from typing import Any, Protocol

import pytest

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import Manifest, objects
from components.specs.environment import Environment
from components.specs.hosts.instance_types import PortUse, RdmaSpec
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.data.small_region import changed
from tests.support.network.on_infiniband import on_infiniband
from tests.support.network.on_roce import sharing_roce
from tests.support.objects.published_crds import BUILT_IN


class Oracle(Protocol):
    """Type of the fixture ``published``."""

    def problems(self, body: Any) -> list[str]: ...


@pytest.mark.parametrize("name", REFERENCES)
def test_every_custom_object_of_an_environment_fits_its_published_schema(published: Oracle, name: str) -> None:
    custom = custom_objects(reference(name))

    assert refused(published, custom) == {}
    assert len({item.kind for item in custom}) > 20


def test_queues_for_newer_releases_of_kueue_fit_the_schema_of_their_version(published: Oracle) -> None:
    """The pinned release serves this version, but does not store it."""
    environment = reference("us-east-04a")
    charts = [changed(row, version="0.17.8") if row.name == "kueue" else row for row in environment.versions.charts]
    newer = changed(environment, versions=changed(environment.versions, charts=tuple(charts)))
    found = refused(published, [item for item in custom_objects(newer) if item.api_version.startswith("kueue.")])

    assert {key.split("/")[3] for key in found} == {
        "WorkloadPriorityClass",
        "Topology",
        "ResourceFlavor",
        "ClusterQueue",
        "LocalQueue",
    }
    assert {text for texts in found.values() for text in texts} == {"apiVersion: v1beta2 is not the storage version"}


@pytest.mark.parametrize("use", [PortUse.WHOLE, PortUse.SHARED])
def test_objects_that_assign_ports_conform_to_their_published_schema(published: Oracle, use: PortUse) -> None:
    laptop = reference("laptop")
    custom = custom_objects(on_infiniband(laptop, RdmaSpec(ports=use)))

    assert "NicNodePolicy" in {item.kind for item in custom}
    assert refused(published, custom) == {}


def test_objects_that_assign_roce_devices_conform_to_their_published_schema(published: Oracle) -> None:
    custom = custom_objects(sharing_roce())

    assert "NicNodePolicy" in {item.kind for item in custom}
    assert refused(published, custom) == {}


def custom_objects(environment: Environment) -> list[Manifest]:
    every = (item for part in slices(environment) for item in objects(manifests(environment, part)))
    return [item for item in every if item.api_version not in BUILT_IN]


def refused(published: Oracle, custom: list[Manifest]) -> dict[str, list[str]]:
    return {item.key: problems for item in custom if (problems := published.problems(item.body))}


HOST = {
    "apiVersion": "metal3.io/v1alpha1",
    "kind": "BareMetalHost",
    "metadata": {"name": "a", "namespace": "inventory"},
    "spec": {"online": True},
}


@pytest.mark.parametrize(
    ("spec", "problem"),
    [
        ({}, ".spec.online: is required"),
        ({"online": "yes"}, ".spec.online: 'yes' is not of type boolean"),
        ({"online": True, "onlin": True}, ".spec.onlin: is unknown"),
        (
            {"online": True, "bootMode": "uefi"},
            ".spec.bootMode: 'uefi' breaks enum ['UEFI', 'UEFISecureBoot', 'legacy']",
        ),
        (
            {"online": True, "bootMACAddress": "02:00"},
            ".spec.bootMACAddress: '02:00' breaks pattern '[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}'",
        ),
        (
            {"online": True, "raid": {"softwareRAIDVolumes": [{"level": "1", "sizeGibibytes": -1}]}},
            ".spec.raid.softwareRAIDVolumes[0].sizeGibibytes: -1 breaks minimum 0",
        ),
    ],
)
def test_the_oracle_rejects_violations_of_the_schema(published: Oracle, spec: dict[str, Any], problem: str) -> None:
    assert published.problems(HOST) == []
    assert published.problems({**HOST, "spec": spec}) == [problem]


def test_a_required_field_with_a_default_may_be_left_out(published: Oracle) -> None:
    def plane(service: dict[str, Any]) -> dict[str, Any]:
        return {
            "apiVersion": "controlplane.cluster.x-k8s.io/v1beta2",
            "kind": "K0smotronControlPlane",
            "metadata": {"name": "a", "namespace": "a"},
            "spec": {"service": service},
        }

    assert published.problems(plane({"apiPort": 6443})) == []
    assert published.problems(plane({"type": "Ingress"})) == [
        ".spec.service.type: 'Ingress' breaks enum ['ClusterIP', 'NodePort', 'LoadBalancer']"
    ]


def test_the_oracle_refuses_a_list_map_with_a_key_twice(published: Oracle) -> None:
    body = {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "Metal3Cluster",
        "metadata": {"name": "a", "namespace": "a"},
        "spec": {"failureDomains": [{"name": "a01"}, {"name": "a01"}]},
    }

    assert published.problems(body) == [".spec.failureDomains: name is not unique"]


def test_the_oracle_refuses_a_version_that_is_not_stored_and_a_wrong_scope(published: Oracle) -> None:
    peer = {
        "apiVersion": "metallb.io/v1beta1",
        "kind": "BGPPeer",
        "metadata": {"name": "a"},
        "spec": {"myASN": 1, "peerASN": 2, "peerAddress": "10.0.0.1"},
    }

    assert published.problems(peer) == [
        "apiVersion: v1beta1 is not the storage version",
        "metadata.namespace: the kind is Namespaced",
    ]


def test_a_kind_without_a_published_definition_is_an_error(published: Oracle) -> None:
    with pytest.raises(LookupError, match=r"holds no CustomResourceDefinition of Loom in jacquard\.dev"):
        published.problems({"apiVersion": "jacquard.dev/v1", "kind": "Loom", "metadata": {"name": "a"}})
