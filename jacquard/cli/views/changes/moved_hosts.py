"""Moved hosts and the effects on their pools, as lines and as JSON."""

from collections.abc import Mapping, Sequence
from typing import Any

from components.allocate.faults import Exchange
from components.allocate.host_moves import Move
from components.lookups.host_states.table import LifecycleState, state_of
from components.reports.hosts.release import release_steps
from components.specs.environment import Environment


def lines(environment: Environment, moves: Sequence[Move], done: Sequence[Exchange]) -> list[str]:
    """Return a sentence for each pool, and for one host the steps that remove its node.

    Args:
        environment: environment before the moves.
        moves: the moves, at least one, all to the same state.
        done: effects of the moves on the pools.
    """
    to = moves[0].to
    steps = _steps(environment, moves, done)
    title = [f"to remove {moves[0].host.host} from {done[0].pool}:"] if steps else []
    numbered = [f"  {number}. {step}" for number, step in enumerate(steps, start=1)]
    if to is LifecycleState.PRODUCTION and all(state_of(environment, move.host.host) is to for move in moves):
        tested = [move.host.host for move in moves]
        return [
            f"{_subject(tested, 'is', 'are')} in production; {_of(tested, 'its test is', 'their tests are')} recorded"
        ]
    return [*(_sentence(environment.name, item, to) for item in done), *title, *numbered]


def to_json(environment: Environment, moves: Sequence[Move], done: Sequence[Exchange]) -> Mapping[str, Any]:
    """Return the moves and their effects; the arguments are those of `lines`. One host has fields of its own."""
    hosts = [
        {
            "host": move.host.host,
            "from": state_of(environment, move.host.host),
            "to": move.to,
            "evidence": move.evidence.digest if move.evidence else None,
        }
        for move in moves
    ]
    pools = [{"pool": item.pool, "stand_ins": item.stand_ins, "why_none": item.why_none} for item in done]
    if len(moves) == 1:
        return {**hosts[0], **pools[0], "steps": _steps(environment, moves, done)}
    return {"hosts": hosts, "pools": [{**pool, "hosts": item.hosts} for pool, item in zip(pools, done, strict=True)]}


def _steps(environment: Environment, moves: Sequence[Move], done: Sequence[Exchange]) -> tuple[str, ...]:
    pool = done[0].pool
    if len(moves) > 1 or pool is None or moves[0].to is LifecycleState.PRODUCTION:
        return ()
    return release_steps(environment, moves[0].host.host, pool)


def _sentence(environment: str, done: Exchange, to: LifecycleState) -> str:
    away = to is not LifecycleState.PRODUCTION
    subject = _subject(done.hosts, "is", "are")
    if done.pool is None:
        return f"{subject} unassigned{'; no pool is affected' if away else ' and available to pools again'}"
    if not away:
        release = f"jacquard allocate {environment} --release-hosts {done.pool}"
        hosts = _of(done.hosts, "a host", "hosts")
        return f"{subject} {hosts} of {done.pool} again; to release surplus hosts: {release}"
    gets = ", ".join(done.stand_ins) or "no other host"
    return f"{subject} out of service in {done.pool}, which gets {gets}"


def _subject(hosts: Sequence[str], singular: str, plural: str) -> str:
    return f"{hosts[0]} {singular}" if len(hosts) == 1 else f"{len(hosts)} hosts {plural}"


def _of(hosts: Sequence[str], singular: str, plural: str) -> str:
    return singular if len(hosts) == 1 else plural
