"""Allocates what users do not name: numbers, prefixes, addresses, hosts, first image pins. Pure and stable.

What is allocated stays; what is missing is added; what belongs to nothing is freed. A pin is never moved.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from components.plan.assignment import assign
from components.plan.images import choose_image, find_image, misfits
from components.plan.numbers import free_address, free_number, free_prefix
from components.plan.pools import DataPath, PlacedPool, clusters, pool_of, pools, problem, tenant_file
from components.render.node_pool import REVISIONS
from components.specs.base import SCHEMA_VERSION, Address, Network
from components.specs.environment import Environment
from components.specs.locks import (
    AllocationsLock,
    ClusterAllocation,
    GroupAllocation,
    ImagePin,
    ImagesLock,
    VpcAllocation,
)
from components.specs.problems import Problem, SpecError
from components.specs.tenant import TenantSpec
from components.specs.tenant_network import VpcSpec

TEMPLATE_REVISION = max(REVISIONS)
"""Revision of the template renderer that a new pin takes."""


@dataclass
class Allocation:
    """Lock files as they should be, and what could not be allocated."""

    numbers: AllocationsLock
    pins: ImagesLock
    problems: list[Problem] = field(default_factory=list)


def allocate(environment: Environment) -> tuple[AllocationsLock, ImagesLock]:
    """Return the lock files that fit the data of ``environment``, in which ``checks.check_data`` finds nothing.

    Raises:
        SpecError: a range, the inventory or the image channel has too little; nothing is allocated then.
    """
    found = attempt(environment)
    if found.problems:
        raise SpecError(environment.name, found.problems)
    return found.numbers, found.pins


def attempt(environment: Environment) -> Allocation:
    """Return the lock files as far as they can be filled, with the problems met."""
    assignment = assign(environment)
    numbers = _Numbers(environment)
    pins, problems = _pins(environment, list(assignment.groups))
    lock = AllocationsLock(
        schema_version=SCHEMA_VERSION,
        vpcs=numbers.vpcs(),
        clusters=numbers.control_planes(),
        public_ips=numbers.public_ips(),
        hosts=dict(sorted(assignment.hosts.items())),
        groups={key: GroupAllocation(nodes=nodes) for key, nodes in sorted(assignment.groups.items())},
    )
    return Allocation(lock, pins, [*assignment.problems, *numbers.problems, *problems])


class _Numbers:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment
        self._networks = environment.region.networks
        self._old = environment.allocations
        self.problems: list[Problem] = []

    def vpcs(self) -> dict[str, VpcAllocation]:
        wanted = {
            vpc.name: (tenant, index, vpc)
            for tenant in self._environment.tenants
            for index, vpc in enumerate(tenant.vpcs)
        }
        result = {name: old for name, old in self._old.vpcs.items() if name in wanted}
        for name, (tenant, index, vpc) in wanted.items():
            if name not in result:
                allocation = self._vpc(tenant, index, vpc, list(result.values()))
                if allocation:
                    result[name] = allocation
        return dict(sorted(result.items()))

    def _vpc(self, tenant: TenantSpec, index: int, vpc: VpcSpec, others: list[VpcAllocation]) -> VpcAllocation | None:
        file, path = tenant_file(tenant), ("vpcs", index)
        vni = free_number(self._networks.vni, {other.vni for other in others})
        asn = free_number(self._networks.asn, {other.asn for other in others})
        used = [network for other in others for network in prefixes(other).values()]
        taken: dict[str, Network] = {}
        for key in ("pods", "services", "hosts", "load_balancers"):
            length: int = getattr(vpc, key)
            network = free_prefix(self._networks.tenants, length, [*used, *taken.values()])
            if network is None:
                self._exhausted(file, (*path, key), f"no free /{length}", "tenants")
            else:
                taken[key] = network
        if vni is None:
            self._exhausted(file, path, "no free VNI", "vni")
        if asn is None:
            self._exhausted(file, path, "no free ASN", "asn")
        if vni is None or asn is None or len(taken) < len(VpcAllocation.model_fields) - 2:
            return None
        return VpcAllocation(vni=vni, asn=asn, **taken)

    def control_planes(self) -> dict[str, ClusterAllocation]:
        wanted = {placed.cluster.name: placed for placed in clusters(self._environment)}
        result = {name: old for name, old in self._old.clusters.items() if name in wanted}
        for name, placed in wanted.items():
            if name in result:
                continue
            vip = free_address([self._networks.control_plane_vips], {other.vip for other in result.values()})
            if vip is None:
                self._exhausted(placed.file, placed.path, "no free address", "control_plane_vips")
            else:
                result[name] = ClusterAllocation(vip=vip)
        return dict(sorted(result.items()))

    def public_ips(self) -> dict[str, Address]:
        wanted = {
            f"{tenant.vms.cluster}/{vm.name}": (tenant_file(tenant), ("vms", "platform", index))
            for tenant in self._environment.tenants
            if tenant.vms
            for index, vm in enumerate(tenant.vms.platform)
            if vm.public_ip
        }
        result = {name: old for name, old in self._old.public_ips.items() if name in wanted}
        for name, (file, path) in wanted.items():
            if name in result:
                continue
            address = free_address(self._networks.public, set(result.values()))
            if address is None:
                self._exhausted(file, (*path, "public_ip"), "no free address", "public")
            else:
                result[name] = address
        return dict(sorted(result.items()))

    def _exhausted(self, file: str, path: DataPath, what: str, key: str) -> None:
        value = getattr(self._networks, key)
        size = ", ".join(map(str, value)) if isinstance(value, tuple) else value
        line = self._environment.positions.line("region.yaml", ("networks", key))
        text = f"{what} is left in networks.{key} (region.yaml:{line}, {size or 'empty'}); widen it there"
        self.problems.append(problem(self._environment, file, path, text))


def prefixes(vpc: VpcAllocation) -> dict[str, Network]:
    """Return the prefixes of ``vpc`` by their key."""
    return {"hosts": vpc.hosts, "pods": vpc.pods, "services": vpc.services, "load_balancers": vpc.load_balancers}


def _pins(environment: Environment, groups: list[str]) -> tuple[ImagesLock, list[Problem]]:
    by_key = {placed.key: placed for placed in pools(environment)}
    result = {key: pin for key, pin in environment.image_pins.groups.items() if key in groups}
    unserved: dict[str, PlacedPool] = {}
    for key in groups:
        placed = by_key[pool_of(key)]
        pin = result.get(key) or _first_pin(environment, placed, result)
        if pin:
            result[key] = pin
        else:
            unserved[placed.key] = placed
    problems = [_no_image(environment, placed) for placed in unserved.values()]
    return ImagesLock(schema_version=SCHEMA_VERSION, groups=dict(sorted(result.items()))), problems


def _first_pin(environment: Environment, placed: PlacedPool, pins: dict[str, ImagePin]) -> ImagePin | None:
    """Return the pin of a new group: what most groups of its pool run, so that a pool that grows stays uniform.

    Groups that leave count too: a pool that moves to other failure domains does not move to another image.
    """
    running = [
        pin
        for key, pin in (environment.image_pins.groups | pins).items()
        if pool_of(key) == placed.key and _fits(environment, placed, pin)
    ]
    if running:
        count = Counter(pin.image for pin in running)
        return max(running, key=lambda pin: (count[pin.image], pin.image))
    image = choose_image(environment, placed.cluster, placed.pool)
    return ImagePin(image=image.version, sha256=image.sha256, revision=TEMPLATE_REVISION) if image else None


def _fits(environment: Environment, placed: PlacedPool, pin: ImagePin) -> bool:
    image = find_image(environment, pin.image)
    return image is not None and not misfits(image, placed.cluster, placed.pool)


def _no_image(environment: Environment, placed: PlacedPool) -> Problem:
    channel = environment.region.image_channel
    text = (
        f"no image of channel {channel} fits {placed.pool.instance_type} with a kubelet for {placed.cluster.version};"
        " add one to ../catalog/images.yaml, or follow another channel in region.yaml"
    )
    return problem(environment, placed.file, (*placed.path, "image"), text)
