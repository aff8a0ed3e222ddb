"""Paths of kubeconfigs in a recorded state, which another machine or a pod of an operator may have written.

A refresh and a destroy do not run the program, and use the provider as it was recorded. Its kubeconfig is a file of the
machine that applied the stack last.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

_PROVIDER = "pulumi:providers:"
_KEY = "kubeconfig"


def localize(state: dict[str, Any], folder: str | None) -> bool:
    """Move the kubeconfigs of all providers in an exported state to ``folder``; return whether any was elsewhere."""
    moved = False
    if folder is None:
        return moved
    for properties in _providers(state):
        before = properties.get(_KEY)
        if isinstance(before, str) and Path(before).is_absolute() and Path(before).parent != Path(folder):
            properties[_KEY] = str(Path(folder) / Path(before).name)
            moved = True
    return moved


def _providers(state: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield the inputs and outputs of providers."""
    for resource in state.get("deployment", {}).get("resources") or ():
        if resource["type"].startswith(_PROVIDER):
            yield from (resource[part] for part in ("inputs", "outputs") if isinstance(resource.get(part), dict))
