"""Changed checks of nodes as text: actions before and after, with the nodes on which they act and would have acted."""

from collections.abc import Iterable, Iterator

from components.specs.health.node_checks import HealthAction
from components.specs.reading.problems import listed, visible
from jacquard.cli.console import long_duration, plural
from jacquard.observe.facts import HISTORY_HOURS
from jacquard.previews.impacts.checked_nodes import CheckAction, CheckedNodes
from jacquard.previews.impacts.impact import Impact
from jacquard.previews.impacts.occupancy import utc_text

_DAYS = HISTORY_HOURS // 24
_MOST_TYPES = 3
_MINUTE = 60


def sentences(impact: Impact) -> Iterator[str]:
    """Yield a sentence for each changed check, with the numbers of nodes of all pools, and one for missing numbers."""
    for check in impact.checks:
        types = listed(dict.fromkeys(nodes.instance_type for nodes in check.nodes if nodes.instance_type), _MOST_TYPES)
        change = f"check {check.check} of {types}: {_action(check.before)} -> {_action(check.after)}"
        until = f"in the {_DAYS} days until {utc_text(check.history_until)} " if check.history_until else ""
        yield "; ".join([change, *_numbers(check.nodes, until)])
    if reasons := dict.fromkeys(reason for check in impact.checks for reason in check.unknown):
        yield visible(f"nodes of changed checks: not all are known; {'; '.join(reasons)}")


def details(impact: Impact) -> Iterator[str]:
    """Yield a line for each pool with nodes that a changed check acts on or acted on, and one for all other pools."""
    for check in impact.checks:
        concerned = [nodes for nodes in check.nodes if nodes.faulty or nodes.past or nodes.past_before]
        for nodes in concerned:
            kind = nodes.instance_type or "nodes without a known pool"
            yield f"{check.check}: {nodes.part} ({nodes.tenant}, {kind}): {'; '.join(_numbers([nodes]))}"
        if concerned and (others := len(check.nodes) - len(concerned)):
            yield f"{check.check}: {plural(others, 'other pool')}: none"


def _action(action: CheckAction | None) -> str:
    if action is None:
        return "none"
    if action.hold_seconds is not None:
        minutes, seconds = divmod(action.hold_seconds, _MINUTE)
        return f"{action.action} after {f'{action.hold_seconds} s' if seconds else long_duration(minutes)}"
    return f"{action.action}, {action.when_idle} when idle" if action.when_idle else str(HealthAction(action.action))


def _numbers(nodes: Iterable[CheckedNodes], until: str = "") -> Iterator[str]:
    """Yield the nodes with the fault, and those of the history; nothing for unknown numbers."""
    every = list(nodes)
    now = [item for item in every if item.faulty is not None]
    if now:
        due = sum(item.due or 0 for item in now)
        faulty = sum(item.faulty or 0 for item in now)
        yield f"now {plural(faulty, 'node')} with the fault, {due} due"
    known = [item for item in every if item.past is not None]
    if known:
        past, before = sum(item.past or 0 for item in known), sum(item.past_before or 0 for item in known)
        yield f"{until}it would have acted on {plural(past, 'node')} instead of {before}"
