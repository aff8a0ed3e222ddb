"""A host goes out of service or comes back: the edit of ``out_of_service.yaml``, and what it means for its pool."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ruamel.yaml.comments import CommentedMap

from components.allocate.releases import replace_hosts
from components.specs.environment import Environment
from components.specs.hosts.out_of_service import OutOfServiceFile
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.natural import natural
from components.specs.reading.edits import edited, loaded
from components.specs.reading.loader import OUT_OF_SERVICE, parsed
from components.specs.reading.lock_text import entry_text
from components.specs.reading.problems import SpecError

_EMPTY = f"""# yaml-language-server: $schema=../../schemas/out_of_service.schema.json
schema_version: {OutOfServiceFile.FORMAT}
hosts:
"""
_HOSTS = "hosts"


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """What the fault of a host, or the end of it, means for the pool that has the host."""

    pool: str | None
    """``cluster/pool`` that has the host; None for a host that is nobody's."""
    stand_ins: tuple[str, ...] = ()
    """Hosts that the pool gets for those it misses."""
    locks: tuple[AllocationsLock, ImagesLock] | None = None
    """Lock files with these hosts given; None where nothing is."""
    why_none: str = ""
    """Why the pool gets none."""


def with_fault(text: str, host: str, entry: dict[str, str]) -> str:
    """Return an ``out_of_service.yaml`` that lists ``host``, in its place by name; an entry that is there is replaced.

    Args:
        text: of the file; empty where there is none.
        host: name of the host.
        entry: fields of `OutOfServiceSpec`, as text.
    """

    def edit(document: Any) -> Any:
        hosts = document.get(_HOSTS) or CommentedMap()
        value = loaded(entry_text(entry | {"since": None}))
        value["since"] = loaded(entry["since"])
        if host in hosts:
            hosts[host] = value
        else:
            hosts.insert(sum(natural(name) < natural(host) for name in hosts), host, value)
        document[_HOSTS] = hosts
        return document

    return edited(text or _EMPTY, edit)


def without_fault(text: str, host: str) -> str:
    """Return an ``out_of_service.yaml`` that does not list ``host`` any more."""

    def edit(document: Any) -> Any:
        del document[_HOSTS][host]
        return document

    return edited(text, edit)


def with_faults_of(environment: Environment, text: str) -> Environment:
    """Return ``environment`` with ``text`` as its ``out_of_service.yaml``.

    Raises:
        SpecError: the text breaks a rule of that file.
    """
    spec, _, problems = parsed(OUT_OF_SERVICE, text, OutOfServiceFile)
    if problems or not isinstance(spec, OutOfServiceFile):
        raise SpecError(environment.name, problems)
    return environment.model_copy(update={"out_of_service": spec.hosts})


def exchange(environment: Environment, host: str) -> Exchange:
    """Return what the pool of ``host`` gets for the hosts that it misses. Nothing that fails here undoes a fault."""
    before = environment.allocations.hosts
    pool = before.get(host)
    if pool is None or host not in environment.out_of_service:
        return Exchange(pool=pool)
    try:
        locks = replace_hosts(environment, pool)
    except SpecError as error:
        return Exchange(pool=pool, why_none="; ".join(problem.text for problem in error.problems))
    given = sorted(locks[0].hosts.keys() - before.keys(), key=natural)
    return Exchange(pool=pool, stand_ins=tuple(given), locks=locks)
