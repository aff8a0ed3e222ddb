"""Applications of Argo CD that apply the slices of a layout.

An Application contains all phases of a slice in one cluster: Argo CD skips the validation of kinds that are not served
yet, applies all other objects, and retries (argoproj/argo-cd v3.5.1, docs/user-guide/sync-options.md and
gitops-engine/pkg/sync/sync_context.go, ``runTasks``). Its waves order the slices.
"""

import re
from collections.abc import Iterable, Iterator

from components.render.manifest import Manifest
from components.render.objects import given, manifest
from components.specs.add_ons.flux import GIT_URL
from components.specs.reading.problems import shown
from jacquard.delivery.layout import Deletion, Layout, annotated, deletion

NAMESPACE = "argocd"
DEFAULT_SOURCE = ""
DELIVERY = "delivery"
"""Folder of the Applications."""
_WAVE, _SYNC, _COMPARE = (f"argocd.argoproj.io/{name}" for name in ("sync-wave", "sync-options", "compare-options"))
_MARKS = {Deletion.NEVER: "Prune=false,Delete=false", Deletion.CONFIRMED: "Prune=confirm,Delete=confirm"}
_MANAGEMENT = "https://kubernetes.default.svc"
"""API server of the cluster in which Argo CD runs."""
_POWER = {"group": "metal3.io", "kind": "BareMetalHost", "jsonPointers": ["/spec/online"]}
"""Field by which a person powers off a host. The Metal3 provider of Cluster API writes it too
(metal3-io/cluster-api-provider-metal3 v1.13.2, baremetal/metal3machine_manager.go, ``setHostSpec``)."""


def source_problem(text: str) -> str | None:
    """Return the reason why ``text`` is an invalid repository, with an example; None for a valid one."""
    if re.match(GIT_URL, text):
        return None
    return (
        f"must be the URL of a Git repository by HTTPS or SSH, without a password (got {shown(text)}); "
        "write such as ssh://git@git.example.com/regions.git"
    )


def marked(items: Iterable[Manifest]) -> Iterator[Manifest]:
    """Yield ``items`` with a mark on those that Argo CD must not delete, or only after a confirmation."""
    for item in items:
        mark = _MARKS.get(deletion(item))
        yield item if mark is None else annotated(item, _SYNC, mark)


def delivery(parts: Layout, source: str, path: str) -> Iterator[tuple[str, Manifest]]:
    """Yield folder and object of each Application.

    Args:
        parts: parts of the environment.
        source: URL of the repository, which Argo CD must be able to read.
        path: folder of the layout in the repository.
    """
    waves, environment = _waves(parts), parts.environment
    yield DELIVERY, _application(environment, source, f"{path}/{DELIVERY}", {"server": _MANAGEMENT})
    for part in {part.folder: part for part in parts.parts}.values():
        name = f"{environment}-{part.slice_name}{'-inside' if part.is_inside else ''}"
        destination = {"name": part.cluster} if part.is_inside else {"server": _MANAGEMENT}
        item = _application(name, source, f"{path}/{part.folder}", destination, recurse=True)
        yield DELIVERY, annotated(item, _WAVE, str(waves[part.slice_name]))


def _waves(parts: Layout) -> dict[str, int]:
    """Return the wave of each slice: one after the last wave of the slices that it needs."""
    waves: dict[str, int] = {}
    for part in parts.parts:
        needed = {parts.by_path[path].slice_name for path in part.needs} - {part.slice_name}
        waves[part.slice_name] = max([waves.get(part.slice_name, 0), *(waves[name] + 1 for name in needed)])
    return waves


def _application(name: str, source: str, path: str, destination: dict[str, str], *, recurse: bool = False) -> Manifest:
    """Return an Application. Its objects stay when it is deleted, because it has no finalizer."""
    item = manifest(
        "argoproj.io/v1alpha1",
        "Application",
        name,
        namespace=NAMESPACE,
        spec={
            "project": "default",
            "source": {
                "repoURL": source,
                "targetRevision": "HEAD",
                "path": path.removeprefix("./"),
                **given(directory={"recurse": True} if recurse else None),
            },
            "destination": destination,
            "ignoreDifferences": [_POWER],
            "syncPolicy": {
                "automated": {"prune": True, "selfHeal": True},
                "syncOptions": [
                    "ServerSideApply=true",
                    "SkipDryRunOnMissingResource=true",
                    "RespectIgnoreDifferences=true",
                ],
                "retry": {"limit": -1, "backoff": {"duration": "30s", "factor": 2, "maxDuration": "5m"}},
            },
        },
    )
    return annotated(item, _COMPARE, "ServerSideDiff=true")
