"""Tells from a resource's type the kind of object, and which types are not done."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from providers.standins.kubernetes.config import INSTALL

_COMPONENTS = ("helm.sh", "kustomize", "yaml")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object as the API server names it."""

    api_version: str
    kind: str


def name_of(urn: str) -> str:
    """Return the resource's Pulumi name."""
    return urn.split("::", 3)[3]


def kind_of(urn: str) -> Kind:
    """Return the kind of a resource's type, such as ``v1`` ``Namespace`` of ``kubernetes:core/v1:Namespace``."""
    _, api_version, kind = _type(urn).split(":", 2)
    return Kind(api_version.removeprefix("core/"), kind)


def refusal(urn: str, plain: Mapping[str, Any]) -> str | None:
    """Say why a resource cannot be handled here; None when it can."""
    token = _type(urn)
    kind = kind_of(urn)
    is_patch = kind.kind.endswith("Patch") and plain.get("kind") not in (None, kind.kind)
    is_list = kind.kind.endswith("List") and "items" in plain
    if kind.api_version.partition("/")[0] in _COMPONENTS or is_patch or is_list:
        return f"this stand-in for pulumi-kubernetes does not do {token}, only single objects; {INSTALL}"
    return None


def _type(urn: str) -> str:
    return urn.split("::", 3)[2].rpartition("$")[2]
