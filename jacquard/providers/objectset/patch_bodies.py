"""What a patch of an object set applies, object by object, for all who read one."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any


def bodies(patch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield what is applied to each object of a patch, in the order of its names; one that is not known is left out."""
    place = {"namespace": patch["namespace"]} if "namespace" in patch else {}
    for name in patch["names"]:
        if isinstance(name, str):
            metadata = {"name": name, **place}
            yield {"apiVersion": patch["apiVersion"], "kind": patch["kind"], "metadata": metadata, **patch["fields"]}
