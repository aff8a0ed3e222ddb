"""Rules about the registry of a region: its address, and whether nodes can pull the images of their pods."""

from collections import defaultdict
from collections.abc import Iterator

from components.lookups.charts import installed_inside
from components.lookups.network.served import REGISTRY as _ADDRESS
from components.lookups.pools import DataPath, PlacedCluster, clusters, place, problem, tenant_file
from components.render.backends import CONTROL_PLANES, NETWORK_BACKENDS, Filter
from components.render.network.packets import Ports, opened
from components.render.network.vpc import ANYWHERE
from components.rules.region.served_addresses import SERVED_FROM, not_a_host, not_announced, taken
from components.rules.rule import Rules
from components.specs.base import Registry
from components.specs.environment import Environment
from components.specs.network.security_groups import Protocol
from components.specs.network.tenant_network import Egress, VpcSpec
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, listed
from components.specs.region.registry import HTTPS_PORT
from components.specs.region.tenant import TenantSpec

_REGISTRY: DataPath = ("registry",)
_MAX_NAMES = 3


def address(environment: Environment) -> Iterator[Problem]:
    """Report an address of the registry that VPCs have no route to, or that has another owner."""
    registry, plan = environment.region.registry, environment.region.networks
    if registry is None or registry.address is None:
        return
    served = getattr(plan, SERVED_FROM)
    public = any(registry.address in network for network in plan.public)
    name = plan.closed(registry.address) or ("public" if public else "")
    there = f"networks.{name} ({place(environment, REGION, ('networks', name))})"
    if name and name != SERVED_FROM:
        why = "whose addresses VMs get" if public else "which no VPC reaches"
        pick = f"pick an address in networks.{SERVED_FROM} ({served}) or networks.storage ({plan.storage})"
        yield problem(environment, REGION, _ADDRESS, f"{registry.address} is in {there}, {why}; {pick}")
    elif registry.cache:
        yield from not_announced(environment, _ADDRESS, registry.address, "pick an address in it, or remove cache")
    yield from not_a_host(environment, _ADDRESS, registry.address)
    yield from taken(environment, _ADDRESS, registry.address)


def reachable(environment: Environment) -> Iterator[Problem]:
    """Report VPCs whose nodes reach no registry. Their pods, including the CNI, never start.

    Nodes pull from the original registries with ``egress: public``. Otherwise they require ``registry.nodes`` and
    ``registry.address``. Hosts that no DPU filters are not judged. Other rules report DNS servers of nodes that a VPC
    does not reach, and VPCs on OVN without egress.
    """
    missing = _missing(environment)
    users: dict[str, list[str]] = defaultdict(list)
    for placed in clusters(environment):
        users[placed.cluster.vpc].append(placed.cluster.name)
    for tenant in environment.tenants if missing else ():
        for index, vpc in enumerate(tenant.vpcs):
            closed = _closed(tenant, vpc)
            if closed and users[vpc.name] and NETWORK_BACKENDS[vpc.isolation].filters is Filter.HOSTS:
                key, value = closed
                text = (
                    f"{value} leaves nodes of {listed(users[vpc.name], _MAX_NAMES)} without container images;"
                    f" {missing}, or permit TCP port {HTTPS_PORT} to the internet"
                )
                yield problem(environment, tenant_file(tenant), ("vpcs", index, key), text)


def complete(environment: Environment) -> Iterator[Problem]:
    """Report registries of images that the cache does not serve, for clusters whose nodes reach no other registry.

    The images are those of charts, of manifests, of the platform's jobs and of the control-plane backend. Releases
    without ``registries`` in the version vector are not judged.
    """
    registry = environment.region.registry
    if registry is None or registry.cache is None:
        return
    lacking: dict[Registry, dict[str, str]] = defaultdict(dict)
    """Clusters that pull from a registry, each with the first user of its images."""
    for placed in clusters(environment):
        if placed.vpc is not None and _closed(placed.tenant, placed.vpc):
            for user, needed in _pulled(environment, placed):
                for name in needed:
                    if name not in registry.cache.upstreams:
                        lacking[name].setdefault(placed.cluster.name, user)
    for name, users in lacking.items():
        text = (
            f"lacks {name}, from which nodes of {listed(users, _MAX_NAMES)} pull images of"
            f" {next(iter(users.values()))}, and their VPCs do not reach it directly; add {name}"
        )
        yield problem(environment, REGION, (*_REGISTRY, "cache", "upstreams"), text)


def _pulled(environment: Environment, placed: PlacedCluster) -> Iterator[tuple[str, tuple[Registry, ...]]]:
    """Yield the users of images on nodes of a cluster, each with the registries of these images."""
    region, versions = environment.region, environment.versions
    backend = region.control_planes.backend
    yield backend.value, CONTROL_PLANES[backend].registries
    yield "the platform's jobs", tuple(tool.image.partition("/")[0] for tool in versions.tools)
    pulled = {name: chart.registries for name, chart in versions.installed(region.image_channel).items()}
    pulled |= {item.name: item.registries for item in versions.manifests}
    for name in dict.fromkeys(chart for chart, _ in installed_inside(environment, placed)):
        yield name, pulled.get(name, ())


def _missing(environment: Environment) -> str:
    """Return the remedy for a region without a registry that nodes of every VPC use; empty for other regions."""
    registry = environment.region.registry
    if registry is None:
        return f"add registry: {{mirror: ..., nodes: true, address: ...}} to {REGION}"
    required = {"nodes: true": registry.nodes, "address: ...": registry.address is not None}
    absent = [setting for setting, is_set in required.items() if not is_set]
    return f"add {listed(absent)} to registry ({place(environment, REGION, _REGISTRY)})" if absent else ""


def _closed(tenant: TenantSpec, vpc: VpcSpec) -> tuple[str, str] | None:
    """Return the field and value of ``vpc`` that block HTTPS to the internet; None if they permit it."""
    if vpc.egress is Egress.NONE:
        return "egress", vpc.egress.value
    group = next((group for group in tenant.security_groups if group.name == vpc.security_group), None)
    asked = Ports(protocol=Protocol.TCP, far=HTTPS_PORT)
    rules = [(rule, rule.cidr) for rule in (group.egress if group else ()) if rule.cidr is not None]
    permitted = (packets for rule, cidr in rules for packets in opened(rule, (cidr,), inward=False))
    if group is None or any(packets.decides(ANYWHERE, asked) for packets in permitted):
        return None
    return "security_group", f"'{group.name}'"


RULES = Rules(data=(address, reachable), locks=(complete,))
