"""Rules about lock files: correct region, consistent, unedited, up to date, no duplicates."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from components.allocate.allocation import ACCEPT_EDITS, attempt
from components.allocate.ledger import freed_numbers, numbers_of, shown
from components.lookups.intervals import Interval, overlaps
from components.lookups.number_kinds import PUBLIC_IPS, Kind
from components.lookups.numbers import as_block
from components.lookups.pools import DataPath, problem
from components.rules.region.ranges import Given, left_out
from components.rules.region.running import Entry, restored, running_nodes
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.locks import LockFile
from components.specs.natural import naturally
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.lock_text import digest_of, entries_digest, entry_text
from components.specs.reading.problems import Problem, dotted, listed

MAX_NAMES_SHOWN = 5
DIGEST_SHOWN = len("sha256:") + 12
_LOSS = {
    ALLOCATIONS: "hosts would change clusters, and clusters their numbers",
    IMAGE_PINS: "running nodes would be recreated",
}
"""Consequence of rewriting a lock file while the region runs, by file."""


def lost(environment: Environment) -> Iterator[Problem]:
    """Report a missing lock file if the other exists: its content would be allocated again while nodes use it."""
    locks = _locks(environment)
    for (file, lock), (other, beside) in zip(locks, reversed(locks), strict=True):
        if _is_new(lock) and not _is_new(beside):
            path = f"environments/{environment.name}/{file}"
            text = (
                f"is lost or empty, but {other} is not: {_LOSS[file]}; restore it from the last commit that has it,"
                f" which git log -1 --diff-filter=AM -- {path} finds: git checkout COMMIT -- {path}; in a region that"
                " never ran remove both instead"
            )
            yield Problem(file, 0, "", text)


def both_lost(environment: Environment) -> Iterator[Problem]:
    """Report that both lock files are missing if the allocation fails: an existing region had a valid allocation."""
    if all(_is_new(lock) for _, lock in _locks(environment)) and attempt(environment).problems:
        text = f"is missing, and so is {IMAGE_PINS}; if the region ran, first restore both with git checkout"
        yield Problem(ALLOCATIONS, 0, "", text)


def foreign(environment: Environment) -> Iterator[Problem]:
    """Report a lock file of another region, with the numbers, hosts and pins of other machines."""
    for file, lock in _locks(environment):
        if lock.region not in {None, environment.name}:
            text = (
                f"belongs to region '{lock.region}', not {environment.name}; restore the lock file of this region with"
                " git checkout, or if the region is new remove both lock files"
            )
            yield problem(environment, file, ("region",), text)


def unpaired(environment: Environment) -> Iterator[Problem]:
    """Report a lock file that is older than the other, for example because only one file was restored."""
    locks = _locks(environment)
    if any(_is_new(lock) for _, lock in locks):
        return
    for (file, lock), (other, beside) in zip(locks, reversed(locks), strict=True):
        fits = entries_digest(beside)
        if lock.beside != fits:
            state = f"{lock.beside[:DIGEST_SHOWN]}... is not" if lock.beside else "is missing, and should be"
            text = (
                f"{state} the digest of the entries of {other} ({fits[:DIGEST_SHOWN]}...), so one of the two is older;"
                " restore both files from one commit with git checkout, or after a merge both from one side; accept"
                f" intended edits with jacquard allocate {environment.name} {ACCEPT_EDITS}"
            )
            yield problem(environment, file, ("beside",), text)


def _is_new(lock: LockFile) -> bool:
    """Return whether ``lock`` was never written or has lost its content."""
    return lock.model_fields_set <= {"schema_version"}


def hand_edits(environment: Environment) -> Iterator[Problem]:
    """Report a lock file that was edited or merged by hand."""
    for file, lock in _locks(environment):
        fits = digest_of(lock)
        if lock.digest == fits or _is_new(lock):
            continue
        what = "is missing"
        if lock.digest is not None:
            what = f"{lock.digest[:DIGEST_SHOWN]}... is not the digest of this file ({fits[:DIGEST_SHOWN]}...)"
        text = (
            f"{what}, it was edited or merged by hand; undo that with git checkout, or after a merge take one side of"
            f" the whole file, and {_remedy(environment)}; accept intended edits with {ACCEPT_EDITS}"
        )
        yield problem(environment, file, ("digest",), text)


def _locks(environment: Environment) -> tuple[tuple[str, LockFile], ...]:
    return (ALLOCATIONS, environment.allocations), (IMAGE_PINS, environment.image_pins)


def numbers(environment: Environment) -> Iterator[Problem]:
    """Report numbers, addresses and prefixes in the lock file that are out of range or duplicated."""
    given: dict[Kind, list[Interval[Given]]] = defaultdict(list)
    running = running_nodes(environment)
    for kind, path, block in _given(environment):
        given[kind].append((block.first, block.last, (kind, path, block)))
    yield from left_out(environment, _given(environment), lambda path: _redo(environment, path, running))
    for (kind, other, first), (_, path, second) in (
        pair for intervals in given.values() for pair in overlaps(intervals)
    ):
        what = (
            (f"is also assigned to {other[1]}")
            if first == second
            else f"overlaps {dotted(other)} ({shown(kind, first)})"
        )
        text = f"{shown(kind, second)} {what}; {_redo(environment, path, running)}"
        yield problem(environment, ALLOCATIONS, path, text)


def allocations(environment: Environment) -> Iterator[Problem]:
    """Report a failing allocation, or else missing, stale and superfluous entries of lock files."""
    wanted = attempt(environment)
    if wanted.problems:
        yield from wanted.problems
        return
    have, pins = environment.allocations, environment.image_pins
    if _is_new(have) and not pins.groups:
        yield Problem(ALLOCATIONS, 0, "", f"does not exist yet; {_remedy(environment)}")
        return
    for section in ("vpcs", "clusters", "public_ips", "groups"):
        yield from _entries(environment, ALLOCATIONS, section, getattr(have, section), getattr(wanted.numbers, section))
    settled = {host for host, pool in have.hosts.items() if wanted.numbers.hosts.get(host) == pool}
    addresses = (
        {host: at for host, at in lock.addresses.items() if host in settled} for lock in (have, wanted.numbers)
    )
    yield from _entries(environment, ALLOCATIONS, "addresses", *addresses)  # Other addresses follow from the hosts.
    yield from _hosts(environment, have.hosts, wanted.numbers.hosts)
    for section in ("control_planes", "groups", "dpus", "charts", "rollouts", "waves", "previous"):
        have_pins, wanted_pins = getattr(pins, section), getattr(wanted.pins, section)
        yield from _entries(environment, IMAGE_PINS, section, have_pins, wanted_pins)


def _given(environment: Environment) -> Iterator[Given]:
    """Yield all numbers of the lock file, assigned numbers before quarantined numbers."""
    lock = environment.allocations
    for name, vpc in lock.vpcs.items():
        yield from ((kind, ("vpcs", name, *key), block) for kind, key, block in numbers_of(vpc))
    for name, cluster in lock.clusters.items():
        yield from ((kind, ("clusters", name, *key), block) for kind, key, block in numbers_of(cluster))
    for name, address in lock.public_ips.items():
        yield PUBLIC_IPS, ("public_ips", name), as_block(address)
    for name, freed in lock.quarantine.items():
        yield from ((kind, ("quarantine", name, *key), block) for kind, key, block in freed_numbers(freed))


def _entries(
    environment: Environment, file: str, section: str, have: Mapping[str, object], wanted: Mapping[str, object]
) -> Iterator[Problem]:
    for name in naturally({*have, *wanted}):
        if name not in have:
            text = f"is missing; {_remedy(environment)}"
        elif name not in wanted:
            text = f"belongs to nothing in the data; {_remedy(environment)}"
        elif have[name] != wanted[name]:
            needed = entry_text(wanted[name])
            text = f"is stale ({entry_text(have[name])}, the data requires {needed}); {_remedy(environment)}"
        else:
            continue
        yield problem(environment, file, (section, name), text)


def _hosts(environment: Environment, have: Mapping[str, str], wanted: Mapping[str, str]) -> Iterator[Problem]:
    missing, superfluous = defaultdict(list), []
    for host in naturally({*have, *wanted}):
        if host in wanted and have.get(host) != wanted[host]:
            missing[wanted[host]].append(host)
        elif host not in wanted:
            superfluous.append(host)
    for key, names in missing.items():
        text = f"lacks {len(names)} of {key} ({listed(names, MAX_NAMES_SHOWN)}); {_remedy(environment)}"
        yield problem(environment, ALLOCATIONS, ("hosts",), text)
    if superfluous:
        names_shown = listed(superfluous, MAX_NAMES_SHOWN)
        text = f"has {len(superfluous)} that no pool can use ({names_shown}); {_remedy(environment)}"
        line = environment.positions.line(ALLOCATIONS, ("hosts", superfluous[0]))
        yield Problem(ALLOCATIONS, line, "hosts", text)


def _remedy(environment: Environment) -> str:
    return f"run jacquard allocate {environment.name}"


def _redo(environment: Environment, path: DataPath, running: Mapping[Entry, int]) -> str:
    """Return the remedy that allocates a number again, or that restores the number if nodes run with it."""
    if running[path[:2]]:
        return restored(path[:2], running[path[:2]])
    return f"remove {dotted(path[:2])} and {_remedy(environment)} {ACCEPT_EDITS}"


RULES = Rules(
    belonging=(lost, foreign),
    locks=(hand_edits, unpaired, numbers, both_lost, allocations),
    blocking=(numbers, hand_edits, unpaired),
    acceptable=(hand_edits, unpaired),
)
