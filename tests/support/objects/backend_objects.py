"""Objects of a reconciled region, as the controllers of each backend write them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from components.specs.hosts.bare_metal import BareMetalBackend
from components.specs.region.region import ControlPlaneBackend

Object = dict[str, Any]
_CLONED_FROM = "cluster.x-k8s.io/cloned-from-name"


def conditions(**states: str) -> list[Object]:
    return [{"type": kind, "status": status} for kind, status in states.items()]


def of_kind(bodies: Iterable[Object], kind: str) -> list[Object]:
    return [body for body in bodies if body["kind"] == kind]


def kamaji(cluster: str, version: str) -> Object:
    return {
        "apiVersion": "controlplane.cluster.x-k8s.io/v1alpha2",
        "kind": "KamajiControlPlane",
        "metadata": {"name": cluster, "namespace": cluster},
        "status": {"version": version, "ready": True, "initialization": {"controlPlaneInitialized": True}},
    }


def k0smotron(cluster: str, version: str) -> Object:
    """K0smotron keeps the build suffix of k0s in the version if the spec has one."""
    return {
        "apiVersion": "controlplane.cluster.x-k8s.io/v1beta2",
        "kind": "K0smotronControlPlane",
        "metadata": {"name": cluster, "namespace": cluster},
        "spec": {"version": f"{version}-k0s.0", "replicas": 3},
        "status": {
            "version": f"{version}-k0s.0",
            "initialization": {"controlPlaneInitialized": True},
            "externalManagedControlPlane": True,
            "replicas": 3,
            "readyReplicas": 3,
            "availableReplicas": 3,
            "upToDateReplicas": 3,
        },
    }


def metal3_template(namespace: str, name: str, sha256: str) -> Object:
    image = {"url": "https://images.example/node.raw", "checksum": sha256, "checksumType": "sha256"}
    return {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "Metal3MachineTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": {"spec": {"image": image}}},
    }


def ironcore_template(namespace: str, name: str, sha256: str) -> Object:
    return {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1",
        "kind": "IroncoreMetalMachineTemplate",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"template": {"spec": {"image": f"registry.example/node@sha256:{sha256}"}}},
    }


def metal3_machine(namespace: str, name: str, template: str) -> Iterator[Object]:
    yield {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1beta2",
        "kind": "Metal3Machine",
        "metadata": {"name": name, "namespace": namespace, "annotations": {_CLONED_FROM: template}},
        "status": {"initialization": {"provisioned": True}},
    }
    yield {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": {"name": f"host-{name}", "namespace": namespace},
        "spec": {"online": True},
        "status": {
            "operationalStatus": "OK",
            "errorCount": 0,
            "errorMessage": "",
            "poweredOn": True,
            "hardwareProfile": "unknown",
            "provisioning": {"ID": "", "state": "provisioned"},
        },
    }


def ironcore_machine(namespace: str, name: str, template: str) -> Iterator[Object]:
    yield {
        "apiVersion": "infrastructure.cluster.x-k8s.io/v1alpha1",
        "kind": "IroncoreMetalMachine",
        "metadata": {"name": name, "namespace": namespace, "annotations": {_CLONED_FROM: template}},
        "spec": {"image": "registry.example/node", "providerID": f"metal://{namespace}/{name}"},
        "status": {"ready": True},
    }
    yield from ironcore_host(f"host-{name}", state="Reserved", claim=(namespace, name))


def ironcore_host(
    name: str, *, bmc: str = "Enabled", state: str | None = None, claim: tuple[str, str] | None = None
) -> Iterator[Object]:
    """Yield a BMC, and, after discovery, its Server in state ``state``."""
    access = {"access": {"ip": "10.1.0.1"}, "bmcSecretRef": {"name": "bmc"}}
    yield {
        "apiVersion": "metal.ironcore.dev/v1alpha1",
        "kind": "BMC",
        "metadata": {"name": name},
        "spec": {**access, "protocol": {"name": "Redfish", "port": 443, "scheme": "https"}},
        "status": {"state": bmc, "firmwareVersion": "25.02.1"},
    }
    if state is None:
        return
    spec: Object = {"systemUUID": f"uuid-{name}", "bmcRef": {"name": name}}
    if claim:
        reference = {"namespace": claim[0], "name": claim[1]}
        spec |= {"serverClaimRef": reference, "bootConfigurationRef": reference}
    yield {
        "apiVersion": "metal.ironcore.dev/v1alpha1",
        "kind": "Server",
        "metadata": {"name": f"{name}-system-0"},
        "spec": spec,
        "status": {"state": state, "powerState": "On" if claim else "Off", "biosVersion": "2.8.1"},
    }


def boot_configuration(namespace: str, name: str, host: str, image: str) -> Object:
    return {
        "apiVersion": "metal.ironcore.dev/v1alpha1",
        "kind": "ServerBootConfiguration",
        "metadata": {"name": name, "namespace": namespace},
        "spec": {"serverRef": {"name": f"{host}-system-0"}, "image": image},
        "status": {"state": "Ready"},
    }


CONTROL_PLANE: dict[ControlPlaneBackend, Callable[[str, str], Object]] = {
    ControlPlaneBackend.KAMAJI: kamaji,
    ControlPlaneBackend.K0SMOTRON: k0smotron,
}
"""Control plane of a cluster, by version."""
TEMPLATE: dict[BareMetalBackend, Callable[[str, str, str], Object]] = {
    BareMetalBackend.METAL3: metal3_template,
    BareMetalBackend.IRONCORE_METAL: ironcore_template,
}
"""Machine template, by namespace, name and SHA-256 of the image."""
MACHINE: dict[BareMetalBackend, Callable[[str, str, str], Iterator[Object]]] = {
    BareMetalBackend.METAL3: metal3_machine,
    BareMetalBackend.IRONCORE_METAL: ironcore_machine,
}
"""Machine and its host, by namespace, name and template."""
