"""Table of references: fields that refer to other objects, objects that controllers create, and prerequisites.

The rows are the YAML files next to this module; their paths have the format of the table of effects. The target of a
row is an object of a kind, or a resource outside API servers. The reference of an object to its namespace needs no row.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from functools import cache
from pathlib import Path

from pydantic import Field

from components.lookups.effects.table import effects_table
from components.lookups.table_files import shipped_files, table_files
from components.specs.base import DataFile, Spec
from components.specs.reading.problems import Problem, SpecError
from components.specs.struct import Struct

FOLDER = Path(__file__).parent
_OWN_SOURCE = "jacquard"
BESIDE = "beside"
"""Kind of a row whose target's kind and group are fields next to the name, as in references of Cluster API."""


class Where(StrEnum):
    """Cluster of the referenced object."""

    OWN = "own"
    """The cluster of the object itself."""
    REMOTE = "remote"
    """The cluster that the object's kubeconfig reaches, or its own if it has none."""
    NAMED = "named"
    """The cluster that the object's namespace is named after."""


class Group(StrEnum):
    """Heading of a group of prerequisites in reports."""

    SECRETS = "secrets"
    OBJECTS = "objects"
    SOFTWARE = "software"
    ARTEFACTS = "artefacts"
    ADDRESSES = "addresses"
    NETWORKS = "networks"
    ACTIONS = "actions"


class Entry(StrEnum):
    """Secrets of a form that share one entry of a secret store."""

    REGION = "region"
    """All Secrets with the same name share an entry, in any namespace: their login is the same."""
    NAMESPACE = "namespace"
    """Each namespace has a separate entry: tenants choose the names."""
    CLUSTER = "cluster"
    """Each cluster has a separate entry: the namespace exists in all tenants' clusters."""


class Form(Spec):
    """Type of prerequisite, and how to create one."""

    group: Group
    what: str = Field(max_length=100)
    why: str = Field(max_length=300)
    form: str = Field(max_length=300)
    """Format of the prerequisite, such as the type of a Secret; the keys are in the rows."""
    make: str = Field(max_length=400)
    """Command to create it, with placeholders in upper case and never a value."""
    entry: Entry | None = None
    """Scope of its entry in a store of External Secrets Operator; None if no store provides it."""
    type: str | None = None
    """Type of the Secret; None if any type is accepted."""


class Row(Spec):
    """Reference of fields of a kind, or an object that a controller creates for an object of a kind."""

    fields: tuple[str, ...] = Field(default=("metadata.name",), min_length=1)
    to: str
    """Kind of the target, as ``<API group>/<Kind>`` or the kind only in the core group; ``beside``; or a resource
    outside API servers, in lower case."""
    name: str = "{}"
    """Name of the target. ``{}`` is the field's value, ``{path}`` the value at a path of the object, ``{./path}`` the
    value at a path next to the field."""
    namespace: str | None = None
    """Namespace of the target; that of the object if omitted. Cluster-scoped kinds have none."""
    namespace_beside: str | None = None
    """Key next to the field whose value is the namespace."""
    where: Where = Where.OWN
    keys: tuple[str, ...] = ()
    """Keys that a Secret or ConfigMap must have."""
    keys_beside: str | None = None
    """Path of further required keys, relative to the mapping that contains the field."""
    only: dict[str, str] = Field(default_factory=dict)
    """The row applies only to objects with these values, by path."""
    beside: dict[str, str] = Field(default_factory=dict)
    """The row applies only if the values of these keys next to the field match these regular expressions completely."""
    value: str = "(.*)"
    """Regular expression that the whole value must match; its first group is the part to use."""
    unless: str | None = None
    """The row applies only to objects without a value at this path."""
    form: str | None = None
    """Form of prerequisite; None if a missing target is a bug in a renderer."""
    source: str = Field(pattern=r"^[A-Za-z0-9]+:\S.*$", max_length=200)
    """Source, in the format of the table of effects."""


class ReferencesFile(DataFile):
    """File of the table."""

    HAS_PLACEHOLDERS = True

    sources: dict[str, str] = Field(default_factory=dict)
    """Sources in addition to those of the table of effects."""
    cluster_wide: tuple[str, ...] = ()
    """Cluster-scoped kinds."""
    always: tuple[str, ...] = ()
    """Objects that exist in every cluster, each as its kind and its name, separated by a space."""
    forms: dict[str, Form] = Field(default_factory=dict)
    refers: dict[str, tuple[Row, ...]] = Field(default_factory=dict)
    """References by kind."""
    makes: dict[str, tuple[Row, ...]] = Field(default_factory=dict)
    """Objects that controllers create for an object, by kind of that object."""


class Table(Struct):
    """All rows."""

    refers: Mapping[str, tuple[Row, ...]]
    makes: Mapping[str, tuple[Row, ...]]
    forms: Mapping[str, Form]
    cluster_wide: frozenset[str]
    always: frozenset[str]
    own_sources: Mapping[str, str]
    """Sources in addition to those of the table of effects."""

    @property
    def sources(self) -> dict[str, str]:
        """Return the description of each source by its short name."""
        return {_OWN_SOURCE: "this repository", **effects_table().sources, **self.own_sources}


@cache
def references_table() -> Table:
    """Return the library's references between objects, by kind."""
    return _table(shipped_files(FOLDER, ReferencesFile))


def read_table(folder: Path) -> Table:
    """Return the table in the files of ``folder``.

    Raises:
        SpecError: with all problems of all its files.
    """
    files, problems = table_files(folder, ReferencesFile)
    table = _table(files)
    problems += [problem for file, spec in files.items() for problem in _row_problems(file, spec, table)]
    if problems:
        raise SpecError(folder.name, problems)
    return table


def _table(files: Mapping[str, ReferencesFile]) -> Table:
    every = tuple(files.values())
    return Table(
        refers=_joined(tuple(file.refers for file in every)),
        makes=_joined(tuple(file.makes for file in every)),
        forms={name: form for file in every for name, form in file.forms.items()},
        cluster_wide=frozenset(kind for file in every for kind in file.cluster_wide),
        always=frozenset(text for file in every for text in file.always),
        own_sources={short: full for file in every for short, full in file.sources.items()},
    )


def _joined(parts: tuple[dict[str, tuple[Row, ...]], ...]) -> dict[str, tuple[Row, ...]]:
    kinds = dict.fromkeys(kind for part in parts for kind in part)
    return {kind: tuple(row for part in parts for row in part.get(kind, ())) for kind in kinds}


def _row_problems(file: str, spec: ReferencesFile, table: Table) -> Iterator[Problem]:
    """Yield problems of rows with an unlisted form or source."""
    sources = table.sources
    for section, kinds in (("refers", spec.refers), ("makes", spec.makes)):
        for kind, rows in kinds.items():
            for row in rows:
                if row.form is not None and row.form not in table.forms:
                    yield Problem(file, 0, f"{section}.{kind}", f"names form {row.form}, which no file has; add it")
                short = row.source.partition(":")[0]
                if short not in sources:
                    text = f"names source {short}, which no file lists; add it to sources"
                    yield Problem(file, 0, f"{section}.{kind}", text)
