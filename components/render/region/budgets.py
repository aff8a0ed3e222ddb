"""Pod disruption budgets for drains of the management cluster."""

from collections.abc import Mapping

from components.render.manifest import Manifest
from components.render.objects import given, manifest

_MIN_MEMBERS = 3
_MIN_REPLICAS = 2


def quorum_budget(
    name: str, selector: Mapping[str, str], members: int, *, namespace: str, labels: Mapping[str, str]
) -> tuple[Manifest, ...]:
    """Return the budget of etcd members: one disruption at a time. No budget is returned if all members are needed."""
    return _budget(name, selector, namespace, labels) if members >= _MIN_MEMBERS else ()


def serving_budget(
    name: str, selector: Mapping[str, str], replicas: int, *, namespace: str, labels: Mapping[str, str]
) -> tuple[Manifest, ...]:
    """Return the budget of API servers: one disruption at a time. API servers that are not ready can always be evicted.

    A single replica has no budget.
    """
    if replicas < _MIN_REPLICAS:
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
