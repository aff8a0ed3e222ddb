"""Numbers of VPCs, clusters and machines: keep numbers in use, allocate the lowest free ones, free the rest.

VTEP loopbacks and ASNs of DPUs are not allocated here: DPF's address management assigns loopbacks from
``networks.dpu_loopbacks``, and a DPU's ASN is derived from its loopback.
"""

from collections.abc import Iterator, Mapping
from typing import Any

from components.allocate.cluster_ranges import ClusterRanges
from components.allocate.controllers import Controllers
from components.allocate.demands import Taker, Want
from components.allocate.ledger import Ledger, numbers_of, room
from components.lookups.network.fabrics import infiniband, roce
from components.lookups.number_kinds import (
    ASNS,
    NUMBER_KINDS,
    PREFIXES,
    PUBLIC_IPS,
    ROUTE_TARGETS,
    VIPS,
    VNIS,
    VPC_PREFIXES,
    VPC_PREFIXES_IPV6,
    Kind,
    fabric_vnis,
    pkeys,
)
from components.lookups.numbers import as_block
from components.lookups.pools import DataPath, PlacedCluster, clusters, public_keys_of, tenant_file
from components.specs.base import Address
from components.specs.environment import Environment
from components.specs.keys import cluster_of, holder_key
from components.specs.locks import ClusterAllocation, Freed
from components.specs.natural import natural
from components.specs.network.tenant_network import VpcSpec
from components.specs.network.vpc_allocation import IPV6_PREFIXES, MorePrefix, VpcAllocation
from components.specs.reading.problems import Problem
from components.specs.region.tenant import TenantSpec
from components.specs.struct import Struct, replace


class Numbers(Struct):
    """All numbers of a region, and the problems of failed allocations."""

    vpcs: dict[str, VpcAllocation]
    clusters: dict[str, ClusterAllocation]
    public_ips: dict[str, Address]
    quarantine: dict[str, Freed]
    problems: list[Problem]


def number(environment: Environment, hosts: Mapping[str, str]) -> Numbers:
    """Return the numbers that fit the data of ``environment``; ``hosts`` maps each host to its pool."""
    return _Numbering(environment, hosts).run()


_ON_FABRICS = {"pkeys": ("PKey", pkeys, infiniband), "fabric_vnis": ("VNI", fabric_vnis, roce)}
"""Numbers of a VPC on fabrics, by key of the VPC's entry: name, kind, and function that returns the VPC's fabrics."""


class _Numbering:
    def __init__(self, environment: Environment, hosts: Mapping[str, str]) -> None:
        self._environment = environment
        self._old = environment.allocations
        self._ledger = Ledger(room(environment), self._old.quarantine)
        self._controllers = Controllers(environment, hosts)
        self._taker = Taker(environment, self._ledger)
        tenants = sorted(environment.tenants, key=lambda tenant: natural(tenant.tenant))
        self._vpcs = {vpc.name: (tenant, index, vpc) for tenant in tenants for index, vpc in enumerate(tenant.vpcs)}
        placed = sorted(clusters(environment), key=lambda placed: natural(placed.tenant.tenant))
        self._clusters = {item.cluster.name: item for item in placed}
        self._machines = dict(self._public_addresses())
        self._ranges = ClusterRanges(environment, self._ledger, self._taker)

    def run(self) -> Numbers:
        vpcs, control_planes, addresses = self._kept_vpcs(), self._kept_clusters(), self._kept_addresses()
        for name, (tenant, index, vpc) in self._vpcs.items():
            want = Want(holder_key(tenant.tenant, name), tenant_file(tenant), ("vpcs", index))
            old = vpcs.get(name)
            entry = old.model_copy(update=self._on_fabrics(want, vpc, old)) if old else self._vpc(want, tenant, vpc)
            vpcs |= {name: self._ipv6(want, vpc, entry)} if entry else {}
        for name, (tenant, index, vpc) in self._vpcs.items():
            if name in vpcs and vpc.more_prefixes:
                want = Want(holder_key(tenant.tenant, name), tenant_file(tenant), ("vpcs", index))
                vpcs[name] = self._more_prefixes(want, vpc, vpcs[name])
        for name, placed in self._clusters.items():
            cluster = self._cluster(placed, control_planes.get(name))
            control_planes |= {name: cluster} if cluster else {}
        for name, want in self._machines.items():
            if name not in addresses:
                address = self._taker.take(want, "address", PUBLIC_IPS)
                addresses |= {name: address} if address else {}
        return Numbers(
            vpcs=vpcs,
            clusters=control_planes,
            public_ips=addresses,
            quarantine=self._ledger.quarantine(),
            problems=[*self._taker.problems, *self._controllers.problems],
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
        """Return the numbers of ``vpc`` on the fabrics it still uses; free its numbers on other fabrics."""
        kept = {}
        for key, (_, kind, fabrics) in _ON_FABRICS.items():
            current, used = getattr(old, key), {fabric.name for fabric in fabrics(self._environment, vpc)}
            for name in current.keys() - used:
                self._ledger.free(holder, kind(name), as_block(current[name]))
            kept[key] = {name: number for name, number in current.items() if name in used}
        return kept

    def _kept_more(self, holder: str, vpc: VpcSpec, old: VpcAllocation) -> dict[str, MorePrefix]:
        """Return the additional prefixes that ``vpc`` still declares; free all other additional prefixes."""
        declared = {more.name for more in vpc.more_prefixes}
        for name, more in old.more_prefixes.items():
            if name not in declared:
                self._ledger.free(holder, VPC_PREFIXES, as_block(more.prefix))
        return {name: more for name, more in old.more_prefixes.items() if name in declared}

    def _kept_clusters(self) -> dict[str, ClusterAllocation]:
        kept = {}
        for name, old in self._old.clusters.items():
            holder, placed = holder_key(old.tenant, name), self._clusters.get(name)
            if placed is None or placed.tenant.tenant != old.tenant:
                self._ledger.free_all(holder, numbers_of(old))
                continue
            self._controllers.keep(name, old.controller)
            kept[name] = old.model_copy(update=self._ranges.kept(holder, placed, old))
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

    def _vpc(self, want: Want, tenant: TenantSpec, vpc: VpcSpec) -> VpcAllocation | None:
        numbers: dict[str, Any] = {
            "vni": self._taker.take(want, "VNI", VNIS),
            "asn": self._taker.take(want, "ASN", ASNS),
        }
        numbers |= self._on_fabrics(want, vpc, None)
        for key in PREFIXES:
            numbers[key] = self._prefix(want, getattr(vpc, key), (key,))
        numbers["route_target"] = numbers["vni"]
        if self._environment.region.networks.route_targets is not None:
            numbers["route_target"] = self._taker.take(want, "route target", ROUTE_TARGETS)
        if None in numbers.values():
            return None
        return VpcAllocation(tenant=tenant.tenant, isolation=vpc.isolation, **numbers)

    def _more_prefixes(self, want: Want, vpc: VpcSpec, old: VpcAllocation) -> VpcAllocation:
        """Return ``old`` with the missing additional prefixes of ``vpc``."""
        prefixes = dict(old.more_prefixes)
        for index, more in enumerate(vpc.more_prefixes):
            if more.name not in prefixes:
                prefix = self._prefix(want, more.size, ("more_prefixes", index, "size"))
                if prefix:
                    prefixes[more.name] = MorePrefix(kind=more.kind, prefix=prefix, cluster=more.cluster)
        return old.model_copy(update={"more_prefixes": prefixes})

    def _prefix(self, want: Want, length: int, at: DataPath, kind: Kind = VPC_PREFIXES) -> Any:
        request, bits = replace(want, path=(*want.path, *at)), NUMBER_KINDS[kind.section].prefix_bits
        return self._taker.take(request, f"/{length}", kind, size=1 << (bits - length))

    def _ipv6(self, want: Want, vpc: VpcSpec, old: VpcAllocation) -> VpcAllocation:
        """Return ``old`` with the missing IPv6 prefixes of ``vpc``.

        Rule ``dual-stack.given`` reports a region without an IPv6 range.
        """
        available = vpc.ipv6 is not None and self._environment.region.networks.tenants_ipv6 is not None
        missing = [kind for kind in IPV6_PREFIXES if available and kind not in old.ipv6]
        taken = {
            IPV6_PREFIXES[kind]: self._prefix(want, getattr(vpc.ipv6, kind), ("ipv6", kind), VPC_PREFIXES_IPV6)
            for kind in missing
        }
        return old.model_copy(update=taken)

    def _on_fabrics(self, want: Want, vpc: VpcSpec, old: VpcAllocation | None) -> dict[str, Any]:
        """Return the numbers of ``vpc`` on its fabrics, by key of its entry."""
        by_key = {}
        for key, (label, kind, fabrics) in _ON_FABRICS.items():
            numbers = dict(getattr(old, key)) if old else {}
            for fabric in fabrics(self._environment, vpc):
                if fabric.name not in numbers:
                    taken = self._taker.take(want, label, kind(fabric.name), "fabrics")
                    numbers |= {fabric.name: taken} if taken else {}
            by_key[key] = dict(sorted(numbers.items()))
        return by_key

    def _cluster(self, placed: PlacedCluster, old: ClusterAllocation | None) -> ClusterAllocation | None:
        tenant, name = placed.tenant.tenant, placed.cluster.name
        want = Want(holder_key(tenant, name), placed.file, placed.path)
        vip = old.vip if old else self._taker.take(want, "address", VIPS)
        numbers = self._ranges.given(want, placed, old)
        if vip is None:
            return None
        values: dict[str, Any] = {
            "controller": self._controllers.choose(placed, old.controller if old else None),
            **numbers,
            "node_ports": placed.cluster.api_server.node_ports,
            "service_domain": placed.cluster.service_domain,
            "vpc": placed.cluster.vpc,
            "control_planes": self._environment.region.control_planes.backend,
            "bare_metal": self._environment.region.bare_metal.backend,
        }
        return old.model_copy(update=values) if old else ClusterAllocation(tenant=tenant, vip=vip, **values)

    def _public_addresses(self) -> Iterator[tuple[str, Want]]:
        for tenant in sorted(self._environment.tenants, key=lambda tenant: natural(tenant.tenant)):
            for path, name in public_keys_of(tenant):
                yield name, Want(holder_key(tenant.tenant, name), tenant_file(tenant), path)
