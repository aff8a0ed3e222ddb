"""Uniformity of pools: the expected versions and settings of each pool's nodes, and all deviations.

The report is deterministic and contains no timestamps, so that you can sign and compare reports.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from enum import StrEnum
from typing import Any

from components.inputs.node_pool import pool_input
from components.intents.dpus import dpus_of_vpc
from components.intents.nodes import intents_of, pinned_image
from components.lookups.pools import PlacedPool, pools
from components.render import labels as keys
from components.render.backends import CONTROL_PLANES
from components.render.manifest import objects
from components.render.objects import digest
from components.render.pools.node_pool import group_name
from components.rollout.waves import last_wave
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.hosts.firmware import Firmware
from components.specs.keys import domain_of, group_key, pool_key
from components.specs.natural import natural
from components.specs.region.catalog import GoldenImage
from components.specs.region.policy import RuleId, longest_waiver
from components.specs.struct import Struct, asdict

Values = Mapping[str, str]
"""Values by property; properties that an image or a baseline does not define are omitted."""


class Source(StrEnum):
    """Source of a deviation."""

    DATA = "data"
    CLUSTER = "cluster"


class LiveNode(Struct):
    """Node as reported by its cluster and its host."""

    cluster: str
    name: str
    pool: str
    """Name of the node's pool, from a label that tenants cannot change."""
    failure_domain: str
    host: str | None
    """Host in the inventory that runs the node; None if the provider ID identifies no host."""
    values: Values
    """Reported values, with the keys of `declared_values`."""


class Deviation(Struct):
    """Property whose value in a rollout group or node differs from the value in the pool or group."""

    subject: str
    """``cluster/pool/failure-domain``, or the host, or ``cluster/node`` if the host is unknown."""
    property: str
    expected: str | None
    found: str | None
    source: Source
    waiver: dict[str, str] | None


class PoolUniformity(Struct):
    """Uniformity of one pool."""

    pool: str
    nodes: int
    """Number of declared nodes."""
    values: Values
    """Declared values of the majority of the pool's nodes."""
    rollout: dict[str, str | int] | None
    """Image and wave of the pool's open rollout; groups may differ during a rollout."""
    deviations: tuple[Deviation, ...]
    seen: int | None
    """Number of observed nodes; None if only the data were read."""
    not_reported: dict[str, int]
    """Number of nodes without a reported value, by property."""

    @property
    def uniform(self) -> bool | None:
        """Return whether there are no deviations, waived or not; None if not all nodes were observed.

        The result is False as soon as one observed node deviates.
        """
        if self.deviations:
            return False
        return True if self.seen is None or self.seen >= self.nodes else None


def uniformity(environment: Environment, live: Iterable[LiveNode] | None = None) -> list[PoolUniformity]:
    """Return the uniformity of the pools of ``environment``, ordered by name.

    Args:
        environment: loaded and checked environment.
        live: observed nodes; None to compare only the data.
    """
    nodes: dict[str, list[LiveNode]] | None = None if live is None else defaultdict(list)
    for node in live or ():
        if nodes is not None:
            nodes[pool_key(node.cluster, node.pool)].append(node)
    ordered = sorted(pools(environment), key=lambda placed: natural(placed.key))
    return [_pool(environment, placed, None if nodes is None else nodes[placed.key]) for placed in ordered]


def to_json(environment: str, found: list[PoolUniformity], unreachable: Iterable[str] = ()) -> dict[str, Any]:
    """Return ``found`` as sorted JSON data."""
    return {
        "schema_version": 1,
        "environment": environment,
        "unreachable": sorted(unreachable),
        "pools": [{**asdict(pool), "uniform": pool.uniform} for pool in found],
    }


def declared_values(environment: Environment, placed: PlacedPool) -> dict[str, Values]:
    """Return the declared values of the nodes of each rollout group of ``placed``."""
    configs, dpus = _kubelet_configs(environment, placed), _dpu_images(environment, placed)
    by_group: dict[str, Values] = {}
    for key, intent in intents_of(environment, placed.key).items():
        image = pinned_image(environment, intent)
        if image is not None:
            values = {**_of_image(image), **_of_firmware(intent.firmware), **dpus, "kubelet_config": configs[key]}
            by_group[key] = dict(sorted(values.items()))
    return by_group


def _pool(environment: Environment, placed: PlacedPool, live: list[LiveNode] | None) -> PoolUniformity:
    groups = declared_values(environment, placed)
    sizes = {key: environment.allocations.groups[key].nodes for key in groups}
    count: Counter[tuple[tuple[str, str], ...]] = Counter()
    for key, values in groups.items():
        count[tuple(sorted(values.items()))] += sizes[key]
    usual = max(count, key=lambda values: (count[values], values), default=())
    rollout = environment.image_pins.rollouts.get(placed.key)
    wave = last_wave(environment.image_pins, placed.key)
    return PoolUniformity(
        pool=placed.key,
        nodes=sum(sizes.values()),
        values=dict(usual),
        rollout={"to": environment.image_pins.intents[rollout.to].image, "wave": wave} if rollout else None,
        deviations=tuple(_deviations(environment, placed, dict(usual), groups, live or [])),
        seen=None if live is None else len(live),
        not_reported=_not_reported(groups, live or []),
    )


def _deviations(
    environment: Environment, placed: PlacedPool, usual: Values, groups: Mapping[str, Values], live: list[LiveNode]
) -> Iterator[Deviation]:
    for key in sorted(groups, key=natural):
        yield from _between(environment, (key, placed.key), usual, groups[key], Source.DATA)
    for node in sorted(live, key=lambda node: (natural(node.host or node.name), node.name)):
        group = group_key(placed.key, node.failure_domain)
        subject = node.host or f"{node.cluster}/{node.name}"
        expected = groups.get(group)
        if expected is None:
            yield Deviation(
                subject=subject,
                property="failure_domain",
                expected=", ".join(sorted(map(domain_of, groups))),
                found=node.failure_domain,
                source=Source.CLUSTER,
                waiver=_waiver(environment, (subject, placed.key)),
            )
            continue
        declared = {name: value for name, value in expected.items() if name in node.values}
        yield from _between(environment, (subject, group, placed.key), declared, node.values, Source.CLUSTER)


def _between(
    environment: Environment, subjects: tuple[str, ...], expected: Values, actual: Values, source: Source
) -> Iterator[Deviation]:
    names = {*expected, *actual} if source is Source.DATA else set(expected)
    for name in sorted(names):
        if expected.get(name) != actual.get(name):
            yield Deviation(
                subject=subjects[0],
                property=name,
                expected=expected.get(name),
                found=actual.get(name),
                source=source,
                waiver=_waiver(environment, subjects),
            )


def _waiver(environment: Environment, subjects: tuple[str, ...]) -> dict[str, str] | None:
    waiver = longest_waiver(environment.waivers.waivers, RuleId.UNIFORMITY, subjects)
    if waiver is None:
        return None
    return {
        "subject": waiver.subject,
        "reason": waiver.reason,
        "owner": waiver.owner,
        "ticket": waiver.ticket,
        "expires": waiver.expires.isoformat(),
    }


def _not_reported(groups: Mapping[str, Values], live: list[LiveNode]) -> dict[str, int]:
    names = sorted({name for values in groups.values() for name in values})
    counts = {name: sum(name not in node.values for node in live) for name in names}
    return {name: count for name, count in counts.items() if count}


def _of_image(image: GoldenImage) -> dict[str, str]:
    has = ((name, value) for name, value in image.contents if value is not None)
    contents = {name: str(value) if isinstance(value, Spec) else value for name, value in has}
    return {"image": image.version, "image_sha256": image.sha256, **contents}


def _dpu_images(environment: Environment, placed: PlacedPool) -> dict[str, str]:
    """Return the DPU images in the pool's VPC: a single image, except during a rollout of DPUs."""
    images = {intent.image for intent in dpus_of_vpc(environment, placed.cluster.vpc)}
    return {"dpu_image": ", ".join(sorted(images)) or environment.region.dpus.image}


def _of_firmware(baseline: Firmware | None) -> dict[str, str]:
    if baseline is None:
        return {}
    settings = {f"bios.{name}": str(value) for name, value in baseline.bios.items()}
    versions = {f"firmware.{name}": component.version for name, component in baseline.components.items()}
    return {"firmware_baseline": baseline.name, **settings, **versions}


def _kubelet_configs(environment: Environment, placed: PlacedPool) -> dict[str, str]:
    """Return the digest of the nodes' join configuration, by rollout group."""
    made = pool_input(environment, placed.placed_cluster, placed.pool)
    kinds = {backend.bootstrap_template[1] for backend in CONTROL_PLANES.values()}
    digests = {
        item.body["metadata"]["labels"][keys.GROUP]: f"sha256:{digest(item.body['spec'], 64)}"
        for item in objects(made.render())
        if item.kind in kinds
    }
    domains = [group.failure_domain for group in made.groups]
    return {
        group_key(placed.key, domain): digests[group_name(placed.cluster.name, placed.pool.name, domain)]
        for domain in domains
    }
