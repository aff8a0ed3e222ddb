"""Rules about the registry of a region: its address, and whether nodes can pull the images of their pods."""

from collections import defaultdict
from collections.abc import Iterator

from components.lookups.numbers import as_block, hosts_of
from components.lookups.pools import DataPath, clusters, place, problem, tenant_file
from components.render.backends import NETWORK_BACKENDS, Filter
from components.render.network.packets import Ports, opened
from components.render.network.vpc import ANYWHERE
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.network.security_groups import Protocol
from components.specs.network.tenant_network import Egress, VpcSpec
from components.specs.reading.loader import ALLOCATIONS, REGION
from components.specs.reading.problems import Problem, listed
from components.specs.region.registry import HTTPS_PORT
from components.specs.region.tenant import TenantSpec

_REGISTRY: DataPath = ("registry",)
_ADDRESS: DataPath = ("registry", "address")
_SERVED_FROM = "control_plane_vips"
"""Closed network whose addresses the management cluster announces, and for which VPCs have a route."""
_MAX_NAMES = 3


def address(environment: Environment) -> Iterator[Problem]:
    """Report an address of the registry that VPCs have no route to, or that has another owner."""
    registry, plan = environment.region.registry, environment.region.networks
    if registry is None or registry.address is None:
        return
    served = getattr(plan, _SERVED_FROM)
    public = any(registry.address in network for network in plan.public)
    name = plan.closed(registry.address) or ("public" if public else "")
    there = f"networks.{name} ({place(environment, REGION, ('networks', name))})"
    if name and name != _SERVED_FROM:
        why = "whose addresses VMs get" if public else "which no VPC reaches"
        pick = f"pick an address in networks.{_SERVED_FROM} ({served}) or networks.storage ({plan.storage})"
        yield problem(environment, REGION, _ADDRESS, f"{registry.address} is in {there}, {why}; {pick}")
    elif name and as_block(registry.address) not in hosts_of(served):
        text = f"{registry.address} is the first or last of {there}, not a host address; pick another"
        yield problem(environment, REGION, _ADDRESS, text)
    for cluster, numbers in environment.allocations.clusters.items():
        if numbers.vip == registry.address:
            at = place(environment, ALLOCATIONS, ("clusters", cluster))
            text = f"{registry.address} is the address of control plane {cluster} ({at}); pick another address"
            yield problem(environment, REGION, _ADDRESS, text)


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


RULES = Rules(data=(address, reachable))
