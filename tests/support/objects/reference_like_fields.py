"""Fields of published kinds that look like references to objects, by name or by schema."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

from components.lookups.references.table import references_table
from components.lookups.references.walk import kind_of, look_up, references
from components.render.manifest import Manifest
from tests.support.objects.published_crds import BUILT_IN, CrdFolder

NAMES = re.compile(
    r"(.*(secret|configmap|credentials|issuer|serviceaccount|storageclass|datastore|registry|repo)s?"
    r"(-?(name|namespace|ref|reference|url))?|.*(claimname|ref|refs|reference|url|image|oci))",
    re.IGNORECASE,
)
"""Names of fields that look like references."""
_OF_CHARTS = "spec.postRenderers.*.kustomize.patches.*.target.name"
"""Names of the chart's own objects in patches. Those of Certificates, which create Secrets, have a row."""


class Published:
    """Published schemas of the fields of objects."""

    def __init__(self) -> None:
        self._crds = CrdFolder()

    def uncovered(self, item: Manifest) -> Iterator[str]:
        """Yield paths whose field looks like a reference, but is not covered by a row of the table."""
        taken: set[str] = set()
        for target, _, keys in references(item, references_table()):
            taken |= {target.name, target.namespace, target.kind.rpartition("/")[2], *keys}
        taken |= {*_parts(item)}
        for path, value in reference_like(item.body, self._schema(item)):
            if path != _OF_CHARTS and not any(value == one or ("/" in one and value in one) for one in taken):
                yield path

    def _schema(self, item: Manifest) -> Mapping[str, Any]:
        return {} if item.api_version in BUILT_IN else _schema(item.api_version, item.kind)


def _parts(item: Manifest) -> Iterator[str]:
    """Yield values that a row covers in part, such as the name of the owner in the name of a volume."""
    for row in references_table().refers.get(kind_of(item), ()):
        for path in row.fields if row.value != "(.*)" else ():
            yield from (str(value) for value, _ in look_up(item.body, path) if re.fullmatch(row.value, str(value)))


@cache
def _schema(api_version: str, kind: str) -> Mapping[str, Any]:
    group, _, version = api_version.rpartition("/")
    versions = CrdFolder().definition(group, kind)["spec"]["versions"]
    [schema] = [one["schema"]["openAPIV3Schema"] for one in versions if one["name"] == version]
    return dict(schema)


def reference_like(body: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield path and value of strings whose field looks like a reference, by name or by schema."""
    fields = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "metadata")}
    yield from _looking(fields, schema, (), within=False)


def _looking(
    value: Any, schema: Mapping[str, Any], path: tuple[str, ...], *, within: bool
) -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping):
        refers = refers_to_object(schema)
        for key, inner in value.items():
            if key == "annotations" and "alert" in value:
                continue  # Texts for readers of an alert
            below = (schema.get("properties") or {}).get(key) or {}
            named = NAMES.fullmatch(key) is not None or (key == "name" and (refers or within))
            if isinstance(inner, str):
                if named:
                    yield ".".join((*path, key)), inner
            else:
                yield from _looking(inner, below, (*path, key), within=named)
    elif isinstance(value, list | tuple):
        for inner in value:
            items = schema.get("items") or {}
            yield from _looking(inner, items if isinstance(items, dict) else {}, (*path, "*"), within=within)


def refers_to_object(schema: Mapping[str, Any]) -> bool:
    """Return whether a schema is that of a reference: a name next to a namespace, kind or key, and few other fields."""
    fields = set(schema.get("properties") or ())
    return "name" in fields and bool(fields & {"namespace", "kind", "apiGroup", "key"}) and len(fields) <= 8
