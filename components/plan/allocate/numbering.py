"""Numbers of VPCs, clusters and machines: what is given stays, what is missing is the lowest free, the rest is freed.

Not given here: the VTEP loopback and the ASN of each DPU. DPF's own address management hands out loopbacks from
``networks.dpu_loopbacks``, and a DPU's ASN follows from its loopback.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from components.plan.allocate.controllers import Controllers
from components.plan.allocate.ledger import (
    ASNS,
    PREFIXES,
    PUBLIC_IPS,
    ROUTE_TARGETS,
    SORTS,
    VIPS,
    VNIS,
    VPC_PREFIXES,
    VPC_PREFIXES_IPV6,
    Kind,
    Ledger,
    as_value,
    fabric_vnis,
    guids,
    numbers_of,
    pkeys,
    room,
    written,
)
from components.plan.allocate.numbers import Block, as_block
from components.plan.build.fabrics import guids_needed, infiniband, roce
from components.plan.pools import DataPath, PlacedCluster, clusters, problem, public_vms_of, tenant_file
from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.fabric import GuidNumbers
from components.specs.keys import cluster_of, holder_key
from components.specs.loader import REGION
from components.specs.locks import ClusterAllocation, Freed
from components.specs.natural import natural
from components.specs.problems import Problem, dotted
from components.specs.tenant import TenantSpec
from components.specs.tenant_network import VpcSpec
from components.specs.vpc_allocation import IPV6_PREFIXES, MorePrefix, VpcAllocation


@dataclass(frozen=True, slots=True, kw_only=True)
class Numbers:
    """All numbers of a region, and what could not be given."""

    vpcs: dict[str, VpcAllocation]
    clusters: dict[str, ClusterAllocation]
    public_ips: dict[str, Address]
    quarantine: dict[str, Freed]
    problems: list[Problem]


def number(environment: Environment, hosts: Mapping[str, str]) -> Numbers:
    """Return the numbers that fit the data of ``environment``, whose hosts are in pools as ``hosts`` says."""
    return _Numbering(environment, hosts).run()


@dataclass(frozen=True, slots=True)
class _Want:
    """Who asks for a number, and where that is written."""

    holder: str
    file: str
    path: DataPath


_ON_FABRICS = {"pkeys": ("PKey", pkeys, infiniband), "fabric_vnis": ("VNI", fabric_vnis, roce)}
"""Numbers of a VPC on fabrics by key of its entry: their name, their kind, and the fabrics that have them."""


class _Numbering:
    def __init__(self, environment: Environment, hosts: Mapping[str, str]) -> None:
        self._environment = environment
        self._old = environment.allocations
        self._ledger = Ledger(room(environment), self._old.quarantine)
        self._controllers = Controllers(environment, hosts)
        self._problems: list[Problem] = []
        tenants = sorted(environment.tenants, key=lambda tenant: natural(tenant.tenant))
        self._vpcs = {vpc.name: (tenant, index, vpc) for tenant in tenants for index, vpc in enumerate(tenant.vpcs)}
        placed = sorted(clusters(environment), key=lambda placed: natural(placed.tenant.tenant))
        self._clusters = {item.cluster.name: item for item in placed}
        self._machines = dict(self._public_machines())
        self._nodes = Counter[str]()
        for key, group in self._old.groups.items():
            self._nodes[cluster_of(key)] += group.nodes

    def run(self) -> Numbers:
        vpcs, control_planes, addresses = self._kept_vpcs(), self._kept_clusters(), self._kept_addresses()
        for name, (tenant, index, vpc) in self._vpcs.items():
            want = _Want(holder_key(tenant.tenant, name), tenant_file(tenant), ("vpcs", index))
            old = vpcs.get(name)
            given = old.model_copy(update=self._on_fabrics(want, vpc, old)) if old else self._vpc(want, tenant, vpc)
            vpcs |= {name: self._ipv6(want, vpc, given)} if given else {}
        for name, (tenant, index, vpc) in self._vpcs.items():
            if name in vpcs and vpc.more_prefixes:
                want = _Want(holder_key(tenant.tenant, name), tenant_file(tenant), ("vpcs", index))
                vpcs[name] = self._more_prefixes(want, vpc, vpcs[name])
        for name, placed in self._clusters.items():
            given_cluster = self._cluster(placed, control_planes.get(name))
            control_planes |= {name: given_cluster} if given_cluster else {}
        for name, want in self._machines.items():
            if name not in addresses:
                address = self._take(want, "address", PUBLIC_IPS)
                addresses |= {name: address} if address else {}
        return Numbers(
            vpcs=vpcs,
            clusters=control_planes,
            public_ips=addresses,
            quarantine=self._ledger.quarantine(),
            problems=[*self._problems, *self._controllers.problems],
        )

    def _kept_vpcs(self) -> dict[str, VpcAllocation]:
        kept = {}
        for name, old in self._old.vpcs.items():
            holder, wanted = holder_key(old.tenant, name), self._vpcs.get(name)
            if wanted is None or wanted[0].tenant != old.tenant:
                self._ledger.free_all(holder, numbers_of(old))
                continue
            more = self._kept_more(holder, wanted[2], old)
            changes: dict[str, Any] = {"more_prefixes": more, "isolation": wanted[2].isolation}
            changes |= self._kept_on_fabrics(holder, wanted[2], old)
            if wanted[2].ipv6 is None:
                for kind, prefix in old.ipv6.items():
                    self._ledger.free(holder, VPC_PREFIXES_IPV6, as_block(prefix))
                    changes[IPV6_PREFIXES[kind]] = None
            kept[name] = old.model_copy(update=changes)
            self._ledger.keep(numbers_of(kept[name]))
        return kept

    def _kept_on_fabrics(self, holder: str, vpc: VpcSpec, old: VpcAllocation) -> dict[str, Any]:
        """Return the numbers of ``vpc`` on fabrics that it still names, and free the others."""
        kept = {}
        for key, (_, kind, fabrics) in _ON_FABRICS.items():
            had, named = getattr(old, key), {fabric.name for fabric in fabrics(self._environment, vpc)}
            for name in had.keys() - named:
                self._ledger.free(holder, kind(name), as_block(had[name]))
            kept[key] = {name: number for name, number in had.items() if name in named}
        return kept

    def _kept_more(self, holder: str, vpc: VpcSpec, old: VpcAllocation) -> dict[str, MorePrefix]:
        """Return the prefixes that ``vpc`` still names, and free the others."""
        named = {more.name for more in vpc.more_prefixes}
        for name, more in old.more_prefixes.items():
            if name not in named:
                self._ledger.free(holder, VPC_PREFIXES, as_block(more.prefix))
        return {name: more for name, more in old.more_prefixes.items() if name in named}

    def _kept_clusters(self) -> dict[str, ClusterAllocation]:
        kept = {}
        for name, old in self._old.clusters.items():
            holder, placed = holder_key(old.tenant, name), self._clusters.get(name)
            if placed is None or placed.tenant.tenant != old.tenant:
                self._ledger.free_all(holder, numbers_of(old))
                continue
            needed = guids_needed(self._environment, placed)
            stay = {fabric: numbers for fabric, numbers in old.guids.items() if fabric in needed}
            for fabric in old.guids.keys() - stay.keys():
                self._ledger.free(holder, guids(fabric), as_block(old.guids[fabric]))
            self._controllers.keep(name, old.controller)
            kept[name] = old.model_copy(update={"guids": stay})
            self._ledger.keep(numbers_of(kept[name]))
        return kept

    def _kept_addresses(self) -> dict[str, Address]:
        kept = {}
        for name, address in self._old.public_ips.items():
            cluster, want = self._old.clusters.get(cluster_of(name)), self._machines.get(name)
            holder = holder_key(cluster.tenant, name) if cluster else want.holder if want else name
            if want is None or want.holder != holder:
                self._ledger.free(holder, PUBLIC_IPS, as_block(address))
            else:
                kept[name] = address
                self._ledger.keep(iter([(PUBLIC_IPS, (), as_block(address))]))
        return kept

    def _vpc(self, want: _Want, tenant: TenantSpec, vpc: VpcSpec) -> VpcAllocation | None:
        numbers: dict[str, Any] = {"vni": self._take(want, "VNI", VNIS), "asn": self._take(want, "ASN", ASNS)}
        numbers |= self._on_fabrics(want, vpc, None)
        for key in PREFIXES:
            numbers[key] = self._prefix(want, getattr(vpc, key), (key,))
        numbers["route_target"] = numbers["vni"]
        if self._environment.region.networks.route_targets is not None:
            numbers["route_target"] = self._take(want, "route target", ROUTE_TARGETS)
        if None in numbers.values():
            return None
        return VpcAllocation(tenant=tenant.tenant, isolation=vpc.isolation, **numbers)

    def _more_prefixes(self, want: _Want, vpc: VpcSpec, old: VpcAllocation) -> VpcAllocation:
        """Return ``old`` with prefixes that ``vpc`` names and that it has not."""
        given = dict(old.more_prefixes)
        for index, more in enumerate(vpc.more_prefixes):
            if more.name not in given:
                prefix = self._prefix(want, more.size, ("more_prefixes", index, "size"))
                given |= {more.name: MorePrefix(kind=more.kind, prefix=prefix, cluster=more.cluster)} if prefix else {}
        return old.model_copy(update={"more_prefixes": given})

    def _prefix(self, want: _Want, length: int, at: DataPath, kind: Kind = VPC_PREFIXES) -> Any:
        here, bits = replace(want, path=(*want.path, *at)), SORTS[kind.section].prefix_bits
        return self._take(here, f"/{length}", kind, size=1 << (bits - length))

    def _ipv6(self, want: _Want, vpc: VpcSpec, old: VpcAllocation) -> VpcAllocation:
        """Return ``old`` with the prefixes of IPv6 that ``vpc`` asks for and that it has not.

        Of a region that has none to give ``dual-stack.given`` tells it.
        """
        there = vpc.ipv6 is not None and self._environment.region.networks.tenants_ipv6 is not None
        lacking = [kind for kind in IPV6_PREFIXES if there and kind not in old.ipv6]
        taken = {
            IPV6_PREFIXES[kind]: self._prefix(want, getattr(vpc.ipv6, kind), ("ipv6", kind), VPC_PREFIXES_IPV6)
            for kind in lacking
        }
        return old.model_copy(update=taken)

    def _on_fabrics(self, want: _Want, vpc: VpcSpec, old: VpcAllocation | None) -> dict[str, Any]:
        """Return the numbers of ``vpc`` on its fabrics, by key of its entry."""
        found = {}
        for key, (what, kind, fabrics) in _ON_FABRICS.items():
            numbers = dict(getattr(old, key)) if old else {}
            for fabric in fabrics(self._environment, vpc):
                if fabric.name not in numbers:
                    taken = self._take(want, what, kind(fabric.name), "fabrics")
                    numbers |= {fabric.name: taken} if taken else {}
            found[key] = dict(sorted(numbers.items()))
        return found

    def _cluster(self, placed: PlacedCluster, old: ClusterAllocation | None) -> ClusterAllocation | None:
        tenant, name = placed.tenant.tenant, placed.cluster.name
        want = _Want(holder_key(tenant, name), placed.file, placed.path)
        vip = old.vip if old else self._take(want, "address", VIPS)
        numbers = self._guids(want, placed, old.guids if old else {})
        if vip is None:
            return None
        given = old or ClusterAllocation(tenant=tenant, vip=vip)
        changes = {
            "controller": self._controllers.choose(placed, given.controller),
            "guids": numbers,
            "node_ports": placed.cluster.api_server.node_ports,
            "service_domain": placed.cluster.service_domain,
            "vpc": placed.cluster.vpc,
            "control_planes": self._environment.region.control_planes.backend,
            "bare_metal": self._environment.region.bare_metal.backend,
        }
        return given.model_copy(update=changes)

    def _guids(self, want: _Want, placed: PlacedCluster, old: Mapping[str, GuidNumbers]) -> dict[str, GuidNumbers]:
        found = dict(old)
        for fabric, needed in guids_needed(self._environment, placed).items():
            kind, size = guids(fabric), 1 << (needed - 1).bit_length()
            had = as_block(old[fabric]) if fabric in old else None
            if had is None:
                block = self._ledger.take(want.holder, kind, size)
            elif had.size >= needed:
                continue
            else:
                block = self._ledger.grow(kind, had, size) or self._ledger.grow(kind, had, needed)
                if block is None and self._nodes[placed.cluster.name]:
                    self._problems.append(self._stuck(want, kind, old[fabric], needed))
                    continue
                block = block or self._ledger.move(want.holder, kind, had, size)
            taken = self._value(want, f"range of {size} GUIDs", kind, "", block)
            found |= {fabric: taken} if taken else {}
        return dict(sorted(found.items()))

    def _stuck(self, want: _Want, kind: Kind, had: GuidNumbers, needed: int) -> Problem:
        """Return that the GUIDs behind those of a cluster are taken, and that its nodes run with the ones it has."""
        size = as_block(had).size
        text = (
            f"needs {needed} GUIDs on {kind.fabric}, and the numbers behind its own are taken ({had}, {size} of them);"
            f" pods use these, so the range does not move: make pools smaller until they need {size}, or give the new"
            " nodes to another cluster" + self._ledger.releasable(kind, self._environment.name)
        )
        return problem(self._environment, want.file, want.path, text)

    def _public_machines(self) -> Iterator[tuple[str, _Want]]:
        for tenant in sorted(self._environment.tenants, key=lambda tenant: natural(tenant.tenant)):
            for path, name in public_vms_of(tenant):
                yield name, _Want(holder_key(tenant.tenant, name), tenant_file(tenant), path)

    def _take(self, want: _Want, what: str, kind: Kind, key: str = "", *, size: int = 1) -> Any:
        block = self._ledger.take(want.holder, kind, size)
        return self._value(want, what, kind, key, block)

    def _value(self, want: _Want, what: str, kind: Kind, key: str, block: Block | None) -> Any:
        if block is not None:
            return as_value(kind, block)
        path, value = written(self._environment, kind)
        line = self._environment.positions.line(REGION, path)
        text = f"no free {what} is left in {dotted(path)} ({REGION}:{line}, {value or 'empty'}); widen it there"
        text += self._ledger.releasable(kind, self._environment.name)
        where = (*want.path, key) if key else want.path
        self._problems.append(problem(self._environment, want.file, where, text))
        return None
