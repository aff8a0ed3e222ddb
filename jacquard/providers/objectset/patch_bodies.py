"""Expands a patch of an object set to the objects that it applies, and decides which objects need it."""

from collections.abc import Iterator, Mapping
from typing import Any


def bodies(patch: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the object to apply for each name of a patch, in the order of its names; unknown names are skipped."""
    place = {"namespace": patch["namespace"]} if "namespace" in patch else {}
    for name in patch["names"]:
        if isinstance(name, str):
            metadata = {"name": name, **place}
            yield {"apiVersion": patch["apiVersion"], "kind": patch["kind"], "metadata": metadata, **patch["fields"]}


def is_reported(part: Any, live: Any) -> bool:
    """Return whether an object reports a value for each field of ``part``; an empty list is no report."""
    if isinstance(part, Mapping):
        return isinstance(live, Mapping) and all(is_reported(value, live.get(key)) for key, value in part.items())
    return live not in (None, [], {})


def is_unnecessary(body: Mapping[str, Any], unless: Any, live: Mapping[str, Any]) -> bool:
    """Return whether an object contains ``unless`` and has no value in the fields of ``body``.

    A value in these fields is a former patch, which must be replaced.
    """
    fields = {key: value for key, value in body.items() if key not in ("apiVersion", "kind", "metadata")}
    return _contains(live, unless) and _is_blank(fields, live)


def _contains(live: Any, part: Any) -> bool:
    """Return whether ``live`` contains ``part``: all of its keys, and an item for each item of its lists."""
    if isinstance(part, Mapping):
        return isinstance(live, Mapping) and all(_contains(live.get(key), value) for key, value in part.items())
    if isinstance(part, list):
        return isinstance(live, list) and all(any(_contains(item, wanted) for item in live) for wanted in part)
    return bool(live == part)


def _is_blank(fields: Any, live: Any) -> bool:
    if isinstance(fields, Mapping) and isinstance(live, Mapping):
        return all(_is_blank(value, live.get(key)) for key, value in fields.items())
    return live in (None, [], {})
