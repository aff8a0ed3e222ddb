"""Effective values of a region, each with its origin."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import StrEnum
from functools import partial
from typing import Any, TypeAlias

from pydantic import BaseModel

from components.lookups.pools import DataPath, inventory_file, tenant_file, vms_of
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.environment import Environment
from components.specs.hosts.inventory import HostSpec
from components.specs.keys import domain_of, pool_key, pool_of, vm_key
from components.specs.pools.node_pool import NodePoolSpec
from components.specs.reading.loader import (
    ADD_ONS,
    ALLOCATIONS,
    FIRMWARE,
    HEALTH,
    IMAGE_PINS,
    IMAGES,
    INSTANCE_TYPES,
    OUT_OF_SERVICE,
    POLICY,
    REGION,
    VERSIONS,
    VM_OFFERINGS,
    WAIVERS,
)
from components.specs.region.tenant import TenantSpec
from components.specs.struct import Struct, field

_KEYS = ("name", "version", "tenant", "instance_type")
"""Keys whose value names a list entry, by priority; entries without such a key are named by number."""


class Source(StrEnum):
    """Origin of a value."""

    WRITTEN = "written"
    """Set in the data."""
    DEFAULT = "default"
    """Default of the model."""
    ALLOCATED = "allocated"
    """Set in a lock file."""


class Origin(Struct, kw_only=False):
    """File and line of a value; defaults have no file."""

    source: Source
    file: str = ""
    line: int = 0

    def __str__(self) -> str:
        if self.source is Source.DEFAULT:
            return self.source.value
        place = f"{self.file}:{self.line}" if self.line else self.file
        return place if self.source is Source.WRITTEN else f"{self.source.value}, {place}"


DEFAULT = Origin(Source.DEFAULT)


class Value(Struct, kw_only=False):
    """Scalar or list of scalars, in the format of data files."""

    value: Any
    origin: Origin


class Branch(Struct, kw_only=False):
    """Values by name."""

    children: dict[str, Node] = field(default_factory=dict)


Node: TypeAlias = Value | Branch


class UnknownPathError(LookupError):
    """There is no value at a path.

    Args:
        found: the longest existing prefix of the path.
        known: names that could follow ``found``.
    """

    def __init__(self, *, found: str, known: Sequence[str]) -> None:
        super().__init__(found, known)
        self.found = found
        self.known = tuple(known)


def resolved(environment: Environment, path: str = "") -> Node:
    """Return the effective values at ``path``, such as ``tenants.acme.clusters.acme-train.pools.train``.

    Raises:
        UnknownPathError: there is no value at ``path``.
    """
    sections = _sections(environment)
    first, _, rest = path.partition(".")
    if not first and not rest:
        return Branch({name: section() for name, section in sections.items()})
    if first not in sections:
        raise UnknownPathError(found="", known=list(sections))
    return _descend(sections[first](), first, rest)


def leaves(node: Node, path: str = "") -> Iterator[tuple[str, Value]]:
    """Yield each value at and below ``node`` with its path."""
    if isinstance(node, Value):
        yield path, node
        return
    for name, child in node.children.items():
        yield from leaves(child, f"{path}.{name}" if path else name)


def _descend(node: Node, found: str, rest: str) -> Node:
    while rest:
        children = node.children if isinstance(node, Branch) else {}
        fitting = [name for name in children if rest == name or rest.startswith(f"{name}.")]
        if not fitting:
            raise UnknownPathError(found=found, known=list(children))
        name = max(fitting, key=len)  # Names such as gpu-2026.11.1 contain dots.
        node, found, rest = children[name], f"{found}.{name}", rest[len(name) + 1 :]
    return node


def _sections(environment: Environment) -> dict[str, Callable[[], Node]]:
    """Return a function per section of the region, so that only requested sections are resolved."""
    files: dict[str, tuple[BaseModel, str]] = {
        "region": (environment.region, REGION),
        "policy": (environment.policy, POLICY),
        "waivers": (environment.waivers, WAIVERS),
        "images": (environment.images, IMAGES),
        "instance_types": (environment.instance_types, INSTANCE_TYPES),
        "firmware": (environment.firmware, FIRMWARE),
        "health": (environment.health, HEALTH),
        "versions": (environment.versions, VERSIONS),
        "add_ons": (environment.add_ons, ADD_ONS),
        "vm_offerings": (environment.vm_catalog, VM_OFFERINGS),
    }
    resolver = _Resolver(environment)
    sections: dict[str, Callable[[], Node]] = {
        name: partial(resolver.file, spec, file) for name, (spec, file) in files.items()
    }
    region = sections.pop("region")
    return {"region": region, "tenants": resolver.tenants, "hosts": resolver.hosts, **sections}


class _Resolver:
    def __init__(self, environment: Environment) -> None:
        self._environment = environment

    def file(self, spec: BaseModel, file: str) -> Branch:
        """Return all values of a data file; a missing optional file has defaults."""
        data = spec.model_dump(mode="json", by_alias=True)
        return self._spec(spec, data, file, ()) if self._environment.positions.line(file) else _defaults(data)

    def tenants(self) -> Branch:
        """Return all tenants, with the allocations of their VPCs, clusters, pools and VMs."""
        groups: dict[str, list[str]] = defaultdict(list)
        for key in self._environment.allocations.groups:
            groups[pool_of(key)].append(key)
        return Branch({tenant.tenant: self._tenant(tenant, groups) for tenant in self._environment.tenants})

    def hosts(self) -> Branch:
        """Return all hosts, each with its pool and, if out of service, the reason."""
        return Branch({host.host: self._host(host) for host in self._environment.hosts})

    def _tenant(self, tenant: TenantSpec, groups: Mapping[str, list[str]]) -> Branch:
        lock = self._environment.allocations
        branch = self.file(tenant, tenant_file(tenant))
        for vpc in tenant.vpcs:
            self._add(branch, ("vpcs", vpc.name), lock.vpcs.get(vpc.name), ("vpcs", vpc.name))
        for cluster in tenant.clusters:
            at = ("clusters", cluster.name)
            self._add(branch, at, lock.clusters.get(cluster.name), at)
            for pool in cluster.pools:
                node = _child(branch, (*at, "pools", pool.name))
                node.children["groups"] = self._groups(cluster, pool, groups)
        for path, vm in vms_of(tenant):
            key = vm_key(tenant.vms.cluster, vm.name) if tenant.vms else ""
            if key in lock.public_ips:
                address = Value(str(lock.public_ips[key]), self._allocated(ALLOCATIONS, ("public_ips", key)))
                _child(branch, ("vms", str(path[1]), vm.name)).children["address"] = address
        return branch

    def _add(self, branch: Branch, at: Sequence[str], spec: BaseModel | None, path: DataPath) -> None:
        """Add the values of the lock file at ``path`` to the branch ``at``."""
        if spec is not None:
            data = spec.model_dump(mode="json", by_alias=True)
            allocated = self._spec(spec, data, ALLOCATIONS, path, Source.ALLOCATED)
            _child(branch, at).children["allocated"] = allocated

    def _groups(self, cluster: ClusterSpec, pool: NodePoolSpec, groups: Mapping[str, list[str]]) -> Branch:
        pins, lock, groups_branch = self._environment.image_pins, self._environment.allocations, Branch()
        for key in groups.get(pool_key(cluster.name, pool.name), ()):
            name = pins.groups.get(key, "")
            parts = ((ALLOCATIONS, lock.groups[key], key), (IMAGE_PINS, pins.intents.get(name), name))
            children: dict[str, Node] = {}
            for file, spec, entry in parts:
                if spec is not None:
                    data = spec.model_dump(mode="json", by_alias=True)
                    section = "groups" if file == ALLOCATIONS else "intents"
                    children |= self._spec(spec, data, file, (section, entry), Source.ALLOCATED).children
            groups_branch.children[domain_of(key)] = Branch(children)
        return groups_branch

    def _host(self, host: HostSpec) -> Branch:
        data = host.model_dump(mode="json", by_alias=True)
        branch = self._spec(host, data, inventory_file(host.hall), (host.host,))
        pool = self._environment.allocations.hosts.get(host.host)
        if pool is not None:
            branch.children["pool"] = Value(pool, self._allocated(ALLOCATIONS, ("hosts", host.host)))
        reason = self._environment.out_of_service.get(host.host)
        if reason is not None:
            data = reason.model_dump(mode="json", by_alias=True)
            branch.children["out_of_service"] = self._spec(reason, data, OUT_OF_SERVICE, ("hosts", host.host))
        return branch

    def _spec(
        self, spec: BaseModel, data: Mapping[str, Any], file: str, path: DataPath, source: Source = Source.WRITTEN
    ) -> Branch:
        """Return the values of ``spec`` at ``path`` of ``file``; ``data`` is the dump of ``spec``."""
        children: dict[str, Node] = {}
        for name, info in type(spec).model_fields.items():
            key, is_set = info.alias or name, name in spec.model_fields_set
            if source is Source.ALLOCATED and not is_set:
                continue  # Values missing from a lock file have no defaults.
            origin = source if is_set else Source.DEFAULT
            children[key] = self._node(getattr(spec, name), data[key], file, (*path, key), origin)
        return Branch(children)

    def _node(self, value: Any, data: Any, file: str, path: DataPath, source: Source) -> Node:
        if isinstance(value, BaseModel) and isinstance(data, dict):
            return self._spec(value, data, file, path, source) if source is not Source.DEFAULT else _defaults(data)
        if isinstance(value, Mapping) and value:
            items = (
                (str(key), self._node(item, data[str(key)], file, (*path, key), source)) for key, item in value.items()
            )
            return Branch(dict(items))
        if value and isinstance(value, tuple) and all(isinstance(item, dict) for item in data):
            nodes = [self._node(item, data[index], file, (*path, index), source) for index, item in enumerate(value)]
            return Branch(dict(zip(_names(data), nodes, strict=True)))
        if source is Source.DEFAULT:
            return Value(data, DEFAULT)
        return Value(data, Origin(source, file, self._environment.positions.line(file, path)))

    def _allocated(self, file: str, path: DataPath) -> Origin:
        return Origin(Source.ALLOCATED, file, self._environment.positions.line(file, path))


def _defaults(data: Mapping[str, Any]) -> Branch:
    """Return the values of a spec that the data omit."""
    return Branch(
        {
            key: _defaults(value) if isinstance(value, dict) and value else Value(value, DEFAULT)
            for key, value in data.items()
        }
    )


def _names(entries: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return the names of list entries: values of a common key if they are unique, else numbers."""
    for key in _KEYS:
        names = [str(entry.get(key)) for entry in entries]
        if all(key in entry for entry in entries) and len(set(names)) == len(names):
            return names
    return [str(index) for index in range(len(entries))]


def _child(branch: Branch, path: Sequence[str]) -> Branch:
    for name in path:
        child = branch.children[name]
        if not isinstance(child, Branch):
            raise TypeError(name)
        branch = child
    return branch
