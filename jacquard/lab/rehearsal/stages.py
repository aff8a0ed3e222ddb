"""Status updates of simulated controllers: kwok Stages, generated from the short form in ``stages/*.yaml``.

Each entry of a file contains kinds, a jq expression, and a status. If the expression is true for an object, the object
gets the status after a delay. A stage writes only what the real controller writes, and reads no fields specific to
Jacquard. Updates that depend on a second object are in `jacquard.lab.rehearsal.operators`.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from jacquard.lab.rehearsal.crds import FIELD_MANAGER
from jacquard.lab.rehearsal.kinds import stand_ins
from jacquard.lab.rehearsal.region import MANAGEMENT
from jacquard.providers.kube import ApiServer

FOLDER = Path(__file__).parent / "stages"
API = "kwok.x-k8s.io/v1alpha1"
FILES = {
    True: ("hosts", "servers", "control_planes", "flux", "manifests", "cluster_api", "dpus", "nodes"),
    False: ("nodes", "vms", "volumes", "gpus", "manifests"),
}
"""Files of the management cluster (True) and of hosted clusters (False)."""
DEFINITIONS = (
    "def alive: .metadata.deletionTimestamp == null; "
    'def state: .status.provisioning.state // ""; '
    'def networked: any(.status.conditions[]?; .type == "NetworkUnavailable" and .status == "False") '
    'or .metadata.annotations["ovn.kubernetes.io/allocated"] == "true"; '
    'def attached: (.metadata.annotations["k8s.v1.cni.cncf.io/networks"] // "") == "" '
    'or any(.status.conditions[]?; .type == "PodReadyToStartContainers" and .status == "True"); '
    'def pulled: [.spec.containers[].name] - [.status.containerStatuses[]? | select((.imageID // "") != "") | .name] '
    "== []; "
    "def reported(t): .metadata.generation as $now | "
    'any(.status.conditions[]?; .type == t and .status == "True" and (.observedGeneration // $now) == $now); '
    'def within(hint): (. // "" | ascii_downcase) | contains(hint // "" | ascii_downcase); '
    'def root_device: (.spec.rootDeviceHints // {deviceName: "/dev/sda"}) as $hint | any(.status.hardware.storage[]?; '
    "(.model | within($hint.model)) and (.vendor | within($hint.vendor)) "
    "and ($hint.deviceName == null or ([.name, .alternateNames[]?] | index($hint.deviceName) != null)) "
    "and ([.hctl, .serialNumber, .wwn] as $of | [$hint.hctl, $hint.serialNumber, $hint.wwn] | to_entries "
    "| all(.value == null or .value == $of[.key])) "
    "and .sizeBytes >= ($hint.minSizeGigabytes // 0) * 1073741824 "
    "and ($hint.rotational == null or $hint.rotational == .rotational)); "
)
"""jq functions for ``when``: whether an object is not being deleted, the state of a host, whether a network agent runs
on a node, whether the networks of a pod are attached, whether all images of a pod are pulled, whether a condition is
True for the current generation, and whether a host has a disk that matches all root device hints. Hints match as in
Ironic: model and vendor as case-insensitive substrings, others exactly. Without hints, the default hint of the
bare-metal operator applies.
"""
_CONDITION = (
    '  - {{type: {type}, status: "True", reason: "{reason}", message: "", '
    "observedGeneration: {{{{ .metadata.generation }}}}, lastTransitionTime: {{{{ Now | Quote }}}}}}"
)


def sources(cluster: str) -> list[Path]:
    """Return the files with the stages of one cluster."""
    return [FOLDER / f"{name}.yaml" for name in FILES[cluster == MANAGEMENT]]


def stages(cluster: str, factor: float) -> list[dict[str, Any]]:
    """Return the Stage objects of one cluster, with delays divided by ``factor``."""
    entries = [entry for path in sources(cluster) for entry in yaml.load(path.read_text(), yaml.CSafeLoader)]
    bare = {(f"{kind.group}/{kind.version}", kind.kind) for kind in stand_ins(cluster) if not kind.status}
    return [stage for entry in entries for stage in _expanded(entry, factor, bare)]


def install(api: ApiServer, wanted: list[dict[str, Any]]) -> None:
    """Apply ``stages`` and delete all other stages."""
    for stage in wanted:
        api.apply(stage, field_manager=FIELD_MANAGER, force=True)
    names = {stage["metadata"]["name"] for stage in wanted}
    for stage in api.list(API, "Stage"):
        if stage["metadata"]["name"] not in names:
            api.request("DELETE", f"/apis/{API}/stages/{stage['metadata']['name']}")


def _expanded(entry: dict[str, Any], factor: float, bare: set[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    api_version, *kinds = entry["of"].split()
    shortest, longest = (round(milliseconds / factor) for milliseconds in entry["after_milliseconds"])
    for kind in kinds:
        yield {
            "apiVersion": API,
            "kind": "Stage",
            "metadata": {"name": f"{entry['name']}-{kind.lower()}" if len(kinds) > 1 else entry["name"]},
            "spec": {
                "resourceRef": {"apiGroup": api_version, "kind": kind},
                "selector": {
                    "matchExpressions": [
                        {"jq": {"key": DEFINITIONS + entry["when"], "operator": "In", "values": ["true"]}}
                    ]
                },
                "delay": {"durationMilliseconds": shortest, "jitterDurationMilliseconds": longest},
                "steps": list(
                    _steps(entry, status_subresource=(api_version, kind) not in bare, is_built_in=api_version == "v1")
                ),
            },
        }


def _steps(entry: dict[str, Any], *, status_subresource: bool, is_built_in: bool) -> Iterator[dict[str, Any]]:
    if finalizer := entry.get("add_finalizer"):
        yield {"finalizers": {"add": [{"value": finalizer}]}}
    template = entry.get("status", "")
    if conditions := entry.get("conditions"):
        lines = [_CONDITION.format(type=name, reason=reason) for name, reason in conditions.items()]
        template += "\n".join(["conditions:", *lines, ""])
    if template:
        # Kubelets and controllers of Kubernetes keep conditions of others; custom resources support merge patches only.
        patch = {"root": "status", "type": "strategic" if is_built_in else "merge", "template": template}
        yield {"patch": {"subresource": "status", **patch} if status_subresource else patch}
    if finalizer := entry.get("remove_finalizer"):
        yield {"finalizers": {"remove": [{"value": finalizer}]}}
    if entry.get("delete"):
        yield {"finalizers": {"empty": True}}
        yield {"delete": True}
