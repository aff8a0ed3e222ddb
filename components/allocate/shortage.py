"""Problem texts for pools with too few available hosts, with host counts by failure domain."""

from collections.abc import Mapping

from components.lookups.pools import PlacedPool, declared_spares, inventory_file, place, problem
from components.specs.environment import Environment
from components.specs.natural import naturally
from components.specs.pools.node_pool import LEAST_SYSTEM_NODES, PoolRole
from components.specs.reading.loader import OUT_OF_SERVICE, REGION
from components.specs.reading.problems import Problem
from components.specs.struct import Struct

MAX_DOMAINS_SHOWN = 8


class Account(Struct):
    """Hosts of one instance type in one failure domain, from the perspective of one pool."""

    hall: str
    total: int
    mine: int
    """Number of hosts in service that are free or belong to the pool."""
    out_of_service: int
    """Number of hosts out of service that are unassigned or belong to the pool."""
    room: int
    """Maximum number of nodes of the pool in the failure domain."""

    @property
    def spares(self) -> int:
        """Return the number of hosts reserved as spares."""
        return max(0, self.mine - self.room)

    def __str__(self) -> str:
        """Return the host counts as message text: total, spares, out of service, in other pools."""
        spares, others = self.spares, self.total - self.mine - self.out_of_service
        if others == self.total:
            return f"{self.total}, all in other pools"
        parts = [
            f"{count} {'is' if count == 1 else 'are'} {state if count != 1 else state.replace('spares', 'a spare')}"
            for count, state in (
                (spares, "spares"),
                (self.out_of_service, "out of service"),
                (others, "in other pools"),
            )
            if count
        ]
        listing = f"{', '.join(parts[:-1])} and {parts[-1]}" if len(parts) > 1 else "".join(parts)
        return f"{self.total} of which {listing}" if parts else f"{self.total}"


def too_few_nodes(
    environment: Environment, placed: PlacedPool, wanted: int, accounts: Mapping[str, Account], leaving: int
) -> Problem:
    """Return the problem of a pool with ``wanted`` nodes; other clusters are releasing ``leaving`` hosts."""
    possible = sum(account.room for account in accounts.values())
    kind = environment.failure_domain_kind(placed.pool.instance_type)
    parts = [f"{kind} {name} has {accounts[name]}" for name in naturally(accounts)]
    more = len(parts) - MAX_DOMAINS_SHOWN
    shown = parts[:MAX_DOMAINS_SHOWN] + ([f"{more} more"] if more > 0 else [])
    spares = _spares(environment, placed) if any(account.spares for account in accounts.values()) else ""
    where = f"{', '.join(shown)} ({_files(accounts)}{spares})" if parts else "the inventory has none"
    key = "max_nodes" if placed.pool.autoscaling else "nodes"
    text = f"{wanted} {placed.pool.instance_type} nodes requested, {possible} available: {where}"
    least = LEAST_SYSTEM_NODES if _is_only_system_pool(placed) else 1
    remedy = _remedy(key, possible, leaving, spares, least=least)
    return problem(environment, placed.file, (*placed.path, key), f"{text}; {remedy}")


def too_few_racks(
    environment: Environment, placed: PlacedPool, possible: int, accounts: Mapping[str, Account], leaving: int
) -> Problem:
    """Return the problem of a pool that requests more whole racks than are ``possible``."""
    broken = sum(bool(account.out_of_service) for account in accounts.values())
    others = sum(account.total > account.mine + account.out_of_service for account in accounts.values())
    parts = [
        f"{count} {'is' if count == 1 else 'are'} {state}"
        for count, state in ((broken, "incomplete with hosts out of service"), (others, "in other pools"))
        if count
    ]
    of_which = f" of which {' and '.join(parts)}" if parts else ""
    where = f"there are {len(accounts)}{of_which} ({_files(accounts)})" if accounts else "the inventory has none"
    text = f"{placed.pool.racks} racks of {placed.pool.instance_type} requested, {possible} available: {where}"
    return problem(environment, placed.file, (*placed.path, "racks"), f"{text}; {_remedy('racks', possible, leaving)}")


def _is_only_system_pool(placed: PlacedPool) -> bool:
    """Return whether the pool is the only pool of its cluster with role system."""
    return [pool.name for pool in placed.cluster.pools if pool.role is PoolRole.SYSTEM] == [placed.pool.name]


def _files(accounts: Mapping[str, Account]) -> str:
    broken = [OUT_OF_SERVICE] if any(account.out_of_service for account in accounts.values()) else []
    return ", ".join([*sorted({inventory_file(account.hall) for account in accounts.values()}), *broken])


def _spares(environment: Environment, placed: PlacedPool) -> str:
    """Return the spares setting of a pool and its place in the data, as message text."""
    of_pool = placed.pool.spares is not None
    file, path = (placed.file, (*placed.path, "spares")) if of_pool else (REGION, ("spares",))
    declared = of_pool or "spares" in environment.region.model_fields_set
    where = f"in {place(environment, file, path)}" if declared else "by default"
    return f"; spares: {declared_spares(environment, placed.pool)} {where}"


def _remedy(key: str, possible: int, leaving: int, spares: str = "", *, least: int = 1) -> str:
    if 0 < possible < least:
        remedy = f"{'lower spares, or ' if spares else ''}add a rack, since role system requires {least} nodes or more"
    else:
        first = f"lower {key} to {possible}" if possible else "remove the pool"
        remedy = f"{first}, lower spares, or add a rack" if spares else f"{first} or add a rack"
    if leaving:
        remedy += f"; {leaving} released by other clusters can be used after the next up and allocate"
    return remedy
