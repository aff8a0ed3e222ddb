"""Join service for nodes that boot an ISO. Metal3 provides no user data, name and token to these nodes.

The contract is in ``docs/pools/node-pool.md``. At every boot, the service identifies a node by its host, finds the
Machine that claimed the host, and responds with the bootstrap configuration of the Machine and a new token. Jacquard
renders the input and the deployment of the service. The operator of the region provides the image of the service.
"""

import json

from components.render import labels as keys
from components.render.manifest import Manifest
from components.render.objects import SERVICES_PRIORITY, manifest
from components.render.platform_pods import HARDENED, role, service_at
from components.specs.pools.nodes import JoinServiceSpec
from components.specs.struct import Struct

NAMESPACE = "join-service"
_NAME = NAMESPACE
PORT = 8443
_REPLICAS = 2
_CONTRACT = "1"
"""Format version of ConfigMaps for the join service. Services reject unknown versions."""
_READ = ["get", "list", "watch"]
_CONFIGURATIONS = ["kubeadmconfigs", "k0sworkerconfigs"]
_PODS = {"app.kubernetes.io/name": _NAME}


class HostIdentity(Struct):
    """Attributes with which the join service identifies a booting host."""

    host: str
    boot_mac: str
    dpu_serial: str


def contract(
    group: str,
    cluster: str,
    join: str,
    hosts: tuple[HostIdentity, ...],
    labels: dict[str, str],
) -> Manifest:
    """Return the ConfigMap for the service with the hosts of one rollout group."""
    return manifest(
        "v1",
        "ConfigMap",
        f"{group}-join",
        namespace=cluster,
        labels={**labels, keys.JOIN_CONTRACT: _CONTRACT},
        data={
            "join": join,
            "kubeconfigSecret": f"{cluster}-kubeconfig",
            "hosts.json": json.dumps(
                {host.host: {"bootMac": host.boot_mac, "dpuSerial": host.dpu_serial} for host in hosts}, indent=1
            ),
        },
    )


def access(pool: str, cluster: str, labels: dict[str, str]) -> tuple[Manifest, ...]:
    """Return the role of the service for one pool: read the objects of the pool, and create tokens in its cluster."""
    rules = [
        {"apiGroups": [""], "resources": ["secrets"], "resourceNames": [f"{cluster}-kubeconfig"], "verbs": ["get"]},
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": _READ},
        {"apiGroups": ["metal3.io"], "resources": ["baremetalhosts"], "verbs": _READ},
        {"apiGroups": ["infrastructure.cluster.x-k8s.io"], "resources": ["metal3machines"], "verbs": _READ},
        {"apiGroups": ["cluster.x-k8s.io"], "resources": ["machines"], "verbs": _READ},
        {"apiGroups": ["bootstrap.cluster.x-k8s.io"], "resources": _CONFIGURATIONS, "verbs": _READ},
    ]
    return role(f"{pool}-join", rules, account=(NAMESPACE, _NAME), namespace=cluster, labels=labels)


def render(service: JoinServiceSpec, *, metallb: str) -> tuple[Manifest, ...]:
    """Return the deployment and the address of the service; ``metallb`` is the namespace of address pools."""
    return (
        manifest("v1", "ServiceAccount", _NAME, namespace=NAMESPACE),
        *service_at(
            _NAME,
            str(service.address),
            _PODS,
            [{"name": "https", "port": 443, "targetPort": PORT}],
            namespace=NAMESPACE,
            metallb=metallb,
        ),
        _deployment(service),
    )


def _deployment(service: JoinServiceSpec) -> Manifest:
    container = {
        "name": _NAME,
        "image": service.image,
        "ports": [{"name": "https", "containerPort": PORT}],
        "securityContext": {**HARDENED, "runAsNonRoot": True},
    }
    return manifest(
        "apps/v1",
        "Deployment",
        _NAME,
        namespace=NAMESPACE,
        spec={
            "replicas": _REPLICAS,
            "selector": {"matchLabels": _PODS},
            "template": {
                "metadata": {"labels": _PODS},
                "spec": {
                    "serviceAccountName": _NAME,
                    "priorityClassName": SERVICES_PRIORITY,
                    "securityContext": {"seccompProfile": {"type": "RuntimeDefault"}},
                    "containers": [container],
                },
            },
        },
    )
