"""How many pods of a kind drains of the management cluster may take away at once."""

from __future__ import annotations

from collections.abc import Mapping

from components.render.manifest import Manifest
from components.render.objects import given, manifest

_ENOUGH_FOR_A_QUORUM = 3
_ENOUGH_TO_SERVE = 2


def quorum_budget(
    name: str, selector: Mapping[str, str], members: int, *, namespace: str, labels: Mapping[str, str]
) -> tuple[Manifest, ...]:
    """Return what lets one member of an etcd go at a time; nothing for so few that none can be spared."""
    return _budget(name, selector, namespace, labels) if members >= _ENOUGH_FOR_A_QUORUM else ()


def serving_budget(
    name: str, selector: Mapping[str, str], replicas: int, *, namespace: str, labels: Mapping[str, str]
) -> tuple[Manifest, ...]:
    """Return what lets one API server go at a time, and any that does not serve; nothing for the only one."""
    if replicas < _ENOUGH_TO_SERVE:
        return ()
    return _budget(name, selector, namespace, labels, unhealthy="AlwaysAllow")


def _budget(
    name: str, selector: Mapping[str, str], namespace: str, labels: Mapping[str, str], unhealthy: str | None = None
) -> tuple[Manifest]:
    spec = {
        "maxUnavailable": 1,
        "selector": {"matchLabels": dict(selector)},
        **given(unhealthyPodEvictionPolicy=unhealthy),
    }
    return (manifest("policy/v1", "PodDisruptionBudget", name, namespace=namespace, labels=labels, spec=spec),)
