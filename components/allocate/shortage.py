"""Says why a pool cannot have the hosts it wants, domain by domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from components.lookups.pools import PlacedPool, declared_spares, inventory_file, place, problem
from components.specs.environment import Environment
from components.specs.natural import naturally
from components.specs.pools.node_pool import LEAST_SYSTEM_NODES, PoolRole
from components.specs.reading.loader import OUT_OF_SERVICE, REGION
from components.specs.reading.problems import Problem

MAX_DOMAINS_SHOWN = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """The hosts of one instance type in one failure domain, as one pool sees them."""

    hall: str
    total: int
    mine: int
    """Number of hosts that are in service, and held by the pool or free."""
    out_of_service: int
    """Number of hosts that are out of service, and held by the pool or free."""
    room: int
    """Number of nodes that the pool can have in the failure domain."""

    @property
    def spares(self) -> int:
        """Return how many hosts no node can have, since they stand in for those that fail."""
        return max(0, self.mine - self.room)

    def __str__(self) -> str:
        """Return what becomes of the hosts."""
        spares, others = self.spares, self.total - self.mine - self.out_of_service
        if others == self.total:
            return f"{self.total}, all in other pools"
        parts = [
            f"{count} {'is' if count == 1 else 'are'} {what if count != 1 else what.replace('spares', 'a spare')}"
            for count, what in ((spares, "spares"), (self.out_of_service, "out of service"), (others, "in other pools"))
            if count
        ]
        listing = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
        return f"{self.total} of which {listing}" if parts else f"{self.total}"


def too_few_nodes(
    environment: Environment, placed: PlacedPool, wanted: int, accounts: Mapping[str, Account], leaving: int
) -> Problem:
    """Return the problem of a pool that wants ``wanted`` nodes; others still have to give up ``leaving`` hosts."""
    possible = sum(account.room for account in accounts.values())
    kind = environment.failure_domain_kind(placed.pool.instance_type)
    parts = [f"{kind} {name} has {accounts[name]}" for name in naturally(accounts)]
    more = len(parts) - MAX_DOMAINS_SHOWN
    shown = parts[:MAX_DOMAINS_SHOWN] + ([f"{more} more"] if more > 0 else [])
    told = _spares(environment, placed) if any(account.spares for account in accounts.values()) else ""
    where = f"{', '.join(shown)} ({_files(accounts)}{told})" if parts else "the inventory has none"
    key = "max_nodes" if placed.pool.autoscaling else "nodes"
    text = f"{wanted} {placed.pool.instance_type} nodes wanted, {possible} can be given: {where}"
    least = LEAST_SYSTEM_NODES if _alone_for_services(placed) else 1
    remedy = _remedy(key, possible, leaving, told, least=least)
    return problem(environment, placed.file, (*placed.path, key), f"{text}; {remedy}")


def too_few_racks(
    environment: Environment, placed: PlacedPool, possible: int, accounts: Mapping[str, Account], leaving: int
) -> Problem:
    """Return the problem of a pool that wants more whole racks than the ``possible`` ones."""
    broken = sum(bool(account.out_of_service) for account in accounts.values())
    others = sum(account.total > account.mine + account.out_of_service for account in accounts.values())
    parts = [
        f"{count} {'is' if count == 1 else 'are'} {what}"
        for count, what in ((broken, "not whole with hosts out of service"), (others, "in other pools"))
        if count
    ]
    of_which = f" of which {' and '.join(parts)}" if parts else ""
    where = f"there are {len(accounts)}{of_which} ({_files(accounts)})" if accounts else "the inventory has none"
    text = f"{placed.pool.racks} racks of {placed.pool.instance_type} wanted, {possible} can be given: {where}"
    return problem(environment, placed.file, (*placed.path, "racks"), f"{text}; {_remedy('racks', possible, leaving)}")


def _alone_for_services(placed: PlacedPool) -> bool:
    """Tell whether a pool is the only one of its cluster that runs the cluster's own services."""
    return [pool.name for pool in placed.cluster.pools if pool.role is PoolRole.SYSTEM] == [placed.pool.name]


def _files(accounts: Mapping[str, Account]) -> str:
    broken = [OUT_OF_SERVICE] if any(account.out_of_service for account in accounts.values()) else []
    return ", ".join([*sorted({inventory_file(account.hall) for account in accounts.values()}), *broken])


def _spares(environment: Environment, placed: PlacedPool) -> str:
    """Return which spares count for a pool, and where they are written."""
    own = placed.pool.spares is not None
    file, path = (placed.file, (*placed.path, "spares")) if own else (REGION, ("spares",))
    written = own or "spares" in environment.region.model_fields_set
    where = f"in {place(environment, file, path)}" if written else "by default"
    return f"; spares: {declared_spares(environment, placed.pool)} {where}"


def _remedy(key: str, possible: int, leaving: int, spares: str = "", *, least: int = 1) -> str:
    if 0 < possible < least:
        remedy = f"{'lower spares, or ' if spares else ''}add a rack, since role system has {least} nodes or more"
    else:
        first = f"lower {key} to {possible}" if possible else "remove the pool"
        remedy = f"{first}, lower spares, or add a rack" if spares else f"{first} or add a rack"
    if leaving:
        remedy += f"; {leaving} that other clusters give up can be taken once that is applied and allocated"
    return remedy
