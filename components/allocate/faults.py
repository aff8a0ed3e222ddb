"""Edits of ``out_of_service.yaml`` that remove hosts from service or return them, and replacement hosts for pools."""

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
    """Effect on the pool of a host when the fault of the host is recorded or removed."""

    pool: str | None
    """``cluster/pool`` of the host; None for an unassigned host."""
    stand_ins: tuple[str, ...] = ()
    """Replacement hosts assigned to the pool."""
    locks: tuple[AllocationsLock, ImagesLock] | None = None
    """Lock files with the replacement hosts assigned; None without replacement hosts."""
    why_none: str = ""
    """Reason why the pool gets no replacement hosts."""


def with_fault(text: str, host: str, entry: dict[str, str]) -> str:
    """Return the text of ``out_of_service.yaml`` with an entry for ``host``, sorted by name; replace an existing entry.

    Args:
        text: content of the file; empty if there is no file.
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
    """Return the text of ``out_of_service.yaml`` without the entry of ``host``."""

    def edit(document: Any) -> Any:
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


def exchange(environment: Environment, host: str) -> Exchange:
    """Return the replacement hosts for the pool of ``host``. A failed replacement does not undo the recorded fault."""
    before = environment.allocations.hosts
    pool = before.get(host)
    if pool is None or host not in environment.out_of_service:
        return Exchange(pool=pool)
    try:
        locks = replace_hosts(environment, pool)
    except SpecError as error:
        return Exchange(pool=pool, why_none="; ".join(problem.text for problem in error.problems))
    replacements = sorted(locks[0].hosts.keys() - before.keys(), key=natural)
    return Exchange(pool=pool, stand_ins=tuple(replacements), locks=locks)
