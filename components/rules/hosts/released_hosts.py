"""Rule about the removal of hosts: a host is released and free before its row is removed."""

from collections import defaultdict
from collections.abc import Iterator

from components.lookups.pools import inventory_file
from components.rules.hosts import inventory
from components.rules.region.running import running_hosts
from components.specs.environment import Environment
from components.specs.natural import naturally
from components.specs.reading.problems import Problem, listed

AREA = "inventory"
"""Prefix of the name of this rule in reports."""
_MAX_NAMES = 3


def released_first(base: Environment, head: Environment) -> Iterator[Problem]:
    """Report hosts that one change releases from a pool with nodes and removes from the inventory.

    Their objects would be deleted while Machines use them: the nodes stop without a drain, and the disks may not be
    wiped. Commands with ``--base`` evaluate this rule. A waiver with the pool as its subject permits the removal.
    """
    rows = {host.host for host in head.hosts} | inventory.renamed(head).keys()
    gone: dict[tuple[str, str], list[str]] = defaultdict(list)
    in_use = running_hosts(base)
    for host in base.hosts:
        if host.host in in_use and host.host not in rows and host.host not in head.allocations.hosts:
            gone[host.hall, in_use[host.host]].append(host.host)
    for (hall, pool), names in gone.items():
        text = (
            f"{listed(naturally(names), _MAX_NAMES)} of {pool} must be released before the removal, because nodes may"
            " run there; restore the rows (git diff shows them), apply the release with jacquard up"
            f" {head.name}, and remove the rows in a later change"
        )
        yield Problem(inventory_file(hall), 0, "", text, subject=pool)


CHANGES = (released_first,)
"""Rules about the change from a base to a head."""
