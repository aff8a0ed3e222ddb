"""Pod networks with Cilium or Calico for clusters whose VPC has no CNI, sized by the maximum number of nodes.

Pod addresses are not routed outside the cluster. Packets between nodes are encapsulated in VXLAN, which works on any
network that connects the hosts. Nodes therefore run no BGP for pods, and there is no mesh or route reflector that
limits the cluster size. Kamaji and k0s install kube-proxy, which implements Services, and CoreDNS; k0s is configured to
install no network (``provider: custom``).

The first node can become ready because no component waits for a ready node: Flux installs charts from outside the
cluster, and agents and operators run on the host network, tolerate all taints, and use the API server's own address.
"""

from typing import Any

from components.render.add_ons.cluster_facts import ClusterFacts
from components.render.add_ons.pod_priorities import SERVICE
from components.render.control_planes.control_plane import API_PORT
from components.render.pod_placement import EVERY_NODE

CILIUM = "cilium"
CALICO = "tigera-operator"
TAKE_MORE_PODS = (CILIUM,)
"""Charts whose networks support more than one pod prefix.

Cilium's operator assigns node prefixes from a list that may grow
(cilium/cilium:Documentation/network/concepts/ipam/cluster-pool.rst), and its agents forward pod traffic to Services.
Calico relies on kube-proxy, for which kubeadm configures a single pod prefix: it would masquerade pods of other
prefixes with their node's address, which policies do not match (kubernetes/kubernetes:pkg/proxy/iptables/proxier.go).
"""
DUAL_STACK = (CILIUM,)
"""Charts whose networks support IPv6 pods on IPv4-only hosts.

Cilium encapsulates packets of both families in VXLAN over IPv4, and requires a node address of one family only
(cilium/cilium:pkg/node/address.go, ValidatePostInit). Calico does not support tunnels for IPv6 over IPv4
(projectcalico/calico#7422): its agents would not start.
"""
CALICO_NAMESPACES = ("calico-apiserver", "calico-system")
"""Namespaces that Calico's operator creates in addition to its own (tigera/operator:pkg/render)."""
KEEP_POLICIES = (CILIUM, CALICO)
"""Charts whose agents enforce NetworkPolicies in both directions."""
POD_PREFIX_PER_NODE = 24
"""Prefix length of a node's part of the pod prefix."""
POD_PREFIX_PER_NODE_IPV6 = 64
"""Prefix length of a node's part of the IPv6 pod prefix, the default of Kubernetes."""
_CALICO_BLOCK = 26
"""Prefix length of the blocks that Calico assigns to nodes on demand (its default)."""
_MANY_NODES = 200
"""Number of nodes above which Cilium's scalability report recommends other settings."""
_MAX_UNAVAILABLE = "10%"
"""Share of agents that an upgrade restarts simultaneously; pods on their nodes keep running."""


def cilium(facts: ClusterFacts) -> dict[str, Any]:
    """Return the values of Cilium.

    Above 200 nodes, health probes between agents are disabled, since the number of probes grows quadratically. Agents
    then watch endpoint slices instead of single pods (Cilium's scalability report).
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
        # With exclusive: true, Cilium would disable the configuration of Multus.
        "cni": {"exclusive": not facts.attachments},
        "tolerations": EVERY_NODE,
        "updateStrategy": {"rollingUpdate": {"maxUnavailable": _MAX_UNAVAILABLE}},
        "operator": {"replicas": 2, **facts.early_placement},
        # Hubble is disabled: its data is not used, and each upgrade would regenerate its certificates.
        "hubble": {"enabled": False},
        "ciliumEndpointSlice": {"enabled": many},
        "healthChecking": not many,
        "endpointHealthChecking": {"enabled": not many},
    }


def calico(facts: ClusterFacts) -> dict[str, Any]:
    """Return the values of Calico's operator. The operator scales Typha: one replica per 200 nodes, plus spares."""
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
            "nodeUpdateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": _MAX_UNAVAILABLE}},
        },
        **placed,
        "priorityClassName": SERVICE,
        "goldmane": {"enabled": False},
        "whisker": {"enabled": False},
    }
