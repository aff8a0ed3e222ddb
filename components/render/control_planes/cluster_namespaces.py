"""Namespaces of a tenant's teams inside its cluster, kept apart by what each cluster has: no kind of a CNI's own.

A NetworkPolicy says nothing of nodes: Kubernetes leaves open whether pods reach the one that they run on.

- Cilium never takes a node for an address, so that what no rule names by an entity is denied
  (cilium/cilium:Documentation/security/policy/layer3.rst).
- Calico asks the policies of a pod before its packets reach the node itself, whose address is left out of what they
  let through (projectcalico/calico:felix/rules/static.go, cali-wl-to-host).
- Kube-OVN has the policy on the port of the pod, whatever its packets are for (KOVN:pkg/controller/network_policy.go).

All let a node reach the pods that run on it, or no probe of a kubelet would pass.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
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
from components.render.workloads import RBAC
from components.specs.base import Address, Network
from components.specs.control_planes.cluster_namespaces import (
    LATEST,
    NamespaceEgress,
    NamespaceIngress,
    NamespaceIsolation,
    NamespaceQuotaSpec,
    NamespaceSpec,
)

DNS_NAMESPACE = "kube-system"
GUARD = "namespace-isolation"
"""Name of the policy that keeps policies of namespaces."""
_ADMISSION = "admissionregistration.k8s.io/v1"
_POLICIES = "networking.k8s.io"
_WRITES = ("CREATE", "UPDATE", "DELETE")
_DNS_PODS = {"podSelector": {"matchLabels": {"k8s-app": "kube-dns"}}}
"""Pods of CoreDNS, as Kamaji and k0s install it (K8S:cmd/kubeadm/app/phases/addons/dns/manifests.go;
K0S:pkg/component/controller/coredns.go)."""
_DNS, _HTTPS = 53, 443
_GPU = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True, kw_only=True)
class TeamNamespace:
    """A namespace with the names by which Kubernetes sees its groups."""

    spec: NamespaceSpec
    groups: Mapping[str, str] = field(default_factory=dict)
    """Group that has each role of Kubernetes' own, by the role."""
    stores: tuple[Network, ...] = ()
    """Networks of the object stores that its pods have keys for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ClusterNamespacesInput:
    """The namespaces of one cluster that its tenant's data list."""

    name: str
    cluster: str
    namespaces: tuple[TeamNamespace, ...]
    api: Address
    """Address of the cluster's control plane."""
    service: Address
    """Address by which pods call it, that of Service ``kubernetes``."""
    inside: tuple[Network, ...]
    """Prefixes of the cluster's nodes, pods and Services."""
    hidden: tuple[Network, ...]
    """Networks of the region that no tenant may see."""
    watchers: tuple[str, ...] = ()
    """Namespaces whose pods read figures of all others."""

    def render(self) -> tuple[Manifest, ...]:
        """Return each namespace, and then what holds in it."""
        closed = any(one.spec.isolation is NamespaceIsolation.DEFAULT_DENY for one in self.namespaces)
        return (
            *(self._namespace(one.spec) for one in self.namespaces),
            *(item for one in self.namespaces for item in self._within(one)),
            *(self._guard() if closed else ()),
        )

    def _guard(self) -> tuple[Manifest, ...]:
        """Return what keeps members of teams from writing policies, of which each one would let more through.

        Kubernetes' role ``edit`` lets them. Whoever may delete the namespace may write its policies: administrators,
        the platform, and the controller that empties a namespace that goes.
        """
        where = {"namespaceSelector": {"matchLabels": {keys.ISOLATION: NamespaceIsolation.DEFAULT_DENY.value}}}
        rule = {
            "apiGroups": [_POLICIES],
            "apiVersions": ["*"],
            "operations": [*_WRITES],
            "resources": ["networkpolicies"],
        }
        allowed = "authorizer.group('').resource('namespaces').name(request.namespace).check('delete').allowed()"
        told = "policies of this namespace are made from the data of the tenant; name there whom it admits"
        spec = {
            "failurePolicy": "Fail",
            "matchConstraints": {"resourceRules": [rule]},
            "validations": [{"expression": allowed, "message": told, "reason": "Forbidden"}],
        }
        bound = {"policyName": GUARD, "validationActions": ["Deny"], "matchResources": where}
        return (
            manifest(_ADMISSION, "ValidatingAdmissionPolicy", GUARD, cluster=self.cluster, spec=spec),
            manifest(_ADMISSION, "ValidatingAdmissionPolicyBinding", GUARD, cluster=self.cluster, spec=bound),
        )

    def _namespace(self, spec: NamespaceSpec) -> Manifest:
        labels = {
            **spec.pod_security.told(spec.pod_security_version or LATEST),
            keys.ISOLATION: spec.isolation.value,
        }
        return namespace(spec.name, labels=labels, cluster=self.cluster)

    def _within(self, one: TeamNamespace) -> Iterator[Manifest]:
        spec = one.spec
        place: dict[str, Any] = {"namespace": spec.name, "cluster": self.cluster}
        if spec.isolation is NamespaceIsolation.DEFAULT_DENY:
            yield manifest(f"{_POLICIES}/v1", "NetworkPolicy", "isolation", **place, spec=self._policy(one))
        if spec.quota is not None:
            yield manifest("v1", "ResourceQuota", "namespace", **place, spec={"hard": _hard(spec.quota)})
        if requests := spec.container_requests:
            asked = {"cpu": f"{requests.millicpus}m", "memory": requests.memory}
            limits = [{"type": "Container", "defaultRequest": asked}]
            yield manifest("v1", "LimitRange", "namespace", **place, spec={"limits": limits})
        for role, group in one.groups.items():
            yield manifest(
                f"{RBAC}/v1",
                "RoleBinding",
                f"team-{role}",
                **place,
                roleRef={"apiGroup": RBAC, "kind": "ClusterRole", "name": role},
                subjects=[{"apiGroup": RBAC, "kind": "Group", "name": group}],
            )

    def _policy(self, one: TeamNamespace) -> dict[str, Any]:
        """Return all that pods of a namespace may do; answers pass with their connection."""
        spec = one.spec
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
                # Some networks judge packets before they know which pod a Service leads to.
                outgoing(within(self.service), ports=(_HTTPS,)),
                *([outgoing(*map(within, one.stores))] if one.stores else []),
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
