"""Ends of a path through a region's networks: name, owner and address."""

import re
from collections.abc import Iterator
from ipaddress import IPv6Address

from components.inputs.tenant_network import services, vpcs
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
"""Networks of the region that are ends of paths, named after their keys."""
INTERNET, PUBLIC = "internet", "public"
_MAX_LISTED = 8
_PORTS = range(1, 65_536)
_PORT = re.compile(r"icmp|(?P<protocol>tcp|udp)/(?P<port>[0-9]{1,5})")


class UnknownEndError(LookupError):
    """No end in the region has this name; the text lists the ends."""


class UnknownPortError(ValueError):
    """Invalid protocol and port; the text has the format."""


class Endpoint(Spec):
    """End of a path."""

    name: str
    """Name: ``pod:acme-train``, ``storage``, or an address."""
    address: Network
    """Address of the end, or its network; ``0.0.0.0/0`` is the internet."""
    where: str
    """Location of the address: a prefix of a VPC, ``public``, ``api``, ``service``, a network of the region,
    ``internet``, or ``nobody``."""
    vpc: str | None = None
    """VPC of the end."""
    cluster: str | None = None
    """Cluster of the control plane or of the pods."""
    namespace: str | None = None
    """Team namespace of the pods."""
    port: int | None = None
    """TCP port of a service of the region."""


def ports(text: str) -> Ports:
    """Return the protocol and the destination port in ``text``: ``tcp/443``, ``udp/53`` or ``icmp``.

    Raises:
        UnknownPortError: ``text`` has another format.
    """
    match = _PORT.fullmatch(text)
    if match is None or int(match["port"] or 1) not in _PORTS:
        number = text if text.isdecimal() and int(text) in _PORTS else ""
        remedy = f"tcp/{number} or udp/{number}" if number else "tcp/443, udp/53 or icmp"
        msg = f"'{text}' is not a protocol and port; write {remedy}"
        raise UnknownPortError(msg)
    return Ports(protocol=Protocol(match["protocol"] or text), far=int(match["port"]) if match["port"] else None)


def endpoint(environment: Environment, name: str) -> Endpoint:
    """Return the end for ``name``: a name from `named`, or an IPv4 address.

    An IPv6 address is not an end: paths within its cluster have no steps, and there are no other paths to it.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
        UnknownEndError: there is no such end.
    """
    known = {end.name: end for end in named(environment)}
    if name in known:
        return known[name]
    if problem := _ipv6(environment, name):
        raise UnknownEndError(problem)
    try:
        address = Network(Address(name))
    except ValueError:
        forms = "host:CLUSTER/POOL, pod:CLUSTER, pod:CLUSTER/NAMESPACE, vm:CLUSTER/VM, api:CLUSTER, an address"
        names = listed(known, _MAX_LISTED)
        msg = f"'{name}' is not an end of a path ({forms}, or one of: {names}){suggestion(name, known)}"
        raise UnknownEndError(msg) from None
    return _at(environment, name, address)


def named(environment: Environment) -> Iterator[Endpoint]:
    """Yield all named ends: the region's networks, and each cluster's API, pods, pool hosts and VMs."""
    plan, lock = environment.region.networks, environment.allocations
    yield Endpoint(name=INTERNET, address=ANYWHERE, where=INTERNET)
    for shared in SHARED:
        network: Network | None = getattr(plan, shared)
        if network is not None:
            yield Endpoint(name=shared, address=network, where=shared)
    yield from _served(environment)
    for placed in clusters(environment):
        name, vpc = placed.cluster.name, placed.cluster.vpc
        numbers = lock.vpcs[vpc].of_cluster(name)
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


def _served(environment: Environment) -> Iterator[Endpoint]:
    """Yield the ends in the management cluster: services of the region, and the API of each cluster."""
    for service in services(environment.region):
        yield Endpoint(name=service.name, address=service.network, where="service", port=service.port)
    for name, allocation in environment.allocations.clusters.items():
        yield Endpoint(name=f"api:{name}", address=Network(f"{allocation.vip}/32"), where="api", cluster=name)


def _at(environment: Environment, name: str, address: Network) -> Endpoint:
    """Return the end of ``address``. An unassigned address belongs to a range of the region, else to the internet."""
    plan = environment.region.networks
    for placed in vpcs(environment):
        for where in PREFIXES:
            if any(address.subnet_of(prefix) for prefix in placed.vpc.numbers.of_kind(where)):
                return Endpoint(name=name, address=address, where=where, vpc=placed.vpc.spec.name)
        if _only(address) in placed.vpc.public_addresses:
            return Endpoint(name=name, address=address, where=PUBLIC, vpc=placed.vpc.spec.name)
    served = next((end for end in _served(environment) if end.address == address), None)
    if served is not None:
        return served.model_copy(update={"name": name})
    for where in SHARED:
        network: Network | None = getattr(plan, where)
        if network is not None and address.subnet_of(network):
            return Endpoint(name=name, address=address, where=where)
    behind = plan.border.networks if plan.border else ()
    if any(address.subnet_of(network) for network in behind):
        return Endpoint(name=name, address=address, where="border")
    in_allocated_range = any(address.subnet_of(network) for network in (plan.tenants, plan.control_plane_vips))
    return Endpoint(name=name, address=address, where="nobody" if in_allocated_range else INTERNET)


def _ipv6(environment: Environment, name: str) -> str:
    """Return the reachability of the IPv6 address ``name`` as text; empty if ``name`` is not an IPv6 address."""
    try:
        address = IPv6Address(name)
    except ValueError:
        return ""
    for vpc, numbers in environment.allocations.vpcs.items():
        for kind, prefix in numbers.ipv6.items():
            if address in prefix:
                return (
                    f"'{name}' is an IPv6 address of {kind} in VPC {vpc} ({prefix}), reachable only by its pods: there"
                    " are no routes in or out; policies without addresses apply to both families, so write pod:CLUSTER"
                )
    return f"'{name}' is an IPv6 address that no pod reaches: clusters have no external IPv6 routes"


def _only(network: Network) -> Address | None:
    """Return the only address of a network with a single address."""
    return network.network_address if network.prefixlen == network.max_prefixlen else None
