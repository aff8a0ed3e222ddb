"""Automatic names of objects without a name."""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from jacquard.lab.standins.kubernetes.config import INSTALL
from jacquard.lab.standins.kubernetes.objects.bodies import AUTONAMED, annotation
from jacquard.lab.standins.kubernetes.objects.tokens import name_of
from jacquard.providers.rpc.paths import Path
from jacquard.providers.rpc.stubs import provider_pb2

_HEX_LENGTH = 8


class CannotName(Exception):  # noqa: N818 - named after the event
    """The object has no name, and autonaming is disabled or unsupported.

    Attributes:
        path: path of the invalid property; empty if it is missing.
    """

    def __init__(self, path: Path, reason: str) -> None:
        super().__init__(reason)
        self.path = path


def named(body: Mapping[str, Any], old: Mapping[str, Any], request: provider_pb2.CheckRequest) -> dict[str, Any]:
    """Return ``body`` with a name: its own, the previous automatic name, or a new one.

    Raises:
        CannotName: the object has no name, and autonaming is disabled or it requests ``generateName``.
    """
    metadata = body.get("metadata", {})
    if not isinstance(metadata, dict) or metadata.get("name"):
        return dict(body)
    if metadata.get("generateName"):
        remedy = f"set or omit metadata.name, or {INSTALL}"
        reason = f"this stand-in for pulumi-kubernetes does not support generateName; {remedy}"
        raise CannotName(("metadata", "generateName"), reason)
    name = old["metadata"]["name"] if annotation(old, AUTONAMED) == "true" else _new_name(request)
    annotations = {**(metadata.get("annotations") or {}), AUTONAMED: "true"}
    return {**body, "metadata": {**metadata, "name": name, "annotations": annotations}}


def _new_name(request: provider_pb2.CheckRequest) -> str:
    if request.HasField("autonaming"):
        if request.autonaming.mode == provider_pb2.CheckRequest.AutonamingOptions.DISABLE:
            reason = "metadata.name is missing and the stack configuration disables autonaming; set a name"
            raise CannotName((), reason)
        return request.autonaming.proposed_name
    seed = request.randomSeed or secrets.token_bytes()
    return f"{name_of(request.urn)}-{hashlib.sha256(seed).hexdigest()[:_HEX_LENGTH]}"
