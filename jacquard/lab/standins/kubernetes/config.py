"""Inputs of the provider: validation, parsing, and detection of a change to another cluster."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.lab.standins.kubernetes.cluster import Cluster
from jacquard.providers.rpc.diff import Change, ChangeKind, changes
from jacquard.providers.rpc.paths import Path
from jacquard.providers.rpc.values import UNKNOWN

INSTALL = "install the vendor's provider: pulumi plugin install resource kubernetes v4.34.2"

_NOT_DONE = (
    "cluster",
    "renderYamlToDirectory",
    "alwaysRender",
    "helmReleaseSettings",
    "enablePatchForce",
)
_SWITCHES = (
    "deleteUnreachable",
    "enableConfigMapMutable",
    "enableSecretMutable",
    "enableServerSideApply",
    "skipUpdateUnreachable",
    "strictMode",
    "suppressDeprecationWarnings",
    "suppressHelmHookWarnings",
    "upsertExistingObjects",
)
_TEXTS = ("kubeconfig", "context", "namespace", "clusterIdentifier", "kubeClientSettings")
_PLACE = ("kubeconfig", "context", "clusterIdentifier")
_PREFIX = "kubernetes:config:"


@dataclass(frozen=True, kw_only=True)
class Config:
    """Parsed inputs of the provider. ``repr`` contains no value, because a kubeconfig may contain credentials."""

    cluster: Cluster
    delete_unreachable: bool
    skip_update_unreachable: bool
    mutable_config_maps: bool
    mutable_secrets: bool
    adopts: bool
    """Whether a create adopts existing objects without ``jacquard.dev/made-by``, such as objects of the vendor's
    provider."""

    def __repr__(self) -> str:
        return "Config(...)"


def problems(plain: Mapping[str, Any], *, default_provider: bool) -> list[tuple[Path, str]]:
    """Return all problems of the provider's inputs, each with the path of the property and a message.

    Args:
        plain: the inputs; unknown values are accepted.
        default_provider: whether it is the engine's default provider.
    """
    messages: list[tuple[Path, str]] = []
    for key, value in plain.items():
        if key in _NOT_DONE and value not in ("", "false", None):
            messages.append(((key,), f"this stand-in for pulumi-kubernetes does not support {key}; {INSTALL}"))
        elif key in _SWITCHES and value not in ("true", "false", UNKNOWN):
            messages.append(((key,), f"must be true or false (got '{value}')"))
        elif key not in (*_NOT_DONE, *_SWITCHES, *_TEXTS, "version", "pluginDownloadURL"):
            messages.append(
                ((key,), f"is not an input of the kubernetes provider (valid inputs: {', '.join(_inputs())})")
            )
    if plain.get("enableServerSideApply") == "false":
        messages.append((("enableServerSideApply",), f"this stand-in always uses server-side apply; {INSTALL}"))
    if plain.get("kubeClientSettings") not in (None, "", UNKNOWN) and _settings(plain) is None:
        messages.append((("kubeClientSettings",), 'must be a JSON object such as {"timeout": 30}'))
    return messages + _place_problems(plain, default_provider=default_provider)


def _inputs() -> list[str]:
    return sorted((*_SWITCHES, *_TEXTS))


def _place_problems(plain: Mapping[str, Any], *, default_provider: bool) -> list[tuple[Path, str]]:
    strict = plain.get("strictMode") == "true"
    messages: list[tuple[Path, str]] = []
    if strict and default_provider:
        messages.append(((), "strictMode forbids the default provider; set an explicit provider on each resource"))
    if not plain.get("kubeconfig"):
        remedy = "set it to the path or content of the cluster's kubeconfig"
        message = f"kubeconfig is empty, and the ambient cluster is never used; {remedy}"
        messages.append((("kubeconfig",) if "kubeconfig" in plain else (), message))
    if strict and not plain.get("context"):
        messages.append((("context",) if "context" in plain else (), "strictMode requires a context; set context"))
    return messages


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[list[Change], bool]:
    """Return the changes of the provider's inputs, and whether they point to another cluster.

    If ``clusterIdentifier`` is set before and after, it determines the cluster. Otherwise, the server in the kubeconfig
    does; an unknown kubeconfig counts as another cluster.
    """
    differences = changes(
        {key: value for key, value in old.items() if value != ""},
        {key: value for key, value in new.items() if value != ""},
    )
    before, after = old.get("clusterIdentifier"), new.get("clusterIdentifier")
    if before and after and after is not UNKNOWN:
        return differences, before != after
    if any(new.get(key) is UNKNOWN for key in _PLACE):
        return differences, True
    servers = [Cluster(values.get("kubeconfig") or "", values.get("context")).server() for values in (old, new)]
    return differences, None not in servers and servers[0] != servers[1]


def replaces(change: Change, *, moved: bool) -> bool:
    """Return whether a change of the provider's inputs replaces the provider and all of its objects."""
    return moved and (change.path[0] in _PLACE or change.kind is not ChangeKind.DELETE)


def read(variables: Mapping[str, str], environment: Mapping[str, str]) -> Config:
    """Parse the variables of Configure.

    Args:
        variables: the provider's inputs; all names have the prefix ``kubernetes:config:``.
        environment: environment variables; the vendor's ``PULUMI_K8S_*`` are the defaults of inputs that are not set.
    """
    plain = {name.removeprefix(_PREFIX): value for name, value in variables.items()}
    settings = _settings(plain) or {}

    def is_on(name: str, variable: str) -> bool:
        return plain.get(name, environment.get(variable)) == "true"

    return Config(
        cluster=Cluster(
            plain.get("kubeconfig", ""),
            plain.get("context"),
            namespace=plain.get("namespace"),
            timeout_seconds=float(settings.get("timeout") or 32),
        ),
        delete_unreachable=is_on("deleteUnreachable", "PULUMI_K8S_DELETE_UNREACHABLE"),
        skip_update_unreachable=is_on("skipUpdateUnreachable", "PULUMI_K8S_SKIP_UPDATE_UNREACHABLE"),
        mutable_config_maps=is_on("enableConfigMapMutable", "PULUMI_K8S_ENABLE_CONFIGMAP_MUTABLE"),
        mutable_secrets=is_on("enableSecretMutable", "PULUMI_K8S_ENABLE_SECRET_MUTABLE"),
        adopts=is_on("upsertExistingObjects", "PULUMI_K8S_UPSERT_EXISTING_OBJECTS"),
    )


def _settings(plain: Mapping[str, Any]) -> dict[str, Any] | None:
    try:
        value = json.loads(plain.get("kubeClientSettings") or "{}")
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
