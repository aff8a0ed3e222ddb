"""Rules about GPU sharing: supported by the GPU, and not for GPUs of VMs."""

from collections.abc import Iterator

from components.intents.nodes import intents_of
from components.lookups.pools import PlacedPool, place, pools, problem
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.hosts.instance_types import InstanceType
from components.specs.reading.loader import INSTANCE_TYPES
from components.specs.reading.problems import Problem, one_of


def profiles(environment: Environment) -> Iterator[Problem]:
    """Report GPU sharing of pools without GPUs, or with a MIG profile that the GPU does not support."""
    for placed in pools(environment):
        kind = environment.instance_types.by_name.get(placed.pool.instance_type)
        if kind is not None and placed.pool.gpu_sharing is not None:
            yield from _asked(environment, placed, kind)
        if kind is not None:
            yield from _pinned(environment, placed, kind)


def _asked(environment: Environment, placed: PlacedPool, kind: InstanceType) -> Iterator[Problem]:
    path, wanted = (*placed.path, "gpu_sharing"), placed.pool.gpu_sharing and placed.pool.gpu_sharing.mig
    if kind.gpu is None:
        text = f"{kind.name} has no GPUs ({_at(environment, kind)}); remove it"
        yield problem(environment, placed.file, path, text)
    elif wanted and not kind.gpu.mig:
        text = (
            f"{kind.gpu.model} of {kind.name} has no MIG profiles ({_at(environment, kind)}); remove it, or write"
            " time_slices instead"
        )
        yield problem(environment, placed.file, path, text)
    elif wanted and wanted not in kind.gpu.mig:
        text = (
            f"'{wanted}' is not a MIG profile of {kind.gpu.model} ({_at(environment, kind)}); write"
            f" {one_of(kind.gpu.mig)}"
        )
        yield problem(environment, placed.file, (*path, "mig"), text)


def _pinned(environment: Environment, placed: PlacedPool, kind: InstanceType) -> Iterator[Problem]:
    sharings = {intent.gpu_sharing for intent in intents_of(environment, placed.key).values()}
    for profile in sorted({sharing.mig for sharing in sharings - {placed.pool.gpu_sharing} if sharing and sharing.mig}):
        if kind.gpu is None or profile not in kind.gpu.mig:
            path = ("instance_types", environment.instance_types.instance_types.index(kind), "gpu")
            text = f"nodes of {placed.key} are partitioned into {profile}, which was removed here; restore it"
            yield problem(environment, INSTANCE_TYPES, path, text)


def whole(environment: Environment) -> Iterator[Problem]:
    """Report GPU sharing of pools that run VMs, because VMs use whole GPUs."""
    for placed in pools(environment):
        vms = placed.tenant.vms
        if placed.pool.gpu_sharing and vms and vms.cluster == placed.cluster.name and placed.pool.name in vms.pools:
            there = place(environment, placed.file, ("vms", "pools", vms.pools.index(placed.pool.name)))
            text = f"VMs run here ({there}) and use whole GPUs, so pods cannot share them; remove it"
            yield problem(environment, placed.file, (*placed.path, "gpu_sharing"), text)


def _at(environment: Environment, kind: InstanceType) -> str:
    path = ("instance_types", environment.instance_types.instance_types.index(kind), "gpu")
    return place(environment, INSTANCE_TYPES, path)


RULES = Rules(data=(profiles, whole))
