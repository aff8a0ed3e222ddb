"""The table of references: which fields name something else, what controllers make, and what somebody has to give.

The rows are the YAML files beside this module, their paths those of the table of effects. What a row names is an object
of a kind, or a thing that no API server holds. That an object refers to its namespace needs no row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path

from pydantic import Field

from components.lookups.effects.table import effects_table
from components.lookups.table_files import table_files
from components.specs.base import DataFile, Spec
from components.specs.reading.problems import Problem, SpecError

FOLDER = Path(__file__).parent
_OWN_SOURCE = "jacquard"
BESIDE = "beside"
"""The kind of a row whose kind and group stand beside the name, as Cluster API writes references."""


class Where(StrEnum):
    """The cluster in which something is."""

    OWN = "own"
    """That of the object itself."""
    REMOTE = "remote"
    """That which the object's kubeconfig reaches, or its own where it has none."""
    NAMED = "named"
    """That which the object's namespace is called after."""


class Group(StrEnum):
    """Heading under which something given is told."""

    SECRETS = "secrets"
    OBJECTS = "objects"
    SOFTWARE = "software"
    ARTEFACTS = "artefacts"
    ADDRESSES = "addresses"
    NETWORKS = "networks"
    ACTIONS = "actions"


class Entry(StrEnum):
    """Which Secrets of a form have one entry of a store."""

    REGION = "region"
    """All of one name, in whatever namespace: the login is the same."""
    NAMESPACE = "namespace"
    """Each for itself: tenants choose names."""
    CLUSTER = "cluster"
    """Each for itself, in a namespace that all clusters of tenants have."""


class Form(Spec):
    """What somebody has to give, and how."""

    group: Group
    what: str = Field(max_length=100)
    why: str = Field(max_length=300)
    form: str = Field(max_length=300)
    """What it must be like, such as the type of a Secret; keys stand in the rows."""
    make: str = Field(max_length=400)
    """How to make it, with placeholders in upper case and never a value."""
    entry: Entry | None = None
    """How a store of External Secrets Operator has it; None if none delivers it."""
    type: str | None = None
    """Type that the Secret must have for whoever reads it; None for any."""


class Row(Spec):
    """What some fields of a kind refer to, or what a controller makes of an object of a kind."""

    fields: tuple[str, ...] = Field(default=("metadata.name",), min_length=1)
    to: str
    """Kind, as ``<API group>/<Kind>`` or the kind alone in the core group; ``beside``; or a thing, in lower case."""
    name: str = "{}"
    """``{}`` is the field's value, ``{path}`` another one of the object, ``{./path}`` one from beside the field."""
    namespace: str | None = None
    """The object's own when it is left out; kinds of the whole cluster have none."""
    namespace_beside: str | None = None
    """Key beside the field that has the namespace."""
    where: Where = Where.OWN
    keys: tuple[str, ...] = ()
    """Keys that a Secret or ConfigMap must have."""
    keys_beside: str | None = None
    """Path, from the mapping that has the field, of further keys."""
    only: dict[str, str] = Field(default_factory=dict)
    """Paths of the object, and the value that each must have."""
    beside: dict[str, str] = Field(default_factory=dict)
    """Keys beside the field, and a regular expression of the whole value that each must have."""
    value: str = "(.*)"
    """Regular expression of the whole value; its first group is what counts."""
    unless: str | None = None
    """Path that must not be there."""
    form: str | None = None
    """The form of what nobody renders or makes; None where that would mean that a renderer is wrong."""
    source: str = Field(pattern=r"^[A-Za-z0-9]+:\S.*$", max_length=200)
    """Where that was read, as in the table of effects."""


class ReferencesFile(DataFile):
    """A file of the table."""

    sources: dict[str, str] = Field(default_factory=dict)
    """Sources beside those of the table of effects."""
    cluster_wide: tuple[str, ...] = ()
    """Kinds that lie in no namespace."""
    always: tuple[str, ...] = ()
    """Objects that every cluster has, as kind, blank, name."""
    forms: dict[str, Form] = Field(default_factory=dict)
    refers: dict[str, tuple[Row, ...]] = Field(default_factory=dict)
    """References by kind."""
    makes: dict[str, tuple[Row, ...]] = Field(default_factory=dict)
    """What controllers make of an object, by its kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """All rows."""

    refers: Mapping[str, tuple[Row, ...]]
    makes: Mapping[str, tuple[Row, ...]]
    forms: Mapping[str, Form]
    cluster_wide: frozenset[str]
    always: frozenset[str]
    sources: Mapping[str, str]


@cache
def references_table() -> Table:
    """Return the table of this library.

    Raises:
        SpecError: with all problems of all its files.
    """
    return read_table(FOLDER)


def read_table(folder: Path) -> Table:
    """Return the table whose files lie in ``folder``.

    Raises:
        SpecError: with all problems of all its files.
    """
    files, problems = table_files(folder, ReferencesFile)
    every = tuple(files.values())
    table = Table(
        refers=_joined(tuple(one.refers for one in every)),
        makes=_joined(tuple(one.makes for one in every)),
        forms={name: form for one in every for name, form in one.forms.items()},
        cluster_wide=frozenset(kind for one in every for kind in one.cluster_wide),
        always=frozenset(text for one in every for text in one.always),
        sources={
            _OWN_SOURCE: "this repository",
            **effects_table().sources,
            **{short: full for one in every for short, full in one.sources.items()},
        },
    )
    problems += [problem for file, spec in files.items() for problem in _misfits(file, spec, table)]
    if problems:
        raise SpecError(folder.name, problems)
    return table


def _joined(parts: tuple[dict[str, tuple[Row, ...]], ...]) -> dict[str, tuple[Row, ...]]:
    kinds = dict.fromkeys(kind for part in parts for kind in part)
    return {kind: tuple(row for part in parts for row in part.get(kind, ())) for kind in kinds}


def _misfits(file: str, spec: ReferencesFile, table: Table) -> Iterator[Problem]:
    """Yield rows whose form or source nobody lists."""
    for section, kinds in (("refers", spec.refers), ("makes", spec.makes)):
        for kind, rows in kinds.items():
            for row in rows:
                if row.form is not None and row.form not in table.forms:
                    yield Problem(file, 0, f"{section}.{kind}", f"names form {row.form}, which no file has; add it")
                short = row.source.partition(":")[0]
                if short not in table.sources:
                    text = f"names source {short}, which no file lists; add it to sources"
                    yield Problem(file, 0, f"{section}.{kind}", text)
