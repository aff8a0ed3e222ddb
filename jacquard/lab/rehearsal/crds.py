"""CustomResourceDefinitions of the region: published ones from Go modules, and permissive stand-ins for the rest."""

import os
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import yaml

from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.kinds import (
    CONTRACT,
    CONTRACT_GROUPS,
    FORMER_CONTRACT,
    FORMER_KINDS,
    VALIDATIONS,
    Kind,
    stand_ins,
)
from jacquard.lab.rehearsal.region import MANAGEMENT
from jacquard.lab.toolchain import binaries
from jacquard.providers.kube import ApiServer

VARIABLE = "CRDS_DIR"
"""Folder of published CRDs that replace the stand-ins of the same kinds, for tests."""
FIELD_MANAGER = "rehearsal"
_MODULES = {
    "cluster-api": ("config/crd/bases", "bootstrap/kubeadm/config/crd/bases"),
    "kamaji-control-plane": ("config/crd/bases",),
    "baremetal-operator": ("config/base/crds/bases",),
}
_API = "apiextensions.k8s.io/v1"
_KIND = "CustomResourceDefinition"
_APPROVAL = "api-approved.kubernetes.io"
_WORKERS = 8
_ESTABLISHED_SECONDS = 120.0


class Loader(yaml.CSafeLoader):
    """PyYAML's fast loader, except that ``=`` is parsed as text; YAML 1.1 has a separate type for ``=``."""


Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:value"]
    for first, resolvers in yaml.CSafeLoader.yaml_implicit_resolvers.items()
}


def sources(cluster: str) -> list[Path]:
    """Return the files with published CRDs for one cluster, sorted within each module."""
    modules = _MODULES if cluster == MANAGEMENT else {}
    folders = [binaries.data(name) / part for name, parts in modules.items() for part in parts]
    return [path for folder in folders for path in sorted(folder.glob("*.yaml"))]


def definitions(cluster: str) -> list[dict[str, Any]]:
    """Return all CRDs of one cluster, prepared for apply.

    Raises:
        RehearsalError: ``CRDS_DIR`` is not a folder.
    """
    crds = [prepared(crd) for path in sources(cluster) for crd in _read(path)]
    wanted = stand_ins(cluster)
    published = _published(set(wanted))
    return crds + [published.get((kind.group, kind.kind)) or stand_in(kind) for kind in wanted]


def prepared(crd: dict[str, Any], *, every_version: bool = False) -> dict[str, Any]:
    """Return a published CRD without the parts that need its project's webhooks and release manifests.

    Only the stored version is kept. With ``every_version``, all versions are kept, for real controllers that use an
    older version; objects are not converted between versions.
    """
    spec = {key: value for key, value in crd["spec"].items() if key != "conversion"}
    [stored] = [version for version in spec["versions"] if version["storage"]]
    if not every_version:
        spec["versions"] = [stored]
    metadata = {"name": crd["metadata"]["name"]}
    # The API server rejects kinds of Kubernetes' own groups without an approval annotation.
    if spec["group"].endswith((".k8s.io", ".kubernetes.io")):
        annotations = crd["metadata"].get("annotations") or {}
        metadata["annotations"] = {_APPROVAL: annotations.get(_APPROVAL, "unapproved, rehearsal")}
    if spec["group"] in CONTRACT_GROUPS:
        contract = FORMER_CONTRACT if spec["names"]["kind"] in FORMER_KINDS else CONTRACT
        metadata["labels"] = {contract: stored["name"]}
    return {"apiVersion": _API, "kind": _KIND, "metadata": metadata, "spec": spec}


def stand_in(kind: Kind) -> dict[str, Any]:
    """Return a CRD that accepts any content, except for the rules of `VALIDATIONS`."""
    schema: dict[str, Any] = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    if kind.kind in VALIDATIONS:
        schema["x-kubernetes-validations"] = [VALIDATIONS[kind.kind]]
    version: dict[str, Any] = {
        "name": kind.version,
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
    }
    if kind.status:
        version["subresources"] = {"status": {}}
    crd = {
        "metadata": {"name": f"{kind.plural}.{kind.group}"},
        "spec": {
            "group": kind.group,
            "names": {
                "kind": kind.kind,
                "listKind": f"{kind.kind}List",
                "plural": kind.plural,
                "singular": kind.kind.lower(),
            },
            "scope": "Cluster" if kind.cluster_scoped else "Namespaced",
            "versions": [version],
        },
    }
    return prepared(crd)


def install(api: ApiServer, crds: list[dict[str, Any]]) -> None:
    """Apply CRDs in parallel and wait until the API server serves all of them.

    Raises:
        RehearsalError: A CRD is not established in time.
    """
    with ThreadPoolExecutor(_WORKERS) as workers:
        list(workers.map(lambda crd: api.apply(crd, field_manager=FIELD_MANAGER, force=True), crds))
    missing = {crd["metadata"]["name"] for crd in crds}
    end = time.monotonic() + _ESTABLISHED_SECONDS
    while missing := missing - _established(api):
        if time.monotonic() > end:
            names = ", ".join(sorted(missing))
            msg = f"not established after {_ESTABLISHED_SECONDS:g} s: {names}; see the API server's log"
            raise RehearsalError(msg)
        time.sleep(0.2)


def _established(api: ApiServer) -> set[str]:
    return {crd["metadata"]["name"] for crd in api.list(_API, _KIND) if _is_established(crd)}


def _is_established(crd: dict[str, Any]) -> bool:
    conditions = (crd.get("status") or {}).get("conditions") or ()
    return any(condition["type"] == "Established" and condition["status"] == "True" for condition in conditions)


def _published(wanted: set[Kind]) -> dict[tuple[str, str], dict[str, Any]]:
    """Return the CRDs in ``CRDS_DIR`` whose stored version matches a kind in ``wanted``."""
    value = os.environ.get(VARIABLE)
    if not value:
        return {}
    folder = Path(value)
    if not folder.is_dir():
        msg = f"{VARIABLE}: '{value}' is not a folder; set a folder of published CRDs, or unset it to use stand-ins"
        raise RehearsalError(msg)
    versions = {(kind.group, kind.kind): kind.version for kind in wanted}
    published: dict[tuple[str, str], dict[str, Any]] = {}
    groups = {kind.group for kind in wanted}
    for crd in _read_all(sorted(folder.rglob("*.yaml")), groups):
        key = (crd["spec"]["group"], crd["spec"]["names"]["kind"])
        stored = next(version["name"] for version in crd["spec"]["versions"] if version["storage"])
        if versions.get(key) == stored:
            published.setdefault(key, prepared(crd))
    return published


def _read_all(paths: Iterable[Path], groups: set[str]) -> Iterator[dict[str, Any]]:
    for path in paths:
        yield from _read(path, groups)


def _read(path: Path, groups: set[str] | None = None) -> Iterator[dict[str, Any]]:
    """Yield the CRDs of a file; files without a group in ``groups`` are not parsed, because parsing is slow."""
    text = path.read_text(encoding="utf-8")
    if f"kind: {_KIND}" in text and (groups is None or any(f"group: {group}\n" in text for group in groups)):
        yield from (crd for crd in yaml.load_all(text, Loader) if crd and crd.get("kind") == _KIND)
