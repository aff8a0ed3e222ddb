"""Prerequisites of a region: referenced targets that are neither rendered nor created by a controller."""

from components.inputs.manifests import everything
from components.lookups.references.table import Form, Group, Table, references_table
from components.lookups.references.walk import MissingTarget, missing_targets
from components.specs.base import Spec
from components.specs.cycle_collector import without_cycle_collector
from components.specs.environment import Environment
from components.specs.natural import naturally

FORMAT = 1
_UNEXPLAINED = Form(
    group=Group.OBJECTS,
    what="objects without creator",
    why="A rendered object refers to this object, but no rendered object defines or creates it.",
    form="an object of the kind",
    make="render it in an extension component, or create it by hand",
)
"""Form of targets to which only objects of extension components refer."""


class Prerequisite(Spec):
    """Object or external resource that must exist before a region becomes ready."""

    kind: str
    """Kind of an object, ``<API group>/<Kind>`` or the kind only in the core group; or an external resource, in lower
    case."""
    cluster: str | None
    """Cluster of the object; None for an external resource."""
    namespace: str | None
    """Namespace of the object; None for an external resource and for cluster-scoped kinds."""
    name: str
    keys: tuple[str, ...]
    """Keys that a Secret or ConfigMap must have."""
    needed_by: dict[str, int]
    """Number of referring objects, by kind."""
    first: str
    """First referring object."""


class PrerequisiteForm(Spec):
    """Prerequisites of the same form."""

    name: str
    """Short, stable name of the form."""
    group: Group
    what: str
    """Description of the form."""
    why: str
    """Purpose, and consequence of a missing prerequisite."""
    form: str
    """Format of each prerequisite."""
    make: str
    """Command to create a prerequisite, with placeholders in upper case."""
    sources: tuple[str, ...]
    """Sources in upstream code or documentation."""
    items: tuple[Prerequisite, ...]


class Prerequisites(Spec):
    """Prerequisites of a region."""

    schema_version: int = FORMAT
    environment: str
    forms: tuple[PrerequisiteForm, ...]
    """All forms, ordered by group and then by first reference."""


def prerequisites(environment: Environment) -> Prerequisites:
    """Return the prerequisites of ``environment``.

    Raises:
        KeyError: the lock files do not match the data; ``components.rules.checks`` reports the place.
        SpecError: code of extension components fails.
    """
    table = references_table()
    with without_cycle_collector():
        missing = missing_targets(everything(environment), table)
    by_form: dict[str, list[MissingTarget]] = {}
    for prerequisite in missing.values():
        by_form.setdefault(prerequisite.form or "", []).append(prerequisite)
    forms = [_form(name, members, table) for name, members in by_form.items()]
    order = tuple(Group)
    return Prerequisites(
        environment=environment.name, forms=tuple(sorted(forms, key=lambda form: order.index(form.group)))
    )


def _form(name: str, members: list[MissingTarget], table: Table) -> PrerequisiteForm:
    form = table.forms.get(name, _UNEXPLAINED)
    by_place = {
        f"{prerequisite.target.cluster} {prerequisite.target} {prerequisite.target.kind}": prerequisite
        for prerequisite in members
    }
    sources = dict.fromkeys(prerequisite.source for prerequisite in members)
    return PrerequisiteForm(
        name=name or "unexplained",
        **form.model_dump(exclude={"entry", "type"}),
        sources=tuple(_whole(source, table) for source in sources),
        items=tuple(_prerequisite(by_place[place]) for place in naturally(by_place)),
    )


def _whole(source: str, table: Table) -> str:
    short, _, place = source.partition(":")
    return f"{table.sources[short]}: {place}"


def _prerequisite(prerequisite: MissingTarget) -> Prerequisite:
    return Prerequisite(
        kind=prerequisite.target.kind,
        cluster=prerequisite.target.cluster or None,
        namespace=prerequisite.target.namespace or None,
        name=prerequisite.target.name,
        keys=tuple(sorted(prerequisite.keys)),
        needed_by=dict(prerequisite.needed_by),
        first=prerequisite.first,
    )
