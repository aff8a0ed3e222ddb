"""Edits of ``out_of_service.yaml`` that remove hosts from service or return them, and replacement hosts for pools."""

from collections import defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from ruamel.yaml.comments import CommentedMap

from components.allocate.releases import replace_hosts
from components.specs.environment import Environment
from components.specs.hosts.out_of_service import OutOfServiceFile
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.natural import natural
from components.specs.reading.edits import edited, loaded
from components.specs.reading.loader import OUT_OF_SERVICE
from components.specs.reading.lock_text import entry_text
from components.specs.reading.parsing import parsed
from components.specs.reading.problems import SpecError
from components.specs.struct import Struct

_EMPTY = f"""# yaml-language-server: $schema=../../schemas/out_of_service.schema.json
schema_version: {OutOfServiceFile.FORMAT}
hosts:
"""
_HOSTS = "hosts"


class Exchange(Struct):
    """Effect on the pool of hosts when the faults of these hosts are recorded or removed."""

    hosts: tuple[str, ...]
    """Moved hosts of the pool, in natural order."""
    pool: str | None
    """``cluster/pool`` of the hosts; None for unassigned hosts."""
    stand_ins: tuple[str, ...] = ()
    """Replacement hosts assigned to the pool."""
    locks: tuple[AllocationsLock, ImagesLock] | None = None
    """Lock files with the replacement hosts assigned; None without replacement hosts."""
    why_none: str = ""
    """Reason why the pool gets no replacement hosts."""


def with_faults(text: str, entries: Mapping[str, Mapping[str, str]]) -> str:
    """Return the text of ``out_of_service.yaml`` with an entry for each host, sorted by name; replace existing entries.

    Args:
        text: content of the file; empty if there is no file.
        entries: fields of `OutOfServiceSpec` by name of the host, as text.
    """

    def edit(document: Any) -> Any:
        hosts = document.get(_HOSTS) or CommentedMap()
        for name, fields in entries.items():
            value = loaded(entry_text({**fields, "since": None}))
            value["since"] = loaded(fields["since"])
            if name in hosts:
                hosts[name] = value
            else:
                hosts.insert(sum(natural(other) < natural(name) for other in hosts), name, value)
        document[_HOSTS] = hosts
        return document

    return edited(text or _EMPTY, edit)


def without_faults(text: str, hosts: Collection[str]) -> str:
    """Return the text of ``out_of_service.yaml`` without the entries of ``hosts``."""

    def edit(document: Any) -> Any:
        for host in hosts:
            del document[_HOSTS][host]
        return document

    return edited(text, edit)


def with_faults_of(environment: Environment, text: str) -> Environment:
    """Return ``environment`` with ``text`` as its ``out_of_service.yaml``.

    Raises:
        SpecError: the text violates a rule of that file.
    """
    spec, _, problems = parsed(OUT_OF_SERVICE, text, OutOfServiceFile)
    if problems or not isinstance(spec, OutOfServiceFile):
        raise SpecError(environment.name, problems)
    return environment.model_copy(update={"out_of_service": spec.hosts})


def exchanges(environment: Environment, hosts: Collection[str]) -> list[Exchange]:
    """Return the replacement hosts for each pool of ``hosts``, by name of the pool; unassigned hosts are the last.

    The lock files of a pool contain the replacement hosts of the pools before it. A failed replacement does not undo
    the recorded faults.
    """
    members: dict[str, list[str]] = defaultdict(list)
    for host in sorted(hosts, key=natural):
        members[environment.allocations.hosts.get(host, "")].append(host)
    found = []
    for pool in sorted(members, key=lambda pool: (not pool, natural(pool))):
        done = _exchange(environment, pool or None, tuple(members[pool]))
        if done.locks:
            numbers, pins = done.locks
            environment = environment.model_copy(update={"allocations": numbers, "image_pins": pins})
        found.append(done)
    return found


def _exchange(environment: Environment, pool: str | None, hosts: tuple[str, ...]) -> Exchange:
    if pool is None or environment.out_of_service.keys().isdisjoint(hosts):
        return Exchange(hosts=hosts, pool=pool)
    try:
        locks = replace_hosts(environment, pool)
    except SpecError as error:
        return Exchange(hosts=hosts, pool=pool, why_none="; ".join(problem.text for problem in error.problems))
    replacements = sorted(locks[0].hosts.keys() - environment.allocations.hosts.keys(), key=natural)
    return Exchange(hosts=hosts, pool=pool, stand_ins=tuple(replacements), locks=locks)
