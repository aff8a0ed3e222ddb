"""A tenant's Kubernetes API as pods of the management cluster: Kamaji under Cluster API.

One address (VIP) is known before anything is made, and stands in every place that needs it: Kamaji only checks the
infrastructure cluster's endpoint, it never patches a Metal3Cluster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from components.render import labels as keys
from components.render.manifest import Manifest, Readiness
from components.render.objects import given, manifest
from components.render.region import CONTROL_PLANE_POOL
from components.specs.base import Address
from components.specs.hosted_control_plane import ClusterSpec, OidcSpec
from components.specs.locks import VpcAllocation

API_PORT = 6443
_DNS_INDEX = 10
"""Place of the cluster's DNS address among the services, by kubeadm's convention."""
_READY_SECONDS = 1200
_TOPOLOGY_KEYS = ("topology.kubernetes.io/zone", "kubernetes.io/hostname")


@dataclass(frozen=True, slots=True, kw_only=True)
class HostedControlPlaneInput:
    """The control plane of one cluster."""

    name: str
    cluster: ClusterSpec
    tenant: str
    network: VpcAllocation
    """Numbers of the cluster's VPC."""
    vip: Address
    failure_domains: tuple[str, ...]
    """Where the cluster has rollout groups, in order."""


def render_hosted_control_plane(control_plane: HostedControlPlaneInput) -> tuple[Manifest, ...]:
    """Return the objects of one control plane, in the order they are applied.

    The control plane comes last: it is awaited, and its provider does nothing before the Cluster owns it.
    """
    return (_infrastructure(control_plane), _cluster(control_plane), _kamaji(control_plane))


def _labels(control_plane: HostedControlPlaneInput) -> dict[str, str]:
    return {keys.TENANT: control_plane.tenant, keys.CLUSTER: control_plane.cluster.name}


def _infrastructure(control_plane: HostedControlPlaneInput) -> Manifest:
    name = control_plane.cluster.name
    return manifest(
        "infrastructure.cluster.x-k8s.io/v1beta2",
        "Metal3Cluster",
        name,
        namespace=name,
        labels=_labels(control_plane),
        # Inventory labels reach Nodes from the host and are taken off again there: tenants cannot forge them.
        annotations={"metal3.io/metal3-label-sync-prefixes": keys.DOMAIN},
        spec={
            "controlPlaneEndpoint": {"host": str(control_plane.vip), "port": API_PORT},
            "cloudProviderEnabled": False,
            **given(
                failureDomains=[{"name": domain, "controlPlane": False} for domain in control_plane.failure_domains]
            ),
        },
    )


def _kamaji(control_plane: HostedControlPlaneInput) -> Manifest:
    cluster, vip = control_plane.cluster, str(control_plane.vip)
    name = cluster.name
    return manifest(
        "controlplane.cluster.x-k8s.io/v1alpha2",
        "KamajiControlPlane",
        name,
        namespace=name,
        labels=_labels(control_plane),
        protect=True,
        readiness=Readiness(
            conditions=("jsonpath={.status.initialization.controlPlaneInitialized}=true", "condition=Available"),
            timeout_seconds=_READY_SECONDS,
        ),
        spec={
            "version": cluster.version,
            "replicas": cluster.control_plane.replicas,
            "dataStoreName": cluster.control_plane.data_store,
            "addons": {"coreDNS": {}, "kubeProxy": {}, "konnectivity": {}},
            "network": {
                "serviceType": "LoadBalancer",
                "serviceAddress": vip,
                "serviceAnnotations": {
                    "metallb.io/address-pool": CONTROL_PLANE_POOL,
                    "metallb.io/loadBalancerIPs": vip,
                },
                "certSANs": [vip, f"{name}.{name}.svc", f"{name}.{name}.svc.cluster.local"],
                "dnsServiceIPs": [str(control_plane.network.services[_DNS_INDEX])],
            },
            "deployment": {"topologySpreadConstraints": [_spread(name, key) for key in _TOPOLOGY_KEYS]},
            **given(apiServer=_api_server(cluster.oidc)),
        },
    )


def _spread(name: str, topology_key: str) -> dict[str, Any]:
    return {
        "maxSkew": 1,
        "topologyKey": topology_key,
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"kamaji.clastix.io/name": name}},
    }


def _api_server(oidc: OidcSpec | None) -> dict[str, Any] | None:
    if oidc is None:
        return None
    return {"extraArgs": [f"--oidc-issuer-url={oidc.issuer_url}", f"--oidc-client-id={oidc.client_id}"]}


def _cluster(control_plane: HostedControlPlaneInput) -> Manifest:
    name = control_plane.cluster.name
    return manifest(
        "cluster.x-k8s.io/v1beta2",
        "Cluster",
        name,
        namespace=name,
        labels=_labels(control_plane),
        protect=True,
        spec={
            "clusterNetwork": {
                "apiServerPort": API_PORT,
                "pods": {"cidrBlocks": [str(control_plane.network.pods)]},
                "services": {"cidrBlocks": [str(control_plane.network.services)]},
                "serviceDomain": control_plane.cluster.service_domain,
            },
            "controlPlaneRef": {
                "apiGroup": "controlplane.cluster.x-k8s.io",
                "kind": "KamajiControlPlane",
                "name": name,
            },
            "infrastructureRef": {
                "apiGroup": "infrastructure.cluster.x-k8s.io",
                "kind": "Metal3Cluster",
                "name": name,
            },
        },
    )
