"""Hosts on which a controller has given up, and which the data still have in production."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from components.programs.failed_repairs import REPAIRS, RETURNED, SPARE, WAITS_FOR
from components.programs.spare_hosts import UNHEALTHY
from components.specs.environment import Environment
from jacquard.observe.objects import Kind, Object, key
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig

KINDS: tuple[Kind, ...] = (("metal3.io/v1alpha1", "BareMetalHost"),)
REASON = "repair by reboots failed (Metal3)"


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedHost:
    """Host that should be in triage."""

    host: str
    pool: str | None
    """``cluster/pool`` of the host; None for an unassigned host."""
    reason: str


def failed_hosts(environment: Environment, seen: Observation) -> Iterator[FailedHost]:
    """Yield the hosts that are marked as unhealthy and that ``out_of_service.yaml`` does not list, by name."""
    known = {item.host for item in environment.hosts}
    for body in sorted(seen.of(KINDS[0][1]), key=lambda body: key(body)[1]):
        _, name = key(body)
        annotations = dig(body, "metadata", "annotations") or {}
        if UNHEALTHY in annotations and name in known and name not in environment.out_of_service:
            yield FailedHost(host=name, pool=environment.allocations.hosts.get(name), reason=_reason(annotations))


def _reason(annotations: Mapping[str, str]) -> str:
    if annotations[UNHEALTHY] != RETURNED:
        return REASON
    first, *others = annotations.get(REPAIRS, "").split() or ("",)
    return f"fault returned after repair by reboot ({1 + len(others)} repairs since {first})"


def waits_for_spare(machine: Object | None) -> bool:
    """Return whether the repair of a Machine has failed, and no host is free to replace its host."""
    return bool(dig(machine, "metadata", "annotations", WAITS_FOR) == SPARE)
