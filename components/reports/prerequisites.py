"""What a region refers to and nobody renders or makes: given by the platform, found by walking its objects."""

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
    what="objects that nobody makes",
    why="An object names it, and nothing that is rendered is it or makes it.",
    form="an object of the kind that is named",
    make="render it in a component of the repository, or make it by hand",
)
"""Form of what objects of a repository's own components refer to."""


class Prerequisite(Spec):
    """Something that must be there before a region comes up."""

    kind: str
    """Kind of an object, ``<API group>/<Kind>`` or the kind alone in the core group; or a thing, in lower case."""
    cluster: str | None
    """Cluster that the object is in; None for a thing."""
    namespace: str | None
    """Namespace of the object; None for a thing and for kinds of the whole cluster."""
    name: str
    keys: tuple[str, ...]
    """Keys that a Secret or ConfigMap must have."""
    needed_by: dict[str, int]
    """Number of objects that refer to it, by their kind."""
    first: str
    """The first of these objects."""


class PrerequisiteForm(Spec):
    """Prerequisites that are alike."""

    name: str
    """Short name of the form, which does not change."""
    group: Group
    what: str
    """What they are, in words."""
    why: str
    """What they are for, and what happens without them."""
    form: str
    """What each must be like."""
    make: str
    """How to make one, with placeholders in upper case."""
    sources: tuple[str, ...]
    """Where in upstream's code or documentation that was read."""
    items: tuple[Prerequisite, ...]


class Prerequisites(Spec):
    """What a region refers to and nobody renders or makes."""

    schema_version: int = FORMAT
    environment: str
    forms: tuple[PrerequisiteForm, ...]
    """All forms by group, and then in the order in which objects first refer to them."""


def prerequisites(environment: Environment) -> Prerequisites:
    """Return what is given to ``environment`` by its platform.

    Raises:
        KeyError: the lock files do not fit the data; ``components.rules.checks`` says where.
        SpecError: code of the repository's own components breaks.
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
