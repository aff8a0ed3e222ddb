"""The provider's own inputs: what is wrong with them, and when a change means another cluster."""

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
    """The provider's inputs, read. The representation shows no value: a kubeconfig may hold credentials."""

    cluster: Cluster
    delete_unreachable: bool
    skip_update_unreachable: bool
    mutable_config_maps: bool
    mutable_secrets: bool
    adopts: bool
    """Whether a create takes over what is there and has no maker's mark, such as what the vendor's provider made."""

    def __repr__(self) -> str:
        return "Config(...)"


def problems(plain: Mapping[str, Any], *, default_provider: bool) -> list[tuple[Path, str]]:
    """Return every problem of the provider's inputs: the property's path and what is wrong.

    Args:
        plain: the inputs; unknown values pass.
        default_provider: whether the engine made the provider by itself.
    """
    found: list[tuple[Path, str]] = []
    for key, value in plain.items():
        if key in _NOT_DONE and value not in ("", "false", None):
            found.append(((key,), f"this stand-in for pulumi-kubernetes does not do {key}; {INSTALL}"))
        elif key in _SWITCHES and value not in ("true", "false", UNKNOWN):
            found.append(((key,), f"must be true or false (got '{value}')"))
        elif key not in (*_NOT_DONE, *_SWITCHES, *_TEXTS, "version", "pluginDownloadURL"):
            found.append(((key,), f"the kubernetes provider has no such input (it has {', '.join(_inputs())})"))
    if plain.get("enableServerSideApply") == "false":
        found.append((("enableServerSideApply",), f"this stand-in always applies on the server's side; {INSTALL}"))
    if plain.get("kubeClientSettings") not in (None, "", UNKNOWN) and _settings(plain) is None:
        found.append((("kubeClientSettings",), 'must be a JSON object such as {"timeout": 30}'))
    return found + _place_problems(plain, default_provider=default_provider)


def _inputs() -> list[str]:
    return sorted((*_SWITCHES, *_TEXTS))


def _place_problems(plain: Mapping[str, Any], *, default_provider: bool) -> list[tuple[Path, str]]:
    strict = plain.get("strictMode") == "true"
    found: list[tuple[Path, str]] = []
    if strict and default_provider:
        found.append(((), "strictMode forbids the default provider; give each resource a provider of its own"))
    if not plain.get("kubeconfig"):
        why = "the ambient cluster is never used; name the file of the cluster's kubeconfig, or give its text"
        found.append((("kubeconfig",) if "kubeconfig" in plain else (), f"kubeconfig is empty; {why}"))
    if strict and not plain.get("context"):
        found.append((("context",) if "context" in plain else (), "strictMode needs a context; name one"))
    return found


def difference(old: Mapping[str, Any], new: Mapping[str, Any]) -> tuple[list[Change], bool]:
    """Return what changed in the provider's inputs, and whether every object must move to another cluster.

    A ``clusterIdentifier`` that is set before and after decides alone. Without it, the server in the kubeconfig does,
    and a kubeconfig that is still unknown counts as another cluster.
    """
    found = changes(
        {key: value for key, value in old.items() if value != ""},
        {key: value for key, value in new.items() if value != ""},
    )
    before, after = old.get("clusterIdentifier"), new.get("clusterIdentifier")
    if before and after and after is not UNKNOWN:
        return found, before != after
    if any(new.get(key) is UNKNOWN for key in _PLACE):
        return found, True
    servers = [Cluster(values.get("kubeconfig") or "", values.get("context")).server() for values in (old, new)]
    return found, None not in servers and servers[0] != servers[1]


def replaces(change: Change, *, moved: bool) -> bool:
    """Return whether a change of the provider's inputs replaces the provider, and with it all of its objects."""
    return moved and (change.path[0] in _PLACE or change.kind is not ChangeKind.DELETE)


def read(variables: Mapping[str, str], environment: Mapping[str, str]) -> Config:
    """Read what Configure is given; every name carries the prefix ``kubernetes:config:``.

    Args:
        variables: the provider's inputs.
        environment: the vendor's ``PULUMI_K8S_*`` variables count where an input is not given.
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
