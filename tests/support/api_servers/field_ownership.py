"""Field ownership as in an API server: server-side apply and merge patches for small objects."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str, ...]


@dataclass
class Owned:
    """The ``spec`` of one object, with the manager of each leaf; a list or an empty map is one leaf."""

    spec: dict[str, Any]
    managers: dict[Path, str] = field(default_factory=dict)

    def conflicts(self, spec: dict[str, Any], manager: str) -> list[tuple[Path, str]]:
        """Return the fields of other managers that an apply would change, each with its manager."""
        return [
            (path, owner)
            for path, value in leaves(spec)
            if (owner := self.managers.get(path, manager)) != manager and _at(self.spec, path) != value
        ]

    def applied(self, spec: dict[str, Any], manager: str) -> Owned:
        """Return the object after a manager has applied its fields, by force if requested."""
        wanted = dict(leaves(spec))
        stale = [path for path, owner in self.managers.items() if owner == manager and path not in wanted]
        kept = {path: value for path, value in leaves(self.spec) if path not in stale}
        # An empty map is no leaf any more once it has an entry.
        kept = {path: value for path, value in kept.items() if not any(one[: len(path)] == path for one in wanted)}
        managers = {path: owner for path, owner in self.managers.items() if path not in stale}
        return Owned(tree(kept | wanted), managers | dict.fromkeys(wanted, manager))

    def merged(self, spec: dict[str, Any], manager: str) -> Owned:
        """Return the object after a merge patch; None removes a field and keeps its parent map."""
        changed, managers = _merge(self.spec, spec), dict(self.managers)
        for path, value in leaves(spec):
            managers.pop(path, None)
            if value is not None:
                managers[path] = manager
        return Owned(changed, managers)

    def managed_fields(self) -> list[dict[str, Any]]:
        """Return the managers in the format of ``metadata.managedFields``."""
        return [
            {
                "manager": name.removesuffix(" (update)"),
                "operation": "Update" if name.endswith(" (update)") else "Apply",
                "fieldsV1": {"f:spec": _fields([path for path, one in self.managers.items() if one == name])},
            }
            for name in sorted(set(self.managers.values()))
        ]


def leaves(value: Any, path: Path = ()) -> Iterator[tuple[Path, Any]]:
    """Yield each leaf of a map with its path."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from leaves(inner, (*path, key))
    elif path:
        yield path, value


def tree(values: dict[Path, Any]) -> dict[str, Any]:
    """Return the map with these leaves."""
    found: dict[str, Any] = {}
    for path, value in values.items():
        here = found
        for step in path[:-1]:
            here = here.setdefault(step, {})
        here[path[-1]] = value
    return found


def _fields(paths: list[Path]) -> Any:
    return tree({tuple(f"f:{step}" for step in path): {} for path in paths})


def _at(value: Any, path: Path) -> Any:
    for step in path:
        value = value.get(step) if isinstance(value, dict) else None
    return value


def _merge(old: Any, new: Any) -> Any:
    if not isinstance(new, dict):
        return new
    base = dict(old) if isinstance(old, dict) else {}
    for key, value in new.items():
        if value is None:
            base.pop(key, None)
        else:
            base[key] = _merge(base.get(key), value)
    return base
