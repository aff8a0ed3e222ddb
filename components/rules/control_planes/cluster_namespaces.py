"""Namespaces of teams: names that nobody has, neighbours that are there, and policies that somebody keeps."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from components.inputs.cluster_namespaces import platform_namespaces
from components.lookups.add_ons import add_ons, brings_network
from components.lookups.pools import DataPath, PlacedCluster, clusters, place, problem
from components.render.add_ons import cni
from components.rules.references import undeclared
from components.specs.add_ons.add_ons import Gift
from components.specs.control_planes.cluster_namespaces import (
    NamespaceEgress,
    NamespaceIngress,
    NamespaceIsolation,
    NamespaceSpec,
)
from components.specs.environment import Environment
from components.specs.network.tenant_network import Egress, Ingress
from components.specs.reading.problems import Problem

KUBERNETES = "kube-"
"""Beginning of the names that Kubernetes keeps for itself (K8S:concepts/overview/working-with-objects/namespaces)."""


@dataclass(frozen=True, kw_only=True)
class _Placed:
    """A namespace of a team and where it is written."""

    cluster: PlacedCluster
    spec: NamespaceSpec
    path: DataPath


def reserved_names(environment: Environment) -> Iterator[Problem]:
    """Report namespaces called like one of Kubernetes or of the platform in the same cluster."""
    for one in _namespaces(environment):
        if one.spec.name in platform_namespaces(environment, one.cluster) or one.spec.name.startswith(KUBERNETES):
            text = f"'{one.spec.name}' is a namespace of Kubernetes or the platform, with pods of theirs; rename it"
            yield problem(environment, one.cluster.file, (*one.path, "name"), text)


def admitted(environment: Environment) -> Iterator[Problem]:
    """Report neighbours that are neither in the list of the cluster nor the platform's."""
    for one in _namespaces(environment):
        listed = [other.name for other in one.cluster.cluster.namespaces]
        known = {*listed, *platform_namespaces(environment, one.cluster)}
        for index, name in enumerate(one.spec.admits):
            if name not in known and not name.startswith(KUBERNETES):
                where = f"namespaces of {one.cluster.cluster.name}"
                text = undeclared(name, (other for other in listed if other != one.spec.name), where)
                yield problem(environment, one.cluster.file, (*one.path, "admits", index), text)


def enforced(environment: Environment) -> Iterator[Problem]:
    """Report policies in clusters whose network is not known to keep any; that there is none is told by itself."""
    for one in _namespaces(environment):
        if one.spec.isolation is NamespaceIsolation.NONE or brings_network(one.cluster):
            continue
        charts = {entry.chart for entry in add_ons(environment, one.cluster) if entry.gives is Gift.NETWORK}
        network = one.cluster.cluster.cni_seed or ", ".join(sorted(charts))
        if network and charts.isdisjoint(cni.KEEP_POLICIES):
            text = (
                f"is kept by the network of the cluster, and of {network} it is not known that it keeps policies;"
                " write none"
            )
            yield problem(environment, one.cluster.file, (*one.path, "isolation"), text)


def groups(environment: Environment) -> Iterator[Problem]:
    """Report groups that no token would name, and Kubernetes' own."""
    for one in _namespaces(environment):
        provider = one.cluster.cluster.oidc
        for key, group in one.spec.groups.items():
            if provider is None or provider.groups_claim is None:
                text = "is a group that no token names, since the cluster has no oidc with groups_claim; remove it"
            elif provider.is_kubernetes(group):
                text = "is a group of Kubernetes' own; write one of the tenant"
            else:
                continue
            yield problem(environment, one.cluster.file, (*one.path, key), text)


def edges(environment: Environment) -> Iterator[Problem]:
    """Report namespaces that are open to what their VPC is closed to."""
    for one in _namespaces(environment):
        vpc = one.cluster.vpc
        if vpc is None:
            continue
        closed = {
            "ingress": one.spec.ingress is NamespaceIngress.PUBLIC and vpc.ingress is Ingress.NONE,
            "egress": one.spec.egress is NamespaceEgress.PUBLIC and vpc.egress is Egress.NONE,
        }
        for key in (key for key, is_closed in closed.items() if is_closed):
            there = place(environment, one.cluster.file, one.cluster.vpc_path)
            text = f"is public, and {key} of VPC {vpc.name} is none ({there}); write none"
            yield problem(environment, one.cluster.file, (*one.path, key), text)


def storage_classes(environment: Environment) -> Iterator[Problem]:
    """Report quotas of storage classes that the cluster does not offer."""
    for one in _namespaces(environment):
        offered = one.cluster.cluster.storage
        for name in one.spec.quota.storage if one.spec.quota else ():
            if name not in offered:
                text = undeclared(name, offered, f"storage of {one.cluster.cluster.name}")
                yield problem(environment, one.cluster.file, (*one.path, "quota", "storage", name), text)


def _namespaces(environment: Environment) -> Iterator[_Placed]:
    for placed in clusters(environment):
        for index, spec in enumerate(placed.cluster.namespaces):
            yield _Placed(cluster=placed, spec=spec, path=(*placed.path, "namespaces", index))


RULES = (reserved_names, admitted, enforced, groups, edges, storage_classes)
"""Rules about namespaces that the data give tenants' clusters."""
