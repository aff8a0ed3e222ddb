"""Kinds of objects by resource type, and unsupported types."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.lab.standins.kubernetes.config import INSTALL

_HELM = "helm"
_HELM_INSTEAD = "declare a HelmRelease of Flux, or read the output of `helm template` with a ConfigFile"
_LIST_INSTEAD = "declare its items"
_PATCH = "Patch"


@dataclass(frozen=True, slots=True)
class Kind:
    """API version and kind of an object, as used in the Kubernetes API."""

    api_version: str
    kind: str


def name_of(urn: str) -> str:
    """Return the Pulumi name of a resource."""
    return urn.split("::", 3)[3]


def kind_of(urn: str, plain: Mapping[str, Any]) -> Kind:
    """Return the kind of a resource, such as ``v1`` ``Namespace`` for ``kubernetes:core/v1:Namespace``.

    Args:
        urn: URN of the resource.
        plain: inputs or outputs, which distinguish a patch from a custom kind whose name ends with Patch.
    """
    _, api_version, kind = _type(urn).split(":", 2)
    return Kind(api_version.removeprefix("core/"), str(plain["kind"]) if is_patch(urn, plain) else kind)


def is_patch(urn: str, plain: Mapping[str, Any]) -> bool:
    """Return whether a resource is a patch, such as ``ConfigMapPatch`` of the kind ``ConfigMap``."""
    return bool(plain.get("kind")) and _type(urn).rpartition(":")[2] == f"{plain['kind']}{_PATCH}"


def refusal(urn: str, plain: Mapping[str, Any]) -> str | None:
    """Return the reason why a resource is not supported; None for a supported resource."""
    token = _type(urn)
    kind = kind_of(urn, plain)
    is_list = kind.kind.endswith("List") and "items" in plain
    return not_done(token) if is_list or kind.api_version.partition("/")[0] == "helm.sh" else None


def not_done(token: str) -> str:
    """Return the message for an unsupported type or function, with an alternative."""
    module = token.split(":")[1]
    instead = _HELM_INSTEAD if module.startswith(_HELM) else _LIST_INSTEAD if token.endswith("List") else ""
    return (
        f"this stand-in for pulumi-kubernetes does not support {token}; {instead}{', or ' if instead else ''}{INSTALL}"
    )


def _type(urn: str) -> str:
    return urn.split("::", 3)[2].rpartition("$")[2]
