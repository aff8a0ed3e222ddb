"""Check: the inputs of one object completed (kind, name, namespace) and what is wrong with them."""

from collections.abc import Mapping
from typing import Any

from jacquard.lab.standins.kubernetes.cluster import Cluster
from jacquard.lab.standins.kubernetes.config import INSTALL
from jacquard.lab.standins.kubernetes.objects.bodies import annotation, without_nulls
from jacquard.lab.standins.kubernetes.objects.naming import CannotName, named
from jacquard.lab.standins.kubernetes.objects.normal import normal
from jacquard.lab.standins.kubernetes.objects.tokens import is_patch, kind_of
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
    """Return the inputs as they are applied, and every problem: the property's path and what is wrong.

    Args:
        request: of the Check; says how the stack names things.
        plain: the program's inputs; unknown values pass.
        old: the inputs before, empty for a new resource.
        cluster: asked whether a kind lives in a namespace; not being there is no problem.
    """
    problems: Problems = []
    body = _with_kind(request.urn, without_nulls(dict(plain)), problems)
    metadata = body.setdefault("metadata", {})
    if not isinstance(metadata, dict):
        if metadata is not UNKNOWN:
            problems.append((("metadata",), f"must be a map (got {type(metadata).__name__})"))
        return body, problems
    if is_patch(request.urn, body) and not metadata.get("name"):
        problems.append((("metadata",), "a patch needs the name of the object that it is for; give metadata.name"))
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
    """Fill in the kind that the resource's type names; a given one must be the same."""
    wanted = kind_of(urn, body)
    for key, value in (("apiVersion", wanted.api_version), ("kind", wanted.kind)):
        if body.setdefault(key, value) not in (value, UNKNOWN):
            problems.append(((key,), f"is '{body[key]}', but the resource's type says '{value}'; make them the same"))
    return body


def _annotation_problems(body: Mapping[str, Any]) -> Problems:
    found: Problems = []
    wait_for, timeout = annotation(body, WAIT_FOR), annotation(body, TIMEOUT)
    if wait_for:
        try:
            parse_wait_for(wait_for)
        except WaitExpressionError as error:
            found.append(((*_ANNOTATIONS, WAIT_FOR), str(error)))
    if timeout and not timeout.isdecimal():
        found.append(((*_ANNOTATIONS, TIMEOUT), f"must be a whole number of seconds (got '{timeout}')"))
    if annotation(body, REPLACE_UNREADY) == "true":
        reason = f"this stand-in for pulumi-kubernetes does not do {REPLACE_UNREADY}; {INSTALL}"
        found.append(((*_ANNOTATIONS, REPLACE_UNREADY), reason))
    return found


def _namespace(body: Mapping[str, Any], old: Mapping[str, Any], cluster: Cluster) -> str | None:
    """Return the namespace to fill in, or None when there is nothing to do.

    While the cluster cannot say whether the kind lives in a namespace, what was decided before stays.
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
