"""Simulated kubelets that pull the images of pods: a pod runs when all its images are pulled, or its containers wait.

Reasons, messages, events and delays are those of kubernetes/kubernetes:pkg/kubelet/images/image_manager.go. The kubelet
reports the digest of an image as soon as it is pulled, as the condition of the stage that lets the pod run; a real
kubelet reports it when the container starts. A retry that fails with the same error is not reported again.

A test injects faulty hardware by exit codes of containers (`FailingContainers`).
"""

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from jacquard.lab.rehearsal.images import ImageName
from jacquard.lab.rehearsal.kwok_configuration import NODES
from jacquard.lab.rehearsal.operators.events import event
from jacquard.lab.rehearsal.operators.network.attachments import waits_for_sandbox
from jacquard.lab.rehearsal.operators.pulls.pulls import Answer, Pulls
from jacquard.lab.rehearsal.operators.pulls.upstream import Upstream
from jacquard.lab.rehearsal.operators.storage.mounts import Mounts
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, now
from jacquard.machine import settings
from jacquard.providers.kube.objects import dig

_FIRST_SECONDS, _LAST_SECONDS = 10.0, 300.0
"""Delay after the first failure of a pull, and the limit; each failure doubles the delay."""
_PULL, _BACK_OFF, _NEVER, _INVALID = "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"
_CREATING, _INITIALIZING = "ContainerCreating", "PodInitializing"
_SIMULATED = tuple(NODES.split("="))
"""Annotation of nodes that have no other kubelet."""


@dataclass(slots=True)
class _Failing:
    """A pull that fails for one pod."""

    error: str
    failures: int
    not_before: float


@dataclass(frozen=True, slots=True)
class _State:
    """State of the image of a container: pulled, or the reason and message of its status."""

    image_id: str = ""
    reason: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class FailingContainers:
    """Exit codes of containers on nodes with faulty hardware.

    A test injects them by the file ``exit-codes/CLUSTER.json`` in the folder of the region: for the name of a node, or
    ``*`` for all nodes, the exit code by container. Containers of other pods than those that never restart succeed.
    """

    folder: Path

    def status(self, cluster: str, pod: Object) -> Object | None:
        """Return the status of a pod after its first failing container; None if all containers succeed."""
        file = self.folder / f"{cluster}.json"
        if pod["spec"].get("restartPolicy") != "Never" or not file.exists():
            return None
        codes: dict[str, dict[str, int]] = json.loads(file.read_text(encoding="utf-8"))
        mine = {**codes.get("*", {}), **codes.get(pod["spec"]["nodeName"], {})}
        fields = {"initContainerStatuses": "initContainers", "containerStatuses": "containers"}
        failed, status = False, {}
        for field, containers in fields.items():
            entries = []
            for container in _containers(pod, containers):
                code = mine.get(container["name"], 0)
                waiting = _status(container, _State(reason=_INITIALIZING))
                entries.append(waiting if failed else {**waiting, "state": {"terminated": _ended(code)}})
                failed = failed or code != 0
            status[field] = entries
        return {"phase": "Failed", **status} if failed else None


def _ended(code: int) -> Object:
    ended = {"exitCode": code, "reason": "Error" if code else "Completed", "startedAt": now(), "finishedAt": now()}
    return {**ended, "message": "injected by a test"} if code else ended


class Kubelets:
    """The kubelets of all simulated nodes of a region, with the images of their nodes."""

    def __init__(self, upstream: Upstream, failing: FailingContainers | None = None) -> None:
        """Start without pulled images; ``failing`` are containers on nodes with faulty hardware."""
        self._upstream = upstream
        self._faults = failing
        self._mounts = Mounts()
        self._present: dict[tuple[str, str, str], str] = {}
        """Image IDs by cluster, node and image."""
        self._failing: dict[tuple[str, str], _Failing] = {}
        """Failing pulls by UID of the pod and image."""

    def reconcile(self, management: View, cluster: str, view: View) -> None:
        """Pull the images of a cluster's pods that do not run yet, after their volumes are mounted."""
        pulls = Pulls(management, cluster, self._upstream)
        for pod in view.all("v1", "Pod"):
            starts = _waits(pod) and _is_simulated(view.find("v1", "Node", pod["spec"]["nodeName"]))
            if starts and self._mounts.mounted(view, pod):
                failed = self._faults and self._faults.status(cluster, pod)
                if failed:
                    view.status(pod, failed)
                else:
                    self._reconcile(view, pod, pulls)

    def _reconcile(self, view: View, pod: Object, pulls: Pulls) -> None:
        first = [(container, self._state(pod, container, pulls)) for container in _containers(pod, "initContainers")]
        if all(state.image_id for _, state in first):
            states = [(container, self._state(pod, container, pulls)) for container in _containers(pod, "containers")]
            status = {"containerStatuses": [_status(*entry) for entry in states], "initContainerStatuses": None}
        else:
            states = first
            waiting = _State(reason=_INITIALIZING)
            others = [_status(container, waiting) for container in _containers(pod, "containers")]
            status = {"containerStatuses": others, "initContainerStatuses": [_status(*entry) for entry in first]}
        before = pod.get("status") or {}
        if any((before.get(key) or None) != value for key, value in status.items()):
            view.status(pod, status)
            for event_body in _events(pod, states, before):
                view.create(event_body)

    def _state(self, pod: Object, container: Object, pulls: Pulls) -> _State:
        text, node = container["image"], pod["spec"]["nodeName"]
        image = ImageName.of(text)
        if image is None:
            problem = f'couldn\'t parse image name "{text}": invalid reference format'
            return _State(reason=_INVALID, message=f'Failed to apply default image tag "{text}": {problem}')
        place, policy = (pulls.cluster, node, str(image)), container.get("imagePullPolicy")
        if policy != "Always" and place in self._present:
            return _State(image_id=self._present[place])
        if policy == "Never":
            message = f'Container image "{text}" is not present with pull policy of Never'
            return _State(reason=_NEVER, message=message)
        key = (pod["metadata"]["uid"], text)
        failing = self._failing.get(key)
        if failing is not None and failing.not_before > time.monotonic():
            return _back_off(text, failing)
        answer = pulls.pull(node, image)
        if answer.digest:
            self._failing.pop(key, None)
            self._present[place] = f"{image.registry}/{image.repository}@{answer.digest}"
            return _State(image_id=self._present[place])
        return self._failed(key, text, answer)

    def _failed(self, key: tuple[str, str], text: str, answer: Answer) -> _State:
        before = self._failing.get(key)
        failures = before.failures + 1 if before else 1
        delay = min(_FIRST_SECONDS * 2 ** (failures - 1), _LAST_SECONDS) / settings.speed()
        failing = _Failing(answer.error, failures, time.monotonic() + delay)
        self._failing[key] = failing
        if before is not None and before.error == answer.error:
            return _back_off(text, failing)
        return _State(reason=_PULL, message=answer.error)


def _back_off(text: str, failing: _Failing) -> _State:
    return _State(reason=_BACK_OFF, message=f'Back-off pulling image "{text}": {_PULL}: {failing.error}')


def _waits(pod: Object) -> bool:
    """Return whether a pod is on a node and its images are not reported as pulled."""
    if deleting(pod) or dig(pod, "status", "phase") != "Pending" or not dig(pod, "spec", "nodeName"):
        return False
    pulled = {entry["name"] for entry in dig(pod, "status", "containerStatuses") or () if entry.get("imageID")}
    return not waits_for_sandbox(pod) and any(entry["name"] not in pulled for entry in pod["spec"]["containers"])


def _is_simulated(node: Object | None) -> bool:
    key, value = _SIMULATED
    return node is not None and (node["metadata"].get("annotations") or {}).get(key) == value


def _containers(pod: Object, field: str) -> list[Object]:
    return list(dig(pod, "spec", field) or ())


def _status(container: Object, state: _State) -> Object:
    waiting = {"reason": state.reason or _CREATING, **({"message": state.message} if state.message else {})}
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": state.image_id,
        "ready": False,
        "started": False,
        "restartCount": 0,
        "state": {"waiting": waiting},
    }


def _events(pod: Object, states: list[tuple[Object, _State]], before: Object) -> Iterator[Object]:
    """Yield the events of states that differ from the status of the pod."""
    reported = {
        entry["name"]: dig(entry, "state", "waiting", "reason")
        for field in ("containerStatuses", "initContainerStatuses")
        for entry in before.get(field) or ()
    }
    for container, state in states:
        if not state.message or reported.get(container["name"]) == state.reason:
            continue
        texts = {
            _PULL: ("Warning", "Failed", f'Failed to pull image "{container["image"]}": {state.message}'),
            _BACK_OFF: ("Normal", "BackOff", f'Back-off pulling image "{container["image"]}"'),
            _NEVER: ("Warning", "ErrImageNeverPull", state.message),
            _INVALID: ("Warning", "InspectFailed", state.message),
        }
        for kind, reason, message in (texts[state.reason], ("Warning", "Failed", f"Error: {state.reason}")):
            yield event(pod, kind, reason, message, component="kubelet", host=pod["spec"]["nodeName"])
