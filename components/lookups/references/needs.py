"""Objects for which an object waits: its namespace, the objects that it refers to, and operators before it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, TypeAlias

from components.lookups.references.table import references_table
from components.lookups.references.walk import references
from components.render.manifest import Manifest, Rendered

Key: TypeAlias = tuple[str, str, str]
"""Cluster, kind without its group, and name."""
OPERATORS = frozenset({"HelmRelease", "Kustomization"})
"""Kinds of Flux that install operators."""


def is_operator(item: Rendered) -> bool:
    """Return whether Flux installs an operator for an object."""
    return isinstance(item, Manifest) and item.kind in OPERATORS


def needed_by(item: Rendered, clusters: Iterable[str]) -> Iterator[Key]:
    """Yield the objects for which ``item`` waits; they may not exist, or be part of another stack.

    Args:
        item: object, or set of objects.
        clusters: all clusters to which objects are applied.
    """
    if item.namespace is not None:
        yield item.cluster, "Namespace", item.namespace
    if isinstance(item, Manifest):
        targets = (*item.after, *_references(item.body), *(_by_flux(item) if is_operator(item) else _by_table(item)))
        yield from dict.fromkeys((item.cluster, kind, name) for kind, name in targets)
        # The target namespace, in this or another cluster, must exist first: Flux retries a failure only after minutes.
        if target := item.body.get("spec", {}).get("targetNamespace"):
            yield from ((cluster, "Namespace", target) for cluster in clusters)


def _by_flux(operator: Manifest) -> Iterator[tuple[str, str]]:
    """Yield kind and name of the operators that Flux installs before ``operator``; Flux itself orders no deletions."""
    for dependency in operator.body["spec"].get("dependsOn", ()):
        yield operator.kind, dependency["name"]


def _by_table(item: Manifest) -> Iterator[tuple[str, str]]:
    """Yield kind and name of the references of ``item``, by its kind."""
    for target, _, _ in references(item, references_table()):
        if target.cluster == item.cluster:
            yield target.kind.rpartition("/")[2], target.name


def _references(value: Any) -> Iterator[tuple[str, str]]:
    """Yield kind and name of every nested mapping of ``value`` with the fields ``kind`` and ``name``."""
    if isinstance(value, Mapping):
        if isinstance(value.get("kind"), str) and isinstance(value.get("name"), str):
            yield value["kind"], value["name"]
        for inner in value.values():
            yield from _references(inner)
    elif isinstance(value, list | tuple):
        for inner in value:
            yield from _references(inner)
