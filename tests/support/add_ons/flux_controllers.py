"""Flux's real source-controller and kustomize-controller at an API server, with a Git repository as source.

helm-controller does not run, so charts are not installed: `reported_ready` writes the status of releases and of all
other objects, as their controllers would.
"""

from __future__ import annotations

import base64
import json
import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import yaml

from components.render.add_ons.flux import NAMESPACE
from components.render.manifest import MANAGEMENT, Manifest
from jacquard.delivery.layout import FLUX_GROUPS
from jacquard.lab.rehearsal import crds, ports
from jacquard.lab.toolchain import binaries
from jacquard.providers.kube import ApiError, ApiServer, ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.data.repositories import COMMIT, git
from tests.support.forges.git_server import GitServer
from tests.support.local_regions.local_region import wait_until
from tests.support.machine.programs import Programs

KUSTOMIZATION = ("kustomize.toolkit.fluxcd.io/v1", "Kustomization")
_REPOSITORY = ("source.toolkit.fluxcd.io/v1", "GitRepository")
_SECONDS = 240
_REQUIRED = {"KamajiControlPlane": {"ready": True}}
"""Required status fields of kinds whose status is not awaited."""
_VALUE = re.compile(r"jsonpath=\{\.([^{}]+)\}=(.+)")


class FluxControllers:
    """Flux at ``server``, whose source ``flux-system`` is the repository in ``repository``; `stop` ends it.

    Raises:
        ToolchainError: the controllers are not built.
    """

    def __init__(self, folder: Path, server: LocalApiServer) -> None:
        sources, kustomizations = binaries.path("source-controller"), binaries.path("kustomize-controller")
        self.api, self._folder = server.api, folder
        self._programs = Programs(folder)
        self.repository = folder / "repositories" / "regions"
        self.repository.mkdir(parents=True)
        git(self.repository, "init", "-q", "-b", "main")
        self._git = GitServer(self.repository.parent)
        crds.install(self.api, list(_definitions()))
        self.api.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}}, field_manager="test")
        artifacts, *unused = ports.free(5)
        common = ("--enable-leader-election=false", "--events-addr=", "--requeue-dependency=2s")
        variables = {"KUBECONFIG": str(server.kubeconfig), "RUNTIME_NAMESPACE": NAMESPACE}
        address = f"{ports.LOOPBACK}:{artifacts}"
        (folder / "artifacts").mkdir()
        self._programs.start(
            "source-controller",
            *(str(sources), *common, *_addresses(unused[:2]), "--watch-all-namespaces=false"),
            *(f"--storage-path={folder / 'artifacts'}", f"--storage-addr={address}", f"--storage-adv-addr={address}"),
            **variables,
        )
        # As in the page "Deliver with Flux or Argo CD" for a region that `up` created.
        managers = ("--override-manager=jacquard", "--override-manager=jacquard-objectset")
        self._programs.start(
            "kustomize-controller",
            *(str(kustomizations), *common, *_addresses(unused[2:]), *managers, "--concurrent=10"),
            **variables,
        )

    def stop(self) -> None:
        """End all programs."""
        self._programs.stop()
        self._git.stop()

    def commit(self) -> str:
        """Commit all changes of the repository, wait until Flux has fetched the commit, and return its revision."""
        git(self.repository, "add", "--all")
        git(self.repository, *COMMIT)
        url = f"{self._git.url}/regions/.git"
        spec = {"url": url, "ref": {"branch": "main"}, "interval": "1s", "timeout": "20s"}
        metadata = {"name": NAMESPACE, "namespace": NAMESPACE}
        kind = {"apiVersion": _REPOSITORY[0], "kind": _REPOSITORY[1]}
        self.api.apply({**kind, "metadata": metadata, "spec": spec}, field_manager="test")
        commit = git(self.repository, "rev-parse", "HEAD")
        self.until(lambda: commit in self._revision(), f"Flux has fetched {commit}")
        return f"main@sha1:{commit}"

    def _revision(self) -> str:
        found = self.api.get(ObjectRef(*_REPOSITORY, NAMESPACE, NAMESPACE)) or {}
        return str(found.get("status", {}).get("artifact", {}).get("revision", ""))

    def kustomizations(self) -> dict[str, dict[str, Any]]:
        """Return the condition ``Ready`` of all Kustomizations of the layout, by name."""
        return {
            item["metadata"]["name"]: next(
                (one for one in item.get("status", {}).get("conditions", ()) if one["type"] == "Ready"), {}
            )
            for item in self.api.list(*KUSTOMIZATION)
            if item["spec"]["sourceRef"]["name"] == NAMESPACE
        }

    def ready(self, revision: str = "") -> set[str]:
        """Return the names of all ready Kustomizations, or of those with ``revision`` applied."""
        return {
            name
            for name, condition in self.kustomizations().items()
            if condition.get("status") == "True" and revision in condition["message"]
        }

    def until(self, condition: Callable[[], bool], what: str) -> None:
        """Wait until ``condition`` is true."""
        wait_until(condition, timeout_seconds=_SECONDS, what=f"{what}; see {self._folder}")

    def reconcile(self, name: str, namespace: str = NAMESPACE) -> None:
        """Ask Flux to apply a Kustomization now, as ``flux reconcile`` does, instead of at its next retry."""
        at = {"reconcile.fluxcd.io/requestedAt": str(os.urandom(8).hex())}
        self.api.patch(
            ObjectRef(*KUSTOMIZATION, name, namespace), {"metadata": {"annotations": at}}, field_manager="test"
        )


def _addresses(two: Iterable[int]) -> tuple[str, str]:
    metrics, health = two
    return f"--metrics-addr={ports.LOOPBACK}:{metrics}", f"--health-addr={ports.LOOPBACK}:{health}"


def _definitions() -> Iterable[dict[str, Any]]:
    """Yield the CRDs of both controllers, as their modules publish them, and that of Helm releases."""
    yield from (crd for crd in crds.definitions(MANAGEMENT) if crd["spec"]["names"]["kind"] == "HelmRelease")
    for name in ("kustomize-controller", "source-controller"):
        for file in sorted((binaries.data(f"{name}-kinds") / "config/crd/bases").glob("*.yaml")):
            yield crds.prepared(yaml.safe_load(file.read_bytes()))


def reported_ready(api: ApiServer, items: Iterable[Manifest]) -> None:
    """Write the status that ``jacquard up`` waits for to ``items``, as their controllers would."""
    for item in items:
        ref = ObjectRef(item.api_version, item.kind, item.name, item.namespace)
        if (item.api_version, item.kind) == KUSTOMIZATION:  # An operator's source does not exist.
            api.patch(ref, {"spec": {"suspend": True}}, field_manager="test")
        live = api.get(ref)
        assert live is not None, f"{ref} is not there"
        status = _status(item, live["metadata"]["generation"])
        try:
            api.patch(ref, {"status": status}, subresource="status", field_manager="test")
        except ApiError as error:
            if not error.not_found:
                raise
            api.patch(ref, {"status": status}, field_manager="test")  # CDI's kind has no status subresource.


def kubeconfig_of(server: LocalApiServer, cluster: str) -> dict[str, Any]:
    """Return the Secret with the kubeconfig of a tenant cluster, as Kamaji creates it in the cluster's namespace."""
    config = json.loads(server.kubeconfig.read_text())
    connection = config["clusters"][0]["cluster"]
    authority = Path(connection.pop("certificate-authority")).read_bytes()
    connection["certificate-authority-data"] = base64.b64encode(authority).decode()
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": f"{cluster}-kubeconfig", "namespace": cluster},
        "stringData": {"value": json.dumps(config)},
    }


def _status(item: Manifest, generation: int) -> dict[str, Any]:
    status: dict[str, Any] = {"conditions": [], **_REQUIRED.get(item.kind, {})}
    if item.api_version.partition("/")[0].endswith(FLUX_GROUPS):
        status["observedGeneration"] = generation
    assert item.readiness is not None
    for text in item.readiness.conditions:
        if found := _VALUE.fullmatch(text):
            *path, last = found[1].split(".")
            inner = status
            for step in path[1:]:
                inner = inner.setdefault(step, {})
            inner[last] = {"true": True, "false": False}.get(found[2], found[2])
        else:
            kind, _, value = text.removeprefix("condition=").partition("=")
            status["conditions"].append(
                {
                    "type": kind,
                    "status": value or "True",
                    "reason": "Test",
                    "message": "",
                    "lastTransitionTime": "2026-11-01T00:00:00Z",
                    "observedGeneration": generation,
                }
            )
    return status
