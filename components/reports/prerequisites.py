"""Prerequisites of a region: targets of its objects that nothing renders or creates, provided by the platform."""

from __future__ import annotations

from components.inputs.manifests import everything
from components.lookups.references.table import Form, Group, Table, references_table
from components.lookups.references.walk import Given, given
from components.specs.base import Spec
from components.specs.environment import Environment
from components.specs.natural import naturally
from components.specs.reading.cycle_collector import without_cycle_collector

FORMAT = 1
_UNEXPLAINED = Form(
    group=Group.OBJECTS,
    what="objects without creator",
    why="An object refers to it, but no rendered object is or creates it.",
    form="an object of the kind",
    make="render it in an extension component, or create it by hand",
)
"""Form of targets that only objects of extension components refer to."""


class Prerequisite(Spec):
    """An object or thing that must exist before a region becomes ready."""

    kind: str
    """Kind of an object, ``<API group>/<Kind>`` or the kind only in the core group; or a thing, in lower case."""
    cluster: str | None
    """Cluster of the object; None for a thing."""
    namespace: str | None
    """Namespace of the object; None for a thing and for cluster-scoped kinds."""
    name: str
    keys: tuple[str, ...]
    """Keys that a Secret or ConfigMap must have."""
    needed_by: dict[str, int]
    """Number of objects that refer to the prerequisite, by kind."""
    first: str
    """The first of these objects."""


class PrerequisiteForm(Spec):
    """Prerequisites of the same form."""

    name: str
    """Short and stable name of the form."""
    group: Group
    what: str
    """Description of the form."""
    why: str
    """Purpose, and the consequence of a missing one."""
    form: str
    """Format of each prerequisite."""
    make: str
    """Command to create one, with placeholders in upper case."""
    sources: tuple[str, ...]
    """Sources in upstream's code or documentation."""
    items: tuple[Prerequisite, ...]


class Prerequisites(Spec):
    """Prerequisites of a region."""

    schema_version: int = FORMAT
    environment: str
    forms: tuple[PrerequisiteForm, ...]
    """All forms by group, and then in the order of their first references."""


def prerequisites(environment: Environment) -> Prerequisites:
    """Return the prerequisites of ``environment``.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
        SpecError: code of extension components fails.
    """
    table = references_table()
    with without_cycle_collector():
        all_given = given(everything(environment), table)
    found: dict[str, list[Given]] = {}
    for one in all_given.values():
        found.setdefault(one.form or "", []).append(one)
    forms = [_form(name, alike, table) for name, alike in found.items()]
    order = tuple(Group)
    return Prerequisites(
        environment=environment.name, forms=tuple(sorted(forms, key=lambda form: order.index(form.group)))
    )


def _form(name: str, alike: list[Given], table: Table) -> PrerequisiteForm:
    form = table.forms.get(name, _UNEXPLAINED)
    by_place = {f"{one.target.cluster} {one.target} {one.target.kind}": one for one in alike}
    sources = dict.fromkeys(one.source for one in alike)
    return PrerequisiteForm(
        name=name or "unexplained",
        **form.model_dump(exclude={"entry", "type"}),
        sources=tuple(_whole(source, table) for source in sources),
        items=tuple(_prerequisite(by_place[place]) for place in naturally(by_place)),
    )


def _whole(source: str, table: Table) -> str:
    short, _, place = source.partition(":")
    return f"{table.sources[short]}: {place}"


def _prerequisite(one: Given) -> Prerequisite:
    return Prerequisite(
        kind=one.target.kind,
        cluster=one.target.cluster or None,
        namespace=one.target.namespace or None,
        name=one.target.name,
        keys=tuple(sorted(one.keys)),
        needed_by=dict(one.needed_by),
        first=one.first,
    )
