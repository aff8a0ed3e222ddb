"""Networks for the pods of clusters whose VPC brings none, by Cilium or Calico, sized by the nodes they may have.

Addresses of pods mean nothing outside the cluster: no fabric learns routes to them, so packets between nodes are
wrapped in VXLAN, which any network carries that lets hosts reach each other. Hence no node speaks BGP for pods, and
there is no mesh and no route reflector that a cluster could outgrow. Kamaji and k0s install kube-proxy, which serves
Services, and CoreDNS; k0s is told to bring no network (``provider: custom``).

A first node gets ready because nothing here waits for a ready one: Flux installs charts from outside the cluster,
agents and operators run on the network of the host, tolerate every taint, and call the API server at its own address.
"""

from __future__ import annotations

from typing import Any

from components.render.add_ons.cluster_facts import EVERY_NODE, ClusterFacts
from components.render.add_ons.pod_priorities import SERVICE
from components.render.control_planes.control_plane import API_PORT

CILIUM = "cilium"
CALICO = "tigera-operator"
TAKE_MORE_PODS = (CILIUM,)
"""Charts whose networks may have pods in more than one prefix.

Cilium's operator gives nodes their parts, of a list that may get longer
(cilium/cilium:Documentation/network/concepts/ipam/cluster-pool.rst), and agents send what pods have for Services
themselves. Calico leaves that to kube-proxy, which kubeadm tells one prefix of pods: it would give pods of another the
address of their node, which no policy expects (kubernetes/kubernetes:pkg/proxy/iptables/proxier.go).
"""
DUAL_STACK = (CILIUM,)
"""Charts whose networks give pods IPv6 though hosts have none.

Cilium wraps packets of either family in VXLAN over IPv4, and asks a node for an address of one family only
(cilium/cilium:pkg/node/address.go, ValidatePostInit). Calico has no tunnel for IPv6 between addresses of IPv4
(projectcalico/calico#7422): its agents would not start.
"""
CALICO_NAMESPACES = ("calico-apiserver", "calico-system")
"""Namespaces that Calico's operator makes beside its own (tigera/operator:pkg/render)."""
KEEP_POLICIES = (CILIUM, CALICO)
"""Charts whose agents keep NetworkPolicies in both directions."""
POD_PREFIX_PER_NODE = 24
"""Length of the part of the pods' prefix that a node has."""
POD_PREFIX_PER_NODE_IPV6 = 64
"""Length of the part of the prefix of IPv6 for pods that a node has, Kubernetes' own default."""
_CALICO_BLOCK = 26
"""Length of the blocks that Calico hands to nodes, as many as their pods need (its default)."""
_MANY_NODES = 200
"""Nodes above which Cilium's scalability report changes its settings."""
_AT_ONCE = "10%"
"""Agents that an upgrade takes away at the same time; their nodes' pods go on."""


def cilium(facts: ClusterFacts) -> dict[str, Any]:
    """Return the values of Cilium.

    Above 200 nodes agents neither probe each other, which grows with the square of their number, nor watch each pod
    apart (Cilium's scalability report).
    """
    many = facts.nodes > _MANY_NODES
    pool: dict[str, Any] = {
        "clusterPoolIPv4PodCIDRList": [*map(str, facts.pods)],
        "clusterPoolIPv4MaskSize": POD_PREFIX_PER_NODE,
    }
    if facts.pods_ipv6 is not None:
        pool["clusterPoolIPv6PodCIDRList"] = [str(facts.pods_ipv6)]
        pool["clusterPoolIPv6MaskSize"] = POD_PREFIX_PER_NODE_IPV6
    return {
        "cluster": {"name": facts.name},
        "k8sServiceHost": str(facts.api),
        "k8sServicePort": str(API_PORT),
        "kubeProxyReplacement": "false",
        "ipam": {"mode": "cluster-pool", "operator": pool},
        **({"ipv6": {"enabled": True}} if facts.pods_ipv6 else {}),
        "routingMode": "tunnel",
        "tunnelProtocol": "vxlan",
        # Multus writes its configuration beside Cilium's, which would otherwise be put aside.
        "cni": {"exclusive": not facts.attachments},
        "tolerations": EVERY_NODE,
        "updateStrategy": {"rollingUpdate": {"maxUnavailable": _AT_ONCE}},
        "operator": {"replicas": 2, **facts.early_placement},
        # Its certificates would be made anew at each upgrade, and nothing here reads what it sees.
        "hubble": {"enabled": False},
        "ciliumEndpointSlice": {"enabled": many},
        "healthChecking": not many,
        "endpointHealthChecking": {"enabled": not many},
    }


def calico(facts: ClusterFacts) -> dict[str, Any]:
    """Return the values of Calico's operator, which sizes Typha itself: one for 200 nodes, and spare ones."""
    pool = {
        "cidr": str(facts.pods[0]),
        "blockSize": _CALICO_BLOCK,
        "encapsulation": "VXLAN",
        "natOutgoing": "Enabled",
        "nodeSelector": "all()",
    }
    placed = facts.early_placement
    return {
        "kubernetesServiceEndpoint": {"host": str(facts.api), "port": str(API_PORT)},
        "installation": {
            "cni": {"type": "Calico", "ipam": {"type": "Calico"}},
            "calicoNetwork": {
                "bgp": "Disabled",
                "nodeAddressAutodetectionV4": {"kubernetes": "NodeInternalIP"},
                "ipPools": [pool],
            },
            "controlPlaneReplicas": 2,
            "controlPlaneTolerations": placed["tolerations"],
            **({"controlPlaneNodeSelector": facts.selector} if facts.selector else {}),
            "nodeUpdateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": _AT_ONCE}},
        },
        **placed,
        "priorityClassName": SERVICE,
        "goldmane": {"enabled": False},
        "whisker": {"enabled": False},
    }
