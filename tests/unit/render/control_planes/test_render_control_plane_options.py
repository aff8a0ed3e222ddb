"""Options of control planes that no environment of this repository uses; golden files cover the others."""

from __future__ import annotations

from typing import Any

from components.render.control_planes.hosted_control_plane import HostedControlPlaneInput
from components.render.manifest import Manifest
from components.specs.control_planes.hosted_control_plane import ControlPlaneSpec, Events
from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.region import ControlPlaneBackend
from components.specs.struct import replace
from tests.support.objects.rendered_objects import objects_of


def shared(inputs_of: Any) -> HostedControlPlaneInput:
    found: HostedControlPlaneInput = inputs_of(HostedControlPlaneInput)[0]
    return found


def dedicated(inputs_with: Any) -> HostedControlPlaneInput:
    backends = {"control_planes": ControlPlaneBackend.KAMAJI, "bare_metal": BareMetalBackend.METAL3}
    found: HostedControlPlaneInput = inputs_with(HostedControlPlaneInput, **backends)[0]
    return found


def wishing(one: HostedControlPlaneInput, **wish: Any) -> HostedControlPlaneInput:
    plane = ControlPlaneSpec(**{**one.spec.control_plane.model_dump(), **wish})
    return replace(one, spec=one.spec.model_copy(update={"control_plane": plane}))


def of_kind(control_plane: HostedControlPlaneInput, kind: str) -> list[Manifest]:
    return [item for item in objects_of(control_plane) if item.kind == kind]


def test_the_number_of_konnectivity_agents_is_configurable(inputs_of: Any) -> None:
    [plane] = of_kind(wishing(shared(inputs_of), konnectivity_agents=5), "KamajiControlPlane")

    assert plane.body["spec"]["addons"]["konnectivity"]["agent"] == {
        "mode": "Deployment",
        "replicas": 5,
        "hostNetwork": True,
        "tolerations": [{"operator": "Exists"}],
    }


def test_events_are_in_a_second_etcd_that_trusts_the_ca_of_the_first_one(inputs_with: Any) -> None:
    one = wishing(dedicated(inputs_with), events=Events.APART)
    [main, events] = of_kind(one, "HelmRelease")
    [plane] = of_kind(one, "KamajiControlPlane")

    assert (main.name, events.name) == ("acme-train-etcd", "acme-train-events")
    assert main.protect
    assert events.protect
    assert events.body["spec"]["values"]["certManager"] == {
        "enabled": True,
        "issuerRef": {"group": "cert-manager.io", "kind": "Issuer", "name": "acme-train-etcd"},
        "ca": {"create": False, "nameOverride": "acme-train-etcd-ca"},
        "clientCert": {"nameOverride": "acme-train-events-client"},
    }
    assert plane.body["spec"]["dataStoreOverrides"] == [{"resource": "/events", "dataStore": "acme-train-events"}]
    assert [item.name for item in of_kind(one, "PodMonitor")] == ["acme-train-etcd", "acme-train-events"]


def test_k0smotron_reaches_a_shared_data_store_by_kine_with_a_reference_to_its_secret(inputs_with: Any) -> None:
    plane = objects_of(inputs_with(HostedControlPlaneInput, data_store="shared-a")[0])[-1]

    assert plane.body["spec"]["storage"] == {"type": "kine", "kine": {"dataSourceSecretName": "etcd-a-certs"}}
