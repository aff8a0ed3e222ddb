"""Persons and groups that may move hosts to a state."""

from components.lookups.host_states.table import LifecycleState
from components.specs.reading.problems import listed
from components.specs.region.policy import PolicySpec


def mover_fault(policy: PolicySpec, to: LifecycleState, by: str | None) -> str | None:
    """Return why ``by`` may not move a host to ``to`` according to ``policy``; None if it may."""
    movers = {str(state): names for state, names in policy.host_movers.items()}.get(to)
    if movers is None or by in movers:
        return None
    who = f"not {by}" if by else "and no mover is given"
    return f"only {listed(movers)} may move hosts to {to} (host_movers), {who}"
