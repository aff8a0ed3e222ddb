"""Rules about several clusters in a VPC: all clusters but one have separate, immutable prefixes."""

from collections import Counter, defaultdict
from collections.abc import Iterator

from components.lookups.network.fabrics import connected
from components.lookups.pools import PlacedCluster, clusters, place, problem, tenant_file
from components.render.backends import NETWORK_BACKENDS
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.network.tenant_network import MorePrefixSpec, PrefixKind
from components.specs.reading.loader import ALLOCATIONS
from components.specs.reading.problems import Problem, listed, suggestion

_OF_CLUSTERS = (PrefixKind.PODS, PrefixKind.SERVICES, PrefixKind.LOAD_BALANCERS)
"""Kinds of prefixes that a cluster does not share."""


def same_prefixes(environment: Environment) -> Iterator[Problem]:
    """Report clusters that share the prefixes of a VPC: their pods would get the same addresses."""
    first: dict[tuple[str, str], str] = {}
    for placed in _settled_first(environment):
        name, key = placed.cluster.name, (placed.tenant.tenant, placed.cluster.vpc)
        vpc = placed.vpc
        several = vpc is not None and NETWORK_BACKENDS[vpc.isolation].several_clusters
        if several and vpc is not None and vpc.has_own(name):
            continue
        if key in first:
            remedy = "use a separate VPC for this cluster"
            if several:
                remedy += f", or add separate prefixes to more_prefixes there with cluster: {name}"
            text = f"VPC '{placed.cluster.vpc}' already has cluster {first[key]}; {remedy}"
            yield problem(environment, placed.file, (*placed.path, "vpc"), text)
        first.setdefault(key, name)


def _settled_first(environment: Environment) -> list[PlacedCluster]:
    """Return all clusters in the order of the data, with new clusters last."""
    return sorted(clusters(environment), key=lambda placed: placed.cluster.name not in environment.allocations.clusters)


def references(environment: Environment) -> Iterator[Problem]:
    """Report additional prefixes for clusters that are not in the VPC."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            there = [cluster.name for cluster in tenant.clusters if cluster.vpc == vpc.name]
            for at, more in enumerate(vpc.more_prefixes):
                if more.cluster is not None and more.cluster not in there:
                    text = (
                        f"'{more.cluster}' is not a cluster in VPC {vpc.name} (there: {listed(there)}); write one of"
                        f" these, or remove the prefix{suggestion(more.cluster, there)}"
                    )
                    path = ("vpcs", index, "more_prefixes", at, "cluster")
                    yield problem(environment, tenant_file(tenant), path, text)


def kinds(environment: Environment) -> Iterator[Problem]:
    """Report clusters with incomplete separate prefixes, and prefixes that cannot be used."""
    for tenant in environment.tenants:
        for index, vpc in enumerate(tenant.vpcs):
            path, kinds_by_cluster = ("vpcs", index, "more_prefixes"), defaultdict[str, Counter[PrefixKind]](Counter)
            for at, more in enumerate(vpc.more_prefixes):
                if more.cluster is not None:
                    kinds_by_cluster[more.cluster][more.kind] += 1
                wrong = _unusable(more, 0 if more.cluster is None else kinds_by_cluster[more.cluster][more.kind])
                if wrong:
                    text = f"'{more.name}' is for {more.kind}, {wrong}; remove it"
                    yield problem(environment, tenant_file(tenant), (*path, at), text)
            for cluster, has in kinds_by_cluster.items():
                lacking = [kind for kind in _OF_CLUSTERS if not has[kind]]
                if lacking:
                    text = f"has prefixes for {cluster}, but none for its {listed(lacking)}; add these"
                    yield problem(environment, tenant_file(tenant), path, text)


def _unusable(more: MorePrefixSpec, count: int) -> str:
    """Return why the prefix ``more`` is unusable; ``count`` is its number among prefixes of its kind and cluster."""
    if more.kind is PrefixKind.SERVICES and more.cluster is None:
        return "whose range is immutable: only a further cluster has a separate one"
    if more.kind is PrefixKind.SERVICES and count > 1:
        return f"of which {more.cluster} has one immutable range"
    if more.kind is PrefixKind.HOSTS and more.cluster is not None:
        return f"but has cluster: {more.cluster}, while all clusters of a VPC share its prefixes for hosts"
    return ""


def kept(environment: Environment) -> Iterator[Problem]:
    """Report clusters whose declared prefixes differ from the prefixes in use."""
    for placed in clusters(environment):
        old, name = environment.allocations.clusters.get(placed.cluster.name), placed.cluster.name
        for index, vpc in enumerate(placed.tenant.vpcs):
            allocation = environment.allocations.vpcs.get(vpc.name)
            if old is None or allocation is None or old.tenant != placed.tenant.tenant or old.vpc != vpc.name:
                continue
            had = {more: prefix for more, prefix in allocation.more_prefixes.items() if prefix.cluster == name}
            path, now = ("vpcs", index, "more_prefixes"), {more.name for more in vpc.more_prefixes}
            there = place(environment, ALLOCATIONS, ("vpcs", vpc.name))
            if not had and vpc.name == placed.cluster.vpc and vpc.has_own(name):
                text = f"has prefixes for {name}, which runs with the prefixes of the VPC ({there}); remove them"
                yield problem(environment, placed.file, path, text)
            for more in had:
                there = place(environment, ALLOCATIONS, ("vpcs", vpc.name, "more_prefixes", more))
                if more not in now:
                    text = f"lacks '{more}' of {name}, which runs with it ({there}); restore it"
                    yield problem(environment, placed.file, path, text)


def partitions(environment: Environment) -> Iterator[Problem]:
    """Report clusters that would share an InfiniBand partition: each cluster reports members to the fabric manager."""
    first: dict[str, str] = {}
    for placed in _settled_first(environment):
        name = placed.cluster.vpc
        if not connected(environment, placed):
            continue
        if name in first:
            text = (
                f"{placed.cluster.name} has InfiniBand ports, but {first[name]} manages the partition of VPC {name};"
                " use a separate VPC for this cluster"
            )
            yield problem(environment, placed.file, (*placed.path, "vpc"), text)
        first.setdefault(name, placed.cluster.name)


RULES = Rules(references=(references,), data=(same_prefixes, kinds, kept, partitions))
