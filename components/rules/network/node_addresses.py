"""Rules about node addresses in VPCs: backend support, a named port, and reachable DNS and NTP servers."""

import datetime as dt
from collections.abc import Iterator

from components.intents.node_networks import addressed
from components.lookups.pools import DataPath, place, pools, problem
from components.render.backends import BARE_METAL, CONTROL_PLANES, NETWORK_BACKENDS
from components.rules.rule import AdvisoryPeriod, Rules, advisory
from components.specs.base import Address, Stage
from components.specs.environment import Environment
from components.specs.network.tenant_network import Egress, VpcSpec
from components.specs.reading.loader import INSTANCE_TYPES, REGION
from components.specs.reading.problems import Problem, listed

_AT: DataPath = ("nodes", "addresses")
_MAX_NAMES = 3
_MAX_RESOLVERS = 3


def handed_over(environment: Environment) -> Iterator[Problem]:
    """Report node addresses with unsupported backends: only Metal3 with nodes that join by kubeadm supports them."""
    region = environment.region
    metal, control_planes = region.bare_metal.backend, region.control_planes.backend
    able = BARE_METAL[metal].data_template is not None and CONTROL_PLANES[control_planes].takes_addresses
    if region.nodes.addresses is not None and not able:
        text = f"hosts of {metal} under control planes of {control_planes} do not support it; remove it"
        yield problem(environment, REGION, _AT, text)


def required(environment: Environment) -> Iterator[Problem]:
    """Report a production region whose hosts on HBN get no address.

    Nodes of these hosts could join only from the boot network, which is closed after the deployment.
    """
    region = environment.region
    able = BARE_METAL[region.bare_metal.backend].data_template is not None
    able = able and CONTROL_PLANES[region.control_planes.backend].takes_addresses
    if region.stage is not Stage.PRODUCTION or region.nodes.addresses is not None or not able:
        return
    linked = [placed.key for placed in pools(environment) if placed.vpc and _linked(placed.vpc)]
    if linked:
        text = (
            f"is required in production, because hosts of {listed(linked, _MAX_NAMES)} have no address in their VPC"
            " without it; write the name servers that their nodes use, such as {dns: [10.2.0.53]}"
        )
        yield problem(environment, REGION, _AT, text)


def _linked(vpc: VpcSpec) -> bool:
    return NETWORK_BACKENDS[vpc.isolation].link_per_host


@advisory(AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1)))
def resolvers(environment: Environment) -> Iterator[Problem]:
    """Report DNS servers beyond the first three, which nodes and pods do not use: glibc (MAXNS), and the kubelet.

    The kubelet also creates an event for each pod that has the servers of its node (DNSConfigForming,
    kubernetes/kubernetes:pkg/kubelet/network/dns/dns.go).
    """
    addresses = environment.region.nodes.addresses
    if addresses is not None and len(addresses.dns) > _MAX_RESOLVERS:
        used = listed(map(str, addresses.dns[:_MAX_RESOLVERS]))
        text = (
            f"has {len(addresses.dns)} servers, and nodes and pods use the first {_MAX_RESOLVERS} only; write [{used}],"
            " or other servers"
        )
        yield problem(environment, REGION, (*_AT, "dns"), text)


def interfaces(environment: Environment) -> Iterator[Problem]:
    """Report instance types without a port name whose nodes get an address."""
    kinds, reported = environment.instance_types.by_name, set[str]()
    for placed in pools(environment):
        name = placed.pool.instance_type
        if (
            name in kinds
            and name not in reported
            and addressed(environment, placed)
            and kinds[name].dpu.interface is None
        ):
            reported.add(name)
            path = ("instance_types", environment.instance_types.instance_types.index(kinds[name]), "dpu", "interface")
            text = (
                f"is required for {name}, whose nodes in {placed.key} get an address"
                f" ({place(environment, REGION, _AT)}); write the interface name of the DPU's first function, as"
                " inspection reports it, such as enp1s0f0np0"
            )
            yield problem(environment, INSTANCE_TYPES, path, text)


def services(environment: Environment) -> Iterator[Problem]:
    """Report DNS and NTP servers that nodes of a VPC on HBN cannot reach."""
    addresses_spec = environment.region.nodes.addresses
    closed = [
        vpc.name for tenant in environment.tenants for vpc in tenant.vpcs if _linked(vpc) and vpc.egress is Egress.NONE
    ]
    for key, addresses in (("dns", addresses_spec.dns), ("ntp", addresses_spec.ntp)) if addresses_spec else ():
        for index, address in enumerate(addresses):
            why = _unreached(environment, address, closed)
            if why:
                text = f"{address} is {why}; pick an address in networks.storage or networks.border.networks"
                yield problem(environment, REGION, (*_AT, key, index), text)


def _unreached(environment: Environment, address: Address, closed: list[str]) -> str:
    """Return why nodes of a VPC cannot reach ``address``; ``closed`` lists VPCs without egress."""
    plan = environment.region.networks
    name = plan.closed(address)
    if name is not None:
        return f"in networks.{name} ({getattr(plan, name)}), which no VPC reaches"
    if closed and not any(
        address in network for network in (plan.storage, *(plan.border.networks if plan.border else ()))
    ):
        return f"outside the networks that VPCs without egress reach ({listed(closed, _MAX_NAMES)})"
    return ""


RULES = Rules(data=(handed_over, required, resolvers, interfaces, services))
