"""Checks one object: completes kind, name and namespace, and validates the inputs."""

import hashlib
import secrets
from collections.abc import Mapping
from typing import Any

from jacquard.lab.standins.kubernetes.cluster import Cluster
from jacquard.lab.standins.kubernetes.config import INSTALL
from jacquard.lab.standins.kubernetes.objects.bodies import AUTONAMED, annotation, without_nulls
from jacquard.lab.standins.kubernetes.objects.normal import normal
from jacquard.lab.standins.kubernetes.objects.tokens import is_patch, kind_of, name_of
from jacquard.lab.standins.kubernetes.waits import TIMEOUT, WAIT_FOR
from jacquard.providers.errors import ProviderError
from jacquard.providers.kube.wait import WaitExpressionError, parse_wait_for
from jacquard.providers.rpc.paths import Path
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import UNKNOWN

Problems = list[tuple[Path, str]]

REPLACE_UNREADY = "pulumi.com/replaceUnready"

_ANNOTATIONS: Path = ("metadata", "annotations")


def complete(
    request: provider_pb2.CheckRequest, plain: Mapping[str, Any], old: Mapping[str, Any], cluster: Cluster
) -> tuple[dict[str, Any], Problems]:
    """Return the completed inputs and all problems, each with the path of the property and a message.

    Args:
        request: the Check request, with the naming options of the stack.
        plain: inputs of the program; unknown values are accepted.
        old: previous inputs, empty for a new resource.
        cluster: cluster that reports whether a kind is namespaced; it may be unreachable.
    """
    problems: Problems = []
    body = _with_kind(request.urn, without_nulls(dict(plain)), problems)
    metadata = body.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        if metadata is not UNKNOWN:
            problems.append((("metadata",), f"must be a map (got {type(metadata).__name__})"))
        return body, problems
    if is_patch(request.urn, body) and not metadata.get("name"):
        problems.append((("metadata",), "a patch requires the name of its object; set metadata.name"))
        return body, problems
    try:
        body = named(body, old, request)
    except CannotName as error:
        problems.append((error.path, str(error)))
    problems += _annotation_problems(body)
    namespace = _namespace(body, old, cluster)
    if namespace:
        body = {**body, "metadata": {**body["metadata"], "namespace": namespace}}
    return normal(body), problems


def _with_kind(urn: str, body: dict[str, Any], problems: Problems) -> dict[str, Any]:
    """Set apiVersion and kind from the resource type; explicit values must match."""
    wanted = kind_of(urn, body)
    for key, value in (("apiVersion", wanted.api_version), ("kind", wanted.kind)):
        if body.setdefault(key, value) not in (value, UNKNOWN):
            problems.append(((key,), f"is '{body[key]}', but the resource type requires '{value}'; use the same value"))
    return body


def _annotation_problems(body: Mapping[str, Any]) -> Problems:
    invalid: Problems = []
    wait_for, timeout = annotation(body, WAIT_FOR), annotation(body, TIMEOUT)
    if wait_for:
        try:
            parse_wait_for(wait_for)
        except WaitExpressionError as error:
            invalid.append(((*_ANNOTATIONS, WAIT_FOR), str(error)))
    if timeout and not timeout.isdecimal():
        invalid.append(((*_ANNOTATIONS, TIMEOUT), f"must be a whole number of seconds (got '{timeout}')"))
    if annotation(body, REPLACE_UNREADY) == "true":
        reason = f"this stand-in for pulumi-kubernetes does not support {REPLACE_UNREADY}; {INSTALL}"
        invalid.append(((*_ANNOTATIONS, REPLACE_UNREADY), reason))
    return invalid


def _namespace(body: Mapping[str, Any], old: Mapping[str, Any], cluster: Cluster) -> str | None:
    """Return the namespace to set, or None if none is required.

    While the cluster cannot report whether the kind is namespaced, the namespace of the previous inputs is used.
    """
    if "namespace" in body["metadata"]:
        return None
    try:
        api = cluster.api()
        namespaced = api.resource(body["apiVersion"], body["kind"]).namespaced
    except ProviderError:
        before = old.get("metadata")
        return before.get("namespace") if isinstance(before, dict) else None
    return api.namespace if namespaced else None


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
    """Return ``body`` with a name: the declared name, the previous automatic name, or a new name.

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
