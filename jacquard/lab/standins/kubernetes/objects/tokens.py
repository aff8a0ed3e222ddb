"""Tells from a resource's type the kind of object, and which types are not done."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.lab.standins.kubernetes.config import INSTALL

_HELM = "helm"
_HELM_INSTEAD = "declare a HelmRelease of Flux, or read what `helm template` writes by a ConfigFile"
_LIST_INSTEAD = "declare its items"
_PATCH = "Patch"


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of object as the API server names it."""

    api_version: str
    kind: str


def name_of(urn: str) -> str:
    """Return the resource's Pulumi name."""
    return urn.split("::", 3)[3]


def kind_of(urn: str, plain: Mapping[str, Any]) -> Kind:
    """Return the kind that a resource stands for, such as ``v1`` ``Namespace`` of ``kubernetes:core/v1:Namespace``.

    Args:
        urn: of the resource.
        plain: its inputs or outputs, by which a patch tells itself from a custom kind that is called so.
    """
    _, api_version, kind = _type(urn).split(":", 2)
    return Kind(api_version.removeprefix("core/"), str(plain["kind"]) if is_patch(urn, plain) else kind)


def is_patch(urn: str, plain: Mapping[str, Any]) -> bool:
    """Return whether a resource is some fields of an object: ``ConfigMapPatch``, of the kind ``ConfigMap``."""
    return bool(plain.get("kind")) and _type(urn).rpartition(":")[2] == f"{plain['kind']}{_PATCH}"


def refusal(urn: str, plain: Mapping[str, Any]) -> str | None:
    """Say why a resource cannot be handled here; None when it can."""
    token = _type(urn)
    kind = kind_of(urn, plain)
    is_list = kind.kind.endswith("List") and "items" in plain
    return not_done(token) if is_list or kind.api_version.partition("/")[0] == "helm.sh" else None


def not_done(token: str) -> str:
    """Say that a type or a function is not done here, and what does it instead."""
    module = token.split(":")[1]
    instead = _HELM_INSTEAD if module.startswith(_HELM) else _LIST_INSTEAD if token.endswith("List") else ""
    return f"this stand-in for pulumi-kubernetes does not do {token}; {instead}{', or ' if instead else ''}{INSTALL}"


def _type(urn: str) -> str:
    return urn.split("::", 3)[2].rpartition("$")[2]
