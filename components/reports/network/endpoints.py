"""Ends of a path through a region's networks: what people call them, whose they are, and where."""

from __future__ import annotations

import re
from collections.abc import Iterator
from ipaddress import IPv6Address

from components.inputs.tenant_network import vpcs
from components.lookups.pools import clusters, pools
from components.render.network.packets import Ports
from components.render.network.vpc import ANYWHERE
from components.specs.base import Address, Network, Spec
from components.specs.environment import Environment
from components.specs.keys import vm_key
from components.specs.network.security_groups import Protocol
from components.specs.network.vpc_allocation import PREFIXES
from components.specs.reading.problems import listed, suggestion

SHARED = ("management", "bmc", "boot", "storage", "dpu_loopbacks", "ovn")
"""Networks of the region that are ends by their own name."""
INTERNET, PUBLIC = "internet", "public"
_MAX_LISTED = 8
_PORTS = range(1, 65_536)
_PORT = re.compile(r"icmp|(?P<protocol>tcp|udp)/(?P<port>[0-9]{1,5})")


class UnknownEndError(LookupError):
    """Nothing of the region is called so; the text says what is."""


class UnknownPortError(ValueError):
    """No protocol and port is written so; the text says how they are."""


class Endpoint(Spec):
    """One end of a path."""

    name: str
    """What it is called: ``pod:acme-train``, ``storage``, or an address."""
    address: Network
    """Address of the end, or the network that it is in; ``0.0.0.0/0`` is the internet."""
    where: str
    """What the address is of: a prefix of a VPC, ``public``, ``api``, a network of the region, ``internet``, or
    ``nobody``."""
    vpc: str | None = None
    """VPC that it is in."""
    cluster: str | None = None
    """Cluster whose control plane it is, or whose pods are there."""
    namespace: str | None = None
    """Namespace of a team that its pods are in."""


def ports(text: str) -> Ports:
    """Return what ``text`` asks of, as the one sees it who opens a connection: ``tcp/443``, ``udp/53`` or ``icmp``.

    Raises:
        UnknownPortError: it is none of them.
    """
    match = _PORT.fullmatch(text)
    if match is None or int(match["port"] or 1) not in _PORTS:
        number = text if text.isdecimal() and int(text) in _PORTS else ""
        remedy = f"tcp/{number} or udp/{number}" if number else "tcp/443, udp/53 or icmp"
        msg = f"'{text}' is no protocol and port; write {remedy}"
        raise UnknownPortError(msg)
    return Ports(protocol=Protocol(match["protocol"] or text), far=int(match["port"]) if match["port"] else None)


def endpoint(environment: Environment, name: str) -> Endpoint:
    """Return the end that ``name`` stands for: a name of `named`, or an address.

    One of IPv6 is no end: no step is between two of one cluster, and nothing is reached from any other.

    Raises:
        KeyError: the lock files do not fit the data; ``components.rules.checks`` says where.
        UnknownEndError: it stands for nothing.
    """
    known = {one.name: one for one in named(environment)}
    if name in known:
        return known[name]
    if told := _ipv6(environment, name):
        raise UnknownEndError(told)
    try:
        address = Network(Address(name))
    except ValueError:
        forms = "host:CLUSTER/POOL, pod:CLUSTER, pod:CLUSTER/NAMESPACE, vm:CLUSTER/VM, api:CLUSTER, an address"
        names = listed(known, _MAX_LISTED)
        msg = f"'{name}' is no end of a path ({forms}, or one of: {names}){suggestion(name, known)}"
        raise UnknownEndError(msg) from None
    return _at(environment, name, address)


def named(environment: Environment) -> Iterator[Endpoint]:
    """Yield all ends that have a name: the region's networks, and each cluster's API, pods, hosts of pools, VMs."""
    plan, lock = environment.region.networks, environment.allocations
    yield Endpoint(name=INTERNET, address=ANYWHERE, where=INTERNET)
    for shared in SHARED:
        network: Network | None = getattr(plan, shared)
        if network is not None:
            yield Endpoint(name=shared, address=network, where=shared)
    for placed in clusters(environment):
        name, vpc = placed.cluster.name, placed.cluster.vpc
        api, numbers = Network(f"{lock.clusters[name].vip}/32"), lock.vpcs[vpc].of_cluster(name)
        yield Endpoint(name=f"api:{name}", address=api, where="api", cluster=name)
        yield Endpoint(name=f"pod:{name}", address=numbers.pods, where="pods", vpc=vpc, cluster=name)
        for space in placed.cluster.namespaces:
            pod = f"pod:{name}/{space.name}"
            yield Endpoint(name=pod, address=numbers.pods, where="pods", vpc=vpc, cluster=name, namespace=space.name)
        vms = placed.tenant.vms
        for machine in vms.machines if vms and vms.cluster == name else ():
            public = lock.public_ips.get(vm_key(name, machine.name)) if machine.public_ip else None
            address, where = (Network(f"{public}/32"), PUBLIC) if public else (numbers.pods, "pods")
            yield Endpoint(name=f"vm:{name}/{machine.name}", address=address, where=where, vpc=vpc, cluster=name)
        for ordered in vms.public_ips_for if vms and vms.cluster == name else ():
            address = Network(f"{lock.public_ips[vm_key(name, ordered)]}/32")
            yield Endpoint(name=f"vm:{name}/{ordered}", address=address, where=PUBLIC, vpc=vpc, cluster=name)
    for pool in pools(environment):
        hosts = lock.vpcs[pool.cluster.vpc].hosts
        yield Endpoint(name=f"host:{pool.key}", address=hosts, where="hosts", vpc=pool.cluster.vpc)


def _at(environment: Environment, name: str, address: Network) -> Endpoint:
    """Return whose ``address`` is; one that nobody has is of the internet, unless a range of the region has it."""
    plan = environment.region.networks
    for placed in vpcs(environment):
        for where in PREFIXES:
            if any(address.subnet_of(prefix) for prefix in placed.vpc.numbers.of_kind(where)):
                return Endpoint(name=name, address=address, where=where, vpc=placed.vpc.spec.name)
        if _only(address) in placed.vpc.public_addresses:
            return Endpoint(name=name, address=address, where=PUBLIC, vpc=placed.vpc.spec.name)
    for cluster, given in environment.allocations.clusters.items():
        if given.vip == _only(address):
            return Endpoint(name=name, address=address, where="api", cluster=cluster)
    for where in SHARED:
        network: Network | None = getattr(plan, where)
        if network is not None and address.subnet_of(network):
            return Endpoint(name=name, address=address, where=where)
    behind = plan.border.networks if plan.border else ()
    if any(address.subnet_of(one) for one in behind):
        return Endpoint(name=name, address=address, where="border")
    nobody = any(address.subnet_of(one) for one in (plan.tenants, plan.control_plane_vips))
    return Endpoint(name=name, address=address, where="nobody" if nobody else INTERNET)


def _ipv6(environment: Environment, name: str) -> str:
    """Return who reaches ``name``, if it is an address of IPv6; nothing if it is none."""
    try:
        address = IPv6Address(name)
    except ValueError:
        return ""
    for vpc, numbers in environment.allocations.vpcs.items():
        for kind, prefix in numbers.ipv6.items():
            if address in prefix:
                return (
                    f"'{name}' is an address of IPv6, of {kind} in VPC {vpc} ({prefix}), whose pods alone reach it: its"
                    " network carries it between nodes, and no route leads in or out; policies that name no address"
                    " hold for both families, so ask for pod:CLUSTER"
                )
    return f"'{name}' is an address of IPv6, which no pod reaches: no route of IPv6 leads out of a cluster"


def _only(network: Network) -> Address | None:
    """Return the address of a network of one."""
    return network.network_address if network.prefixlen == network.max_prefixlen else None
