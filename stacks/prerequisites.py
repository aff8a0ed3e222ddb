"""Checks before an apply that the external prerequisites of a stack exist in the clusters.

Only names and keys are read: an API server returns the metadata of a Secret without its values, and ``managedFields``
contains its keys.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from http import HTTPStatus
from itertools import groupby
from typing import Any

from components.lookups.references.table import Table, references_table
from components.lookups.references.walk import MissingTarget, missing_targets
from components.render.manifest import Manifest
from components.specs.natural import naturally
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef, Unreachable
from stacks.validation import MAX_PARALLEL

_DATA = ("f:data", "f:stringData")
_FIELD = "f:"


@dataclass(frozen=True, slots=True, kw_only=True)
class PrerequisiteCheck:
    """Result of the check for prerequisites."""

    missing: tuple[str, ...] = ()
    """Missing prerequisites, as one multi-line text per form."""
    unchecked: tuple[str, ...] = ()
    """Prerequisites that could not be checked, with the reason."""


@dataclass(frozen=True, slots=True)
class _Answer:
    """Result for one prerequisite; both texts are empty if the prerequisite exists."""

    prerequisite: MissingTarget
    lacks: str = ""
    unchecked: str = ""


def look(
    apis: Mapping[str, ApiServer], items: Sequence[Manifest], others: Callable[[], Iterable[Manifest]]
) -> PrerequisiteCheck:
    """Return the objects to which ``items`` refer and that do not exist in the clusters. The check is read-only.

    Prerequisites in a namespace that the stack itself will create are reported as unchecked, because they cannot exist
    yet.

    Args:
        apis: API servers, by cluster; prerequisites in other clusters are not checked.
        items: all objects of the stack.
        others: function that renders all objects of the region; only called if an object is missing.

    Raises:
        Unreachable: an API server does not answer.
    """
    table = references_table()
    referenced = missing_targets(items, table).values()
    wanted = [item for item in referenced if item.target.is_object and item.target.cluster in apis]
    with ThreadPoolExecutor(MAX_PARALLEL) as pool:
        answers = [answer for answer in pool.map(lambda item: _check(apis, item, items), wanted) if answer]
    if not answers:
        return PrerequisiteCheck()
    still = missing_targets(items, table, others())
    absent = [answer for answer in answers if answer.prerequisite.target in still]
    return PrerequisiteCheck(
        missing=tuple(_messages([answer for answer in absent if answer.lacks], table)),
        unchecked=tuple(_unchecked([answer for answer in absent if answer.unchecked])),
    )


def keys_of(metadata: Mapping[str, Any]) -> set[str] | None:
    """Return the keys of a Secret or ConfigMap from its metadata; None if the metadata does not contain them."""
    managers = metadata.get("managedFields")
    if not managers:
        return None
    fields = [manager.get("fieldsV1", {}).get(section, {}) for manager in managers for section in _DATA]
    return {key.removeprefix(_FIELD) for keys in fields for key in keys if key.startswith(_FIELD)}


def _check(apis: Mapping[str, ApiServer], prerequisite: MissingTarget, items: Sequence[Manifest]) -> _Answer | None:
    target, api = prerequisite.target, apis[prerequisite.target.cluster]
    group, _, kind = target.kind.rpartition("/")
    try:
        version = api.version(group, kind)
        if version is None:
            return _Answer(prerequisite, unchecked=f"{target.cluster} does not serve {kind} yet")
        body = api.get(ObjectRef(version, kind, target.name, target.namespace or None), metadata_only=True)
        if body is None and _in_new_namespace(api, prerequisite, items):
            return _Answer(prerequisite, unchecked=f"namespace {target.namespace} does not exist yet")
    except Unreachable:
        raise
    except ApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return _Answer(prerequisite, unchecked=f"the user of this run may not get {kind}s of {target.cluster}")
    if body is None:
        return _Answer(prerequisite, lacks=target.name)
    keys = keys_of(body["metadata"]) if prerequisite.keys else None
    lacking = sorted(prerequisite.keys - keys) if keys is not None else []
    return _Answer(prerequisite, lacks=f"{target.name} (lacks {', '.join(lacking)})") if lacking else None


def _in_new_namespace(api: ApiServer, prerequisite: MissingTarget, items: Sequence[Manifest]) -> bool:
    """Return whether the stack creates the namespace of a prerequisite in this run."""
    place, cluster = prerequisite.target.namespace, prerequisite.target.cluster
    made = any(item.kind == "Namespace" and item.name == place and item.cluster == cluster for item in items)
    return made and api.get(ObjectRef("v1", "Namespace", place), metadata_only=True) is None


def _messages(answers: Sequence[_Answer], table: Table) -> Iterator[str]:
    """Yield a text per form of prerequisite: description, missing objects by place, and instructions."""
    by_form = sorted(answers, key=lambda answer: answer.prerequisite.form or "")
    for name, members in groupby(by_form, key=lambda answer: answer.prerequisite.form):
        group = tuple(members)
        form = table.forms.get(name or "")
        what = form.what if form else "objects that no stack creates"
        lines = [f"{what}: {len(group)} missing, required by {group[0].prerequisite.first}", *_places(group)]
        yield "\n    ".join([*lines, f"fix: {form.make}"] if form else lines)


def _places(answers: Sequence[_Answer]) -> Iterator[str]:
    places: dict[str, list[str]] = {}
    for answer in answers:
        target = answer.prerequisite.target
        kind = target.kind.rpartition("/")[2]
        where = f"{target.namespace} of cluster {target.cluster}" if target.namespace else f"cluster {target.cluster}"
        places.setdefault(f"{kind} in {where}", []).append(answer.lacks)
    for place in naturally(places):
        yield f"{place}: {', '.join(naturally(places[place]))}"


def _unchecked(answers: Sequence[_Answer]) -> Iterator[str]:
    reasons: dict[str, list[str]] = {}
    for answer in answers:
        reasons.setdefault(answer.unchecked, []).append(str(answer.prerequisite.target))
    for reason, names in reasons.items():
        yield f"not checked, because {reason}: {', '.join(naturally(names))}"
