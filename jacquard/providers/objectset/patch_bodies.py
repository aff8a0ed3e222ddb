"""Expands a patch of an object set to the objects that it applies."""

from collections.abc import Iterator, Mapping
from typing import Any


def bodies(patch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the object to apply for each name of a patch, in the order of its names; unknown names are skipped."""
    place = {"namespace": patch["namespace"]} if "namespace" in patch else {}
    for name in patch["names"]:
        if isinstance(name, str):
            metadata = {"name": name, **place}
            yield {"apiVersion": patch["apiVersion"], "kind": patch["kind"], "metadata": metadata, **patch["fields"]}
