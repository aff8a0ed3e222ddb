"""Hosts on which a controller has given up, or that failed their burn-in, and that the data have in production."""

from collections.abc import Iterator, Mapping

from components.programs.failed_repairs import NEVER_JOINED, REPAIRS, SPARE, WAITS_FOR, has_returned
from components.programs.spare_hosts import UNHEALTHY
from components.specs.environment import Environment
from components.specs.pools.nodes import BURN_IN_PASSED
from components.specs.struct import Struct
from jacquard.observe.backends import bare_metal
from jacquard.observe.nodes.live import host_place
from jacquard.observe.objects import Kind, Object, condition, key
from jacquard.observe.observation import Observation
from jacquard.providers.kube.objects import dig

HOSTS: tuple[Kind, ...] = (("metal3.io/v1alpha1", "BareMetalHost"),)
REASON = "repair by reboots failed (Metal3)"
UNJOINED = "node did not join its cluster"
_MACHINE: Kind = ("cluster.x-k8s.io/v1beta2", "Machine")
_MOST_TEXT = 200
"""Maximum length of a reason that quotes the result of a test."""


class FailedHost(Struct):
    """Host that should be in triage."""

    host: str
    pool: str | None
    """``cluster/pool`` of the host; None for an unassigned host."""
    reason: str


def management_kinds(environment: Environment) -> tuple[Kind, ...]:
    """Return the kinds that `failed_hosts` reads in the management cluster."""
    return (_MACHINE, *bare_metal(environment).hosts)


def failed_hosts(environment: Environment, seen: Observation) -> Iterator[FailedHost]:
    """Yield the hosts that should be in triage and that ``out_of_service.yaml`` does not list, by name.

    These are hosts that are marked as unhealthy, and hosts whose node failed the burn-in of the platform. If another
    controller confirms the burn-in, its condition is also False while the burn-in lasts, and is not read.
    """
    known = {item.host for item in environment.hosts}
    reasons = {**dict(_burn_ins(environment, seen)), **dict(_marked(seen))}
    for name, reason in sorted(reasons.items()):
        if name in known and name not in environment.out_of_service:
            yield FailedHost(host=name, pool=environment.allocations.hosts.get(name), reason=reason)


def _marked(seen: Observation) -> Iterator[tuple[str, str]]:
    for body in seen.of(HOSTS[0][1]):
        annotations = dig(body, "metadata", "annotations") or {}
        if UNHEALTHY in annotations:
            yield key(body)[1], _reason(annotations)


def _burn_ins(environment: Environment, seen: Observation) -> Iterator[tuple[str, str]]:
    nodes, metal = environment.region.nodes, bare_metal(environment)
    if nodes.tests is None or nodes.burn_in is not None:
        return
    report = metal.report(seen.of)
    for machine in seen.of(_MACHINE[1]):
        result, place = condition(machine, BURN_IN_PASSED), host_place(machine, metal.provider)
        host = report(place)[0] if place else None
        if host and result.get("status") == "False":
            _, _, text = str(result.get("message", "")).partition(": ")
            yield host, f"burn-in failed: {_plain(text)}"[:_MOST_TEXT]


def _plain(text: str) -> str:
    """Return a text of a tenant's cluster without characters that have a meaning in the quotes of a shell."""
    return "".join(letter for letter in text if letter.isprintable() and letter not in '"$`\\!')


def _reason(annotations: Mapping[str, str]) -> str:
    words = annotations.get(REPAIRS, "").split()
    if NEVER_JOINED in words:
        return UNJOINED
    if not has_returned(annotations):
        return REASON
    first, *others = words
    return f"fault returned after repair by reboot ({len(others)} repairs since {first})"


def waits_for_spare(machine: Object | None) -> bool:
    """Return whether the repair of a Machine has failed, and no host is free to replace its host."""
    return bool(dig(machine, "metadata", "annotations", WAITS_FOR) == SPARE)
