"""Turns the data of a region into a rehearsal of the same region, or of the part of some of its tenants."""

import csv
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any, TypeVar

from components.allocate.allocation import allocate
from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.keys import cluster_of, domain_of
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.edits import edited
from components.specs.reading.loader import ALLOCATIONS, HOST_TESTS, IMAGE_PINS, OUT_OF_SERVICE, POLICY, REGION
from components.specs.reading.lock_text import lock_text, paired
from components.specs.reading.problems import listed
from components.specs.struct import Struct

_OUTSIDE = ("state", "context", "engine")
"""Fields of a region about systems outside the machine of a rehearsal, which has its own."""
_FREEZES = "freezes"
_LIMITS = ("nodes", "rollouts")
"""Limits that are shares of all hosts of a region; fewer hosts would exceed them."""
_HOSTS = "hosts"
_SUFFIXES = {".yaml", ".csv", ".md"}
"""Suffixes of the files of a region."""
_Value = TypeVar("_Value")


class Part(Struct):
    """Tenants of a region with all that belongs to them."""

    tenants: Collection[str]
    vpcs: Collection[str]
    clusters: Collection[str]
    hosts: Collection[str]
    """Hosts in pools of the clusters, and their spares."""


class Copy(Struct):
    """Files of a rehearsal by path in the folder of the region, and the differences from the original as sentences."""

    texts: dict[str, str]
    differences: list[str]


def part_of(environment: Environment, tenants: Collection[str]) -> Part:
    """Return the part of ``tenants``."""
    chosen = [tenant for tenant in environment.tenants if tenant.tenant in tenants]
    clusters = {cluster.name for tenant in chosen for cluster in tenant.clusters}
    pools = environment.allocations.hosts.items()
    return Part(
        tenants=tenants,
        vpcs={vpc.name for tenant in chosen for vpc in tenant.vpcs},
        clusters=clusters,
        hosts={host for host, pool in pools if cluster_of(pool) in clusters},
    )


def rehearsal(environment: Environment, folder: Path, part: Part | None) -> Copy:
    """Return the files of a rehearsal of ``environment``.

    Fields for systems outside the machine are removed, and freezes, which would delay each change of the rehearsal.

    Args:
        environment: The region, without problems.
        folder: Folder of the region; comments and order of its files are kept.
        part: Part to which the data are reduced: tenants, hosts, lock files. Limits that are shares of all hosts are
            removed. None keeps the whole region.
    """
    texts = {str(path.relative_to(folder)): path.read_text(encoding="utf-8") for path in _files(folder)}
    region, policy = environment.region, environment.policy
    left_out = [name for name in _OUTSIDE if getattr(region, name) is not None]
    if part and region.nodes.rollouts.model_fields_set:
        left_out.append(".".join(_LIMITS))
    texts[REGION] = edited(texts[REGION], lambda document: _local(document, part))
    differences = []
    if region.stage is not Stage.REHEARSAL:
        differences.append(f"{REGION}: stage is {Stage.REHEARSAL}, not {region.stage}")
    if left_out:
        differences.append(f"{REGION}: without {listed(left_out)}")
    if policy.freezes:
        texts[POLICY] = edited(texts[POLICY], lambda document: _without(document, _FREEZES))
        differences.append(f"{POLICY}: without {_FREEZES}")
    if part:
        _reduce(texts, environment, part)
        differences.append(f"tenants: {len(part.tenants)} of {len(environment.tenants)}")
        differences.append(f"hosts: {len(part.hosts):,} of {len(environment.hosts):,}")
    return Copy(texts=texts, differences=differences)


def _files(folder: Path) -> list[Path]:
    return sorted(path for path in folder.rglob("[!.]*") if path.is_file() and path.suffix in _SUFFIXES)


def _local(document: Any, part: Part | None) -> Any:
    document["stage"] = Stage.REHEARSAL.value
    if part and _LIMITS[0] in document:
        _without(document[_LIMITS[0]], _LIMITS[1])
    return _without(document, *_OUTSIDE)


def _without(document: Any, *names: str) -> Any:
    for name in names:
        document.pop(name, None)
    return document


def _reduce(texts: dict[str, str], environment: Environment, part: Part) -> None:
    """Reduce the files to ``part``."""
    numbers, pins = paired(environment.name, *allocate(_reduced(environment, part)))
    for path in [path for path in texts if path.startswith("tenants/") and Path(path).stem not in part.tenants]:
        del texts[path]
    for path in [path for path in texts if path.startswith("inventory/")]:
        texts[path] = _rows(texts[path], part.hosts)
    for path in (OUT_OF_SERVICE, HOST_TESTS):
        if path in texts:
            texts[path] = edited(texts[path], lambda document: _of_hosts(document, part.hosts))
    texts |= {ALLOCATIONS: lock_text(numbers), IMAGE_PINS: lock_text(pins)}


def _rows(text: str, hosts: Collection[str]) -> str:
    """Return the rows of ``hosts`` in an inventory file, with its header."""
    header, *rows = text.splitlines(keepends=True)
    column = next(csv.reader([header])).index("host")
    return header + "".join(row for row in rows if row.strip() and next(csv.reader([row]))[column] in hosts)


def _of_hosts(document: Any, hosts: Collection[str]) -> Any:
    for host in [host for host in document[_HOSTS] if host not in hosts]:
        del document[_HOSTS][host]
    return document


def _reduced(environment: Environment, part: Part) -> Environment:
    """Return the environment with nothing but ``part``, for the allocation of its lock files."""
    return environment.model_copy(
        update={
            "tenants": tuple(tenant for tenant in environment.tenants if tenant.tenant in part.tenants),
            "hosts": tuple(host for host in environment.hosts if host.host in part.hosts),
            "out_of_service": _only(environment.out_of_service, part.hosts.__contains__),
            "host_tests": _only(environment.host_tests, part.hosts.__contains__),
            "allocations": _numbers(environment.allocations, part),
            "image_pins": _pins(environment.image_pins, part),
        }
    )


def _numbers(lock: AllocationsLock, part: Part) -> AllocationsLock:
    def is_here(key: str) -> bool:
        return cluster_of(key) in part.clusters

    return lock.model_copy(
        update={
            "vpcs": _only(lock.vpcs, part.vpcs.__contains__),
            "clusters": _only(lock.clusters, is_here),
            "public_ips": _only(lock.public_ips, is_here),
            "hosts": _only(lock.hosts, part.hosts.__contains__),
            "addresses": _only(lock.addresses, part.hosts.__contains__),
            "groups": _only(lock.groups, is_here),
            "quarantine": {},
        }
    )


def _pins(lock: ImagesLock, part: Part) -> ImagesLock:
    """Return the lock with the pins of the clusters only; `allocate` removes what no pin refers to."""
    return lock.model_copy(
        update={
            "control_planes": _only(lock.control_planes, part.clusters.__contains__),
            "groups": _only(lock.groups, lambda key: cluster_of(key) in part.clusters),
            "charts": _only(lock.charts, lambda key: domain_of(key) in part.clusters),
        }
    )


def _only(entries: Mapping[str, _Value], is_kept: Callable[[str], object]) -> dict[str, _Value]:
    return {key: value for key, value in entries.items() if is_kept(key)}
