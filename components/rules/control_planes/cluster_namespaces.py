"""Rules about team namespaces: free names, known peers, and isolation that the cluster's network enforces."""

from collections.abc import Iterator

from components.inputs.cluster_namespaces import platform_namespaces
from components.lookups.add_ons import add_ons, brings_network
from components.lookups.pools import DataPath, PlacedCluster, clusters, place, problem
from components.render.add_ons import cni
from components.rules.rule import Rules
from components.specs.add_ons.add_ons import Capability
from components.specs.control_planes.cluster_namespaces import (
    NamespaceEgress,
    NamespaceIngress,
    NamespaceIsolation,
    NamespaceSpec,
)
from components.specs.environment import Environment
from components.specs.network.tenant_network import Egress, Ingress
from components.specs.reading.problems import Problem, undeclared
from components.specs.struct import Struct

KUBERNETES = "kube-"
"""Prefix of the names that Kubernetes reserves (K8S:concepts/overview/working-with-objects/namespaces)."""


class _Placed(Struct):
    """A namespace of a team, with its cluster and path."""

    cluster: PlacedCluster
    spec: NamespaceSpec
    path: DataPath


def reserved_names(environment: Environment) -> Iterator[Problem]:
    """Report namespaces with the name of a Kubernetes or platform namespace in the same cluster."""
    for namespace in _namespaces(environment):
        if namespace.spec.name in platform_namespaces(environment, namespace.cluster) or namespace.spec.name.startswith(
            KUBERNETES
        ):
            text = f"'{namespace.spec.name}' is a namespace of Kubernetes or the platform; rename it"
            yield problem(environment, namespace.cluster.file, (*namespace.path, "name"), text)


def admitted(environment: Environment) -> Iterator[Problem]:
    """Report ``admits`` entries that are neither namespaces of the cluster nor of the platform."""
    for namespace in _namespaces(environment):
        listed = [other.name for other in namespace.cluster.cluster.namespaces]
        known = {*listed, *platform_namespaces(environment, namespace.cluster)}
        for index, name in enumerate(namespace.spec.admits):
            if name not in known and not name.startswith(KUBERNETES):
                where = f"namespaces of {namespace.cluster.cluster.name}"
                text = undeclared(name, (other for other in listed if other != namespace.spec.name), where)
                yield problem(environment, namespace.cluster.file, (*namespace.path, "admits", index), text)


def enforced(environment: Environment) -> Iterator[Problem]:
    """Report isolation in clusters whose network does not support NetworkPolicy."""
    for namespace in _namespaces(environment):
        if namespace.spec.isolation is NamespaceIsolation.NONE or brings_network(namespace.cluster):
            continue
        charts = {entry.chart for entry in add_ons(environment, namespace.cluster) if entry.gives is Capability.NETWORK}
        network = namespace.cluster.cluster.cni_seed or ", ".join(sorted(charts))
        if network and charts.isdisjoint(cni.KEEP_POLICIES):
            text = (
                f"is enforced by the network of the cluster, but {network} is not known to support NetworkPolicy; write"
                " none"
            )
            yield problem(environment, namespace.cluster.file, (*namespace.path, "isolation"), text)


def groups(environment: Environment) -> Iterator[Problem]:
    """Report groups in clusters whose tokens contain no groups, and groups reserved by Kubernetes."""
    for namespace in _namespaces(environment):
        provider = namespace.cluster.cluster.oidc
        for key, group in namespace.spec.groups.items():
            if provider is None or provider.groups_claim is None:
                text = (
                    "requires oidc with groups_claim in the cluster, because no token contains groups otherwise; remove"
                    " it"
                )
            elif provider.is_kubernetes(group):
                text = "is a group reserved by Kubernetes; write a group of the tenant"
            else:
                continue
            yield problem(environment, namespace.cluster.file, (*namespace.path, key), text)


def edges(environment: Environment) -> Iterator[Problem]:
    """Report namespaces with public ingress or egress in a VPC that does not allow it."""
    for namespace in _namespaces(environment):
        vpc = namespace.cluster.vpc
        if vpc is None:
            continue
        closed = {
            "ingress": namespace.spec.ingress is NamespaceIngress.PUBLIC and vpc.ingress is Ingress.NONE,
            "egress": namespace.spec.egress is NamespaceEgress.PUBLIC and vpc.egress is Egress.NONE,
        }
        for key in (key for key, is_closed in closed.items() if is_closed):
            there = place(environment, namespace.cluster.file, namespace.cluster.vpc_path)
            text = f"is public, but {key} of VPC {vpc.name} is none ({there}); write none"
            yield problem(environment, namespace.cluster.file, (*namespace.path, key), text)


def storage_classes(environment: Environment) -> Iterator[Problem]:
    """Report quotas of storage classes that the cluster does not offer."""
    for namespace in _namespaces(environment):
        offered = namespace.cluster.cluster.storage
        for name in namespace.spec.quota.storage if namespace.spec.quota else ():
            if name not in offered:
                text = undeclared(name, offered, f"storage of {namespace.cluster.cluster.name}")
                yield problem(environment, namespace.cluster.file, (*namespace.path, "quota", "storage", name), text)


def _namespaces(environment: Environment) -> Iterator[_Placed]:
    for placed in clusters(environment):
        for index, spec in enumerate(placed.cluster.namespaces):
            yield _Placed(cluster=placed, spec=spec, path=(*placed.path, "namespaces", index))


RULES = Rules(data=(reserved_names, admitted, enforced, groups, edges, storage_classes))
