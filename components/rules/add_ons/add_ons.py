"""Rules about add-ons: declared, with all dependencies, and on suitable nodes."""

from collections.abc import Iterator

from components.intents.compute_domains import LEAST_KUBERNETES, offers_compute_domains, too_old
from components.lookups.add_ons import (
    DEFAULT,
    add_ons,
    brings_network,
    has_gpus,
    is_default,
    named,
    nvlink,
    takes_defaults,
    uses_gpus,
)
from components.lookups.network.fabrics import connected, handed_out
from components.lookups.pools import DataPath, PlacedCluster, clusters, place, pools, problem, vms_of, wanted_nodes
from components.rules.rule import Rules
from components.specs.add_ons.add_ons import Capability
from components.specs.environment import Environment
from components.specs.pools.node_pool import LEAST_SYSTEM_NODES, PoolRole
from components.specs.reading.loader import ADD_ONS, IMAGES, INSTANCE_TYPES, VERSIONS
from components.specs.reading.problems import Problem, listed, one_of, suggestion, undeclared


def add_on_references(environment: Environment) -> Iterator[Problem]:
    """Report undeclared charts and add-ons."""
    charts = [chart.name for chart in environment.versions.charts]
    declared = [entry.name for entry in environment.add_ons.add_ons]
    for index, entry in enumerate(environment.add_ons.add_ons):
        if entry.name == DEFAULT:
            text = f"'{DEFAULT}' is reserved for all default add-ons; rename it"
            yield problem(environment, ADD_ONS, ("add_ons", index, "name"), text)
        if entry.chart not in charts:
            text = f"'{entry.chart}' is not in charts of {VERSIONS}; add it there{suggestion(entry.chart, charts)}"
            yield problem(environment, ADD_ONS, ("add_ons", index, "chart"), text)
        for at, name in enumerate(entry.needs):
            if name not in declared:
                path = ("add_ons", index, "needs", at)
                yield problem(environment, ADD_ONS, path, undeclared(name, declared, "this file"))
    for placed in clusters(environment):
        for where, name in _names(placed):
            if name not in declared:
                unknown = undeclared(name, declared, ADD_ONS)
                yield problem(environment, placed.file, (*placed.path, *where), unknown)


def _names(placed: PlacedCluster) -> Iterator[tuple[DataPath, str]]:
    """Yield the add-ons named by a cluster, each with its path within the cluster."""
    chosen = placed.cluster.add_ons
    for at, name in enumerate(() if chosen == DEFAULT else chosen):
        if name != DEFAULT:
            yield ("add_ons", at), name
    for name in placed.cluster.without_add_ons:
        yield ("without_add_ons", name), name


def without_in_vain(environment: Environment) -> Iterator[Problem]:
    """Report entries of ``without_add_ons`` that have no effect."""
    declared = {entry.name for entry in environment.add_ons.add_ons}
    defaults = {entry.name for entry in environment.add_ons.add_ons if is_default(environment, entry)}
    for placed in clusters(environment):
        for name in filter(declared.__contains__, placed.cluster.without_add_ons):
            why = ""
            if name in named(placed.cluster):
                why = "add_ons lists it too"
            elif not takes_defaults(placed.cluster):
                why = "add_ons is the complete list of the cluster"
            elif name not in defaults:
                why = "it is not a default add-on"
            if why:
                path = (*placed.path, "without_add_ons", name)
                yield problem(environment, placed.file, path, f"has no effect, because {why}; remove it")


def networks(environment: Environment) -> Iterator[Problem]:
    """Report clusters without a pod network, and capabilities that two add-ons of a cluster provide."""
    for placed in clusters(environment):
        path, chosen = (*placed.path, "add_ons"), add_ons(environment, placed)
        for capability in Capability:
            providers = [entry.name for entry in chosen if entry.gives is capability]
            if len(providers) > 1:
                text = f"{listed(providers)} each provide {capability}, but a cluster has one add-on for it; pick one"
                yield problem(environment, placed.file, path, text)
        providers = [entry.name for entry in chosen if entry.gives is Capability.NETWORK]
        other = _other_network(placed)
        if providers and other:
            text = f"{providers[0]} provides a network, but {other} has one already; remove {providers[0]} from add_ons"
            yield problem(environment, placed.file, path, text)
        if not providers and not other:
            yield _no_network(environment, placed)


def _other_network(placed: PlacedCluster) -> str:
    if brings_network(placed):
        return f"VPC {placed.cluster.vpc}"
    return "" if placed.cluster.cni_seed is None else f"cni_seed {placed.cluster.cni_seed}"


def _no_network(environment: Environment, placed: PlacedCluster) -> Problem:
    known = {entry.name: entry for entry in environment.add_ons.add_ons if entry.gives is Capability.NETWORK}
    omitted = next((name for name in placed.cluster.without_add_ons if name in known), None)
    path = ("add_ons",) if omitted is None else ("without_add_ons", omitted)
    remedy = f"list {one_of(known)}" if known else _new(Capability.NETWORK)
    text = (
        f"no add-on provides a network (CNI) for pods of {placed.cluster.name}: no node becomes ready, and each is"
        f" rebooted and replaced as unhealthy; {remedy}, or write cni_seed"
    )
    return problem(environment, placed.file, (*placed.path, *path), text)


def add_on_cycles(environment: Environment) -> Iterator[Problem]:
    """Report add-ons with cyclic ``needs``: no add-on of a cycle could be installed first."""
    needs = {entry.name: set(entry.needs) for entry in environment.add_ons.add_ons}
    while done := [name for name in needs if not needs[name] & needs.keys() or not _needed(name, needs)]:
        for name in done:
            del needs[name]
    for index, entry in enumerate(environment.add_ons.add_ons):
        waiting = [name for name in entry.needs if name in needs]
        if entry.name in needs:
            text = f"{entry.name} waits for {listed(waiting)}, which in turn waits for it; remove one of the needs"
            yield problem(environment, ADD_ONS, ("add_ons", index, "needs"), text)


def _needed(name: str, needs: dict[str, set[str]]) -> bool:
    return any(name in others for others in needs.values())


def add_on_needs(environment: Environment) -> Iterator[Problem]:
    """Report add-ons in clusters that lack the required add-ons, GPUs or NVLink."""
    every = {entry.name: entry for entry in environment.add_ons.add_ons}
    for placed in clusters(environment):
        chosen = add_ons(environment, placed)
        names = [entry.name for entry in chosen]
        unknown = not _known(environment, placed)
        gpus, spans = has_gpus(environment, placed) or unknown, nvlink(environment, placed) or unknown
        for_containers = uses_gpus(environment, placed, for_vms=False) or unknown
        for entry in chosen:
            path = (*placed.path, "add_ons")
            there = place(environment, ADD_ONS, ("add_ons", environment.add_ons.add_ons.index(entry)))
            missing = [name for name in entry.needs if name in every and name not in names]
            if missing:
                text = f"{entry.name} needs {listed(missing)} ({there}), which the cluster does not have; list it too"
                yield problem(environment, placed.file, path, text)
            if entry.gpu_only and not gpus:
                text = f"{entry.name} requires nodes with GPUs ({there}), but no pool has any; remove it"
                yield problem(environment, placed.file, path, text)
            elif entry.gpu_only and not for_containers:
                text = (
                    f"{entry.name} requires a GPU driver ({there}), but images of all pools with GPUs reserve them for"
                    f" VMs (contents.vfio_devices, {IMAGES}); remove it"
                )
                yield problem(environment, placed.file, path, text)
            if entry.nvlink_only and not spans:
                text = (
                    f"{entry.name} requires instance types with GPUs and scale: rack ({there}), but no pool has one;"
                    " remove it"
                )
                yield problem(environment, placed.file, path, text)


def compute_domains(environment: Environment) -> Iterator[Problem]:
    """Report clusters with compute domains whose Kubernetes version does not serve the API of device claims."""
    served = [version for version in environment.versions.kubernetes if not too_old(version, LEAST_KUBERNETES)]
    for placed in clusters(environment):
        if too_old(placed.cluster.version, LEAST_KUBERNETES) and offers_compute_domains(
            environment, placed.cluster.name
        ):
            remedy = f"pick {one_of(served)}" if served else f"add one to kubernetes of {VERSIONS}"
            text = (
                f"NVIDIA's DRA driver, which provides {Capability.COMPUTE_DOMAINS}, requires {LEAST_KUBERNETES} or"
                f" later, which serves resource.k8s.io/v1; {remedy}"
            )
            yield problem(environment, placed.file, (*placed.path, "version"), text)


def load_balancers(environment: Environment) -> Iterator[Problem]:
    """Report public addresses of VMs in clusters where no add-on announces them."""
    for placed in clusters(environment):
        vms, remedy = placed.tenant.vms, _lacks(environment, placed, Capability.LOAD_BALANCERS)
        for at, machine in vms_of(placed.tenant) if vms and vms.cluster == placed.cluster.name else ():
            if machine.public_ip and remedy:
                text = (
                    f"no add-on of {placed.cluster.name} provides {Capability.LOAD_BALANCERS}, so the address is not"
                    f" announced; {remedy}"
                )
                yield problem(environment, placed.file, (*at, "public_ip"), text)


def node_features(environment: Environment) -> Iterator[Problem]:
    """Report clusters on InfiniBand or RoCE without an add-on that labels nodes for the Network Operator."""
    for placed in clusters(environment):
        if handed_out(environment, placed) and (remedy := _lacks(environment, placed, Capability.NODE_FEATURES)):
            fabric = "InfiniBand" if connected(environment, placed) else "RoCE"
            text = (
                f"{placed.cluster.name} is on {fabric}, but no add-on provides {Capability.NODE_FEATURES}, which the"
                f" Network Operator needs to find adapters; {remedy}"
            )
            yield problem(environment, placed.file, (*placed.path, "add_ons"), text)


def shared_gpus(environment: Environment) -> Iterator[Problem]:
    """Report pools with GPU sharing in clusters without an add-on that partitions or time-slices GPUs."""
    for placed in pools(environment):
        if placed.pool.gpu_sharing and (remedy := _lacks(environment, placed.placed_cluster, Capability.GPUS)):
            text = f"no add-on of {placed.cluster.name} provides {Capability.GPUS}, so they are not shared; {remedy}"
            yield problem(environment, placed.file, (*placed.path, "gpu_sharing"), text)


def _lacks(environment: Environment, placed: PlacedCluster, capability: Capability) -> str:
    """Return the remedy that adds ``capability`` to a cluster; empty if the cluster has the capability."""
    if any(entry.gives is capability for entry in add_ons(environment, placed)):
        return ""
    providers = [entry.name for entry in environment.add_ons.add_ons if entry.gives is capability]
    return f"list {one_of(providers)} in its add_ons" if providers else _new(capability)


def _new(capability: Capability) -> str:
    return f"add one with gives: {capability} to {ADD_ONS}"


def _known(environment: Environment, placed: PlacedCluster) -> bool:
    return all(pool.instance_type in environment.instance_types.by_name for pool in placed.cluster.pools)


def system_pools(environment: Environment) -> Iterator[Problem]:
    """Report clusters with add-ons but no nodes to run them on, and system pools with unused GPUs."""
    kinds = environment.instance_types.by_name
    for placed in clusters(environment):
        system = [(at, pool) for at, pool in enumerate(placed.cluster.pools) if pool.role is PoolRole.SYSTEM]
        for at, pool in system:
            kind = kinds.get(pool.instance_type)
            if kind and kind.gpu:
                plain = [name for name, other in kinds.items() if not other.gpu]
                remedy = f"pick {one_of(plain)}" if plain else f"add a type without any to {INSTANCE_TYPES}"
                text = f"a system pool must not have GPUs, {kind.name} has {kind.gpu.count}; {remedy}"
                yield problem(environment, placed.file, (*placed.path, "pools", at, "instance_type"), text)
        if 0 < sum(wanted_nodes(environment, pool) for _, pool in system) < LEAST_SYSTEM_NODES:
            text = (
                f"{placed.cluster.name} has one node of role system, so its DNS and add-ons are unavailable while that"
                f" node is replaced; write {LEAST_SYSTEM_NODES} or more"
            )
            yield problem(environment, placed.file, (*placed.path, "pools", system[0][0], "nodes"), text)
        chosen = add_ons(environment, placed)
        if chosen and not system and takes_defaults(placed.cluster):
            text = (
                f"no pool has role system, which runs add-ons ({listed(entry.name for entry in chosen)}); add a pool of"
                " CPU nodes with role: system, or list in add_ons the add-ons that may run next to the tenant's jobs"
            )
            yield problem(environment, placed.file, (*placed.path, "pools"), text)


RULES = Rules(
    data=(
        add_on_references,
        add_on_cycles,
        add_on_needs,
        without_in_vain,
        networks,
        compute_domains,
        load_balancers,
        node_features,
        shared_gpus,
        system_pools,
    )
)
