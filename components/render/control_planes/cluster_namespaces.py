"""Namespaces of a tenant's teams inside its cluster, isolated with standard Kubernetes objects, independent of the CNI.

Nodes are outside the scope of NetworkPolicy: Kubernetes does not specify whether pods can reach their own node.

- Cilium never matches nodes by address, so traffic to nodes is denied unless a rule names an entity
  (cilium/cilium:Documentation/security/policy/layer3.rst).
- Calico applies the policies of a pod to its packets to the node, and the rendered policies do not allow the node's
  address (projectcalico/calico:felix/rules/static.go, cali-wl-to-host).
- Kube-OVN applies the policy at the port of the pod, for any destination (KOVN:pkg/controller/network_policy.go).

All three allow traffic from a node to its pods, since the probes of the kubelet require it.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.control_planes.control_plane import API_PORT
from components.render.manifest import Manifest
from components.render.network.network_peers import (
    SAME_NAMESPACE,
    Peer,
    anywhere,
    in_namespace,
    incoming,
    outgoing,
    within,
)
from components.render.objects import given, manifest, namespace
from components.render.platform_pods import RBAC
from components.specs.base import Address, Network
from components.specs.control_planes.cluster_namespaces import (
    LATEST,
    NamespaceEgress,
    NamespaceIngress,
    NamespaceIsolation,
    NamespaceQuotaSpec,
    NamespaceSpec,
)
from components.specs.struct import Struct, field

DNS_NAMESPACE = "kube-system"
GUARD = "namespace-isolation"
"""Name of the admission policy that protects the NetworkPolicies of namespaces."""
_ADMISSION = "admissionregistration.k8s.io/v1"
_POLICIES = "networking.k8s.io"
_WRITES = ("CREATE", "UPDATE", "DELETE")
_DNS_PODS = {"podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}
"""Pods of CoreDNS, as installed by Kamaji and k0s (K8S:cmd/kubeadm/app/phases/addons/dns/manifests.go;
K0S:pkg/component/controller/coredns.go)."""
_DNS, _HTTPS = 53, 443
_GPU = "nvidia.com/gpu"


class TeamNamespace(Struct):
    """Namespace with the Kubernetes names of its groups."""

    spec: NamespaceSpec
    groups: Mapping[str, str] = field(default_factory=dict)
    """Groups by built-in role of Kubernetes."""
    stores: tuple[Network, ...] = ()
    """Networks of the object stores for which pods of the namespace have access keys."""


class ClusterNamespacesInput(Struct):
    """Namespaces of one cluster, from the data of its tenant."""

    name: str
    cluster: str
    namespaces: tuple[TeamNamespace, ...]
    api: Address
    """Address of the cluster's control plane."""
    service: Address
    """Address of Service ``kubernetes``, which pods use to access the control plane."""
    inside: tuple[Network, ...]
    """Prefixes of the cluster's nodes, pods and Services."""
    hidden: tuple[Network, ...]
    """Networks of the region that tenants must not reach."""
    watchers: tuple[str, ...] = ()
    """Namespaces whose pods scrape metrics in all other namespaces."""

    def render(self) -> tuple[Manifest, ...]:
        """Return all namespaces, then their policies, quotas, limits and role bindings."""
        isolated = any(team.spec.isolation is NamespaceIsolation.DEFAULT_DENY for team in self.namespaces)
        return (
            *(self._namespace(team.spec) for team in self.namespaces),
            *(item for team in self.namespaces for item in self._within(team)),
            *(self._guard() if isolated else ()),
        )

    def _guard(self) -> tuple[Manifest, ...]:
        """Return the admission policy that prevents team members from changing NetworkPolicies.

        Kubernetes' role ``edit`` would permit changes, and an additional NetworkPolicy can only add access. Accounts
        that may delete the namespace may change its policies: administrators, the platform, and the controller that
        deletes the content of a deleted namespace.
        """
        where = {"namespaceSelector": {"matchLabels": {keys.ISOLATION: NamespaceIsolation.DEFAULT_DENY.value}}}
        rule = {
            "apiGroups": [_POLICIES],
            "apiVersions": ["*"],
            "operations": [*_WRITES],
            "resources": ["networkpolicies"],
        }
        allowed = "authorizer.group('').resource('namespaces').name(request.namespace).check('delete').allowed()"
        message = (
            "NetworkPolicies of this namespace are rendered from the tenant's data;"
            " add allowed namespaces to admits there"
        )
        spec = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": allowed, "message": message, "reason": "Forbidden"}],
        }
        binding = {"policyName": GUARD, "validationActions": ["Deny"], "matchResources": where}
        return (
            manifest(_ADMISSION, "ValidatingAdmissionPolicy", GUARD, cluster=self.cluster, spec=spec),
            manifest(_ADMISSION, "ValidatingAdmissionPolicyBinding", GUARD, cluster=self.cluster, spec=binding),
        )

    def _namespace(self, spec: NamespaceSpec) -> Manifest:
        labels = {
            **spec.pod_security.enforcing_labels(spec.pod_security_version or LATEST),
            keys.ISOLATION: spec.isolation.value,
        }
        return namespace(spec.name, labels=labels, cluster=self.cluster)

    def _within(self, team: TeamNamespace) -> Iterator[Manifest]:
        spec = team.spec
        place: dict[str, Any] = {"namespace": spec.name, "cluster": self.cluster}
        if spec.isolation is NamespaceIsolation.DEFAULT_DENY:
            yield manifest(f"{_POLICIES}/v1", "NetworkPolicy", "isolation", **place, spec=self._policy(team))
        if spec.quota is not None:
            yield manifest("v1", "ResourceQuota", "namespace", **place, spec={"hard": _hard(spec.quota)})
        if requests := spec.container_requests:
            defaults = {"cpu": f"{requests.millicpus}m", "memory": requests.memory}
            limits = [{"type": "Container", "defaultRequest": defaults}]
            yield manifest("v1", "LimitRange", "namespace", **place, spec={"limits": limits})
        for role, group in team.groups.items():
            yield manifest(
                f"{RBAC}/v1",
                "RoleBinding",
                f"team-{role}",
                **place,
                roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
                subjects=[{"apiGroup": RBAC, "kind": "Group", "name": group}],
            )

    def _policy(self, team: TeamNamespace) -> dict[str, Any]:
        """Return the allowed connections of a namespace's pods. Replies on these connections are also allowed."""
        spec = team.spec
        outside = anywhere(*self.hidden, *self.inside)
        admitted = dict.fromkeys((*spec.admits, *self.watchers))
        peers: list[Peer] = [SAME_NAMESPACE, *map(in_namespace, admitted)]
        hosts = [other.spec.name for other in self.namespaces if spec.name in other.spec.admits]
        return {
            "podSelector": {},
            "policyTypes": ["Ingress", "Egress"],
            "ingress": [
                incoming(*peers),
                *([incoming(outside)] if spec.ingress is NamespaceIngress.PUBLIC else []),
            ],
            "egress": [
                outgoing(SAME_NAMESPACE, *map(in_namespace, hosts)),
                outgoing({**in_namespace(DNS_NAMESPACE), **_DNS_PODS}, ports=(_DNS,), protocols=("UDP", "TCP")),
                outgoing(within(self.api), ports=(API_PORT,)),
                # Some CNIs apply policies before they resolve a Service to a pod.
                outgoing(within(self.service), ports=(_HTTPS,)),
                *([outgoing(*map(within, team.stores))] if team.stores else []),
                *([outgoing(outside)] if spec.egress is NamespaceEgress.PUBLIC else []),
            ],
        }


def _hard(quota: NamespaceQuotaSpec) -> dict[str, str]:
    bounds = given(
        **{
            "pods": quota.pods,
            "requests.cpu": quota.cpus,
            "requests.memory": quota.memory,
            f"requests.{_GPU}": quota.gpus,
            "services.loadbalancers": quota.load_balancers,
        },
        **{f"{name}.storageclass.storage.k8s.io/requests.storage": size for name, size in quota.storage.items()},
    )
    return {key: str(most) for key, most in bounds.items()}
