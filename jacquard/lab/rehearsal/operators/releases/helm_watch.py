"""What Flux' helm-controller looks at after it has installed a release: pods that have to come up, and edits by hand.

Read in fluxcd/helm-controller: ``internal/action/diff.go`` compares what Helm stored with what a dry run of a
server-side apply would make of it, and leaves out what says ``driftDetection: disabled``; what differs is put right and
told as ``DriftCorrected`` (``internal/reconcile/correct_cluster_drift.go``).
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from jacquard.lab.rehearsal.operators.releases.helm_records import Place, records
from jacquard.lab.rehearsal.operators.view import LOG, Object, View, deleting
from jacquard.providers.kube.objects import dig

FIELD_MANAGER = "helm-controller"
DRIFT_DETECTION = "helm.toolkit.fluxcd.io/driftDetection"
"""Label or annotation of an object that may be edited, where its value is ``disabled``."""
_PAUSE_SECONDS = 30.0
"""After what length of time a release is looked at again; Flux' own is the release's interval, an hour."""


class Drift:
    """Looks after the objects of releases that are installed."""

    def __init__(self) -> None:
        """Begin with nothing looked at."""
        self._not_before: dict[str, float] = {}
        self._right: dict[tuple[str, str, str, str], str] = {}
        """Version in which an object was seen to be right, by release, kind, namespace and name."""

    def put_right(self, release: Object, there: View) -> None:
        """Put right what somebody edited or deleted of a release, if it is time to look and the release says so."""
        uid, mode = release["metadata"]["uid"], dig(release, "spec", "driftDetection", "mode")
        if mode not in {"enabled", "warn"} or self._not_before.get(uid, 0.0) > time.monotonic():
            return
        place = Place.of(release)
        begun = uid in self._not_before
        self._not_before[uid] = time.monotonic() + _PAUSE_SECONDS
        if not begun:  # it has just been installed
            return
        for body in next((one.objects for one in records(there, place)), ()):
            if self._drifted(uid, there, body, place) and mode == "enabled":
                why = there.install(body, place.namespace, FIELD_MANAGER)
                said = f"DriftCorrectionFailed: {why}" if why else "DriftCorrected"
                name = f"{body['kind']} {body['metadata']['name']}"
                LOG.info("%s/%s: %s: %s", release["metadata"]["namespace"], release["metadata"]["name"], said, name)

    def _drifted(self, uid: str, there: View, body: Object, place: Place) -> bool:
        metadata = body["metadata"]
        live = there.find(body["apiVersion"], body["kind"], metadata["name"], _namespace(body, place))
        if live is None:
            return True
        own = live["metadata"]
        key = (uid, body["kind"], own.get("namespace") or "", own["name"])
        excluded = {**(own.get("labels") or {}), **(own.get("annotations") or {})}.get(DRIFT_DETECTION) == "disabled"
        if deleting(live) or excluded or self._right.get(key) == own["resourceVersion"]:
            return False
        if there.differs(live, body, place.namespace, FIELD_MANAGER):
            return True
        self._right[key] = own["resourceVersion"]
        return False


def unready(there: View, bodies: Iterable[Object], place: Place) -> list[str]:
    """Return which workloads of a release do not run yet with all their pods, as Helm waits for them."""
    found = []
    for body in bodies:
        if body["kind"] in _RUNS:
            live = there.find(body["apiVersion"], body["kind"], body["metadata"]["name"], _namespace(body, place))
            if live is None or not _runs(live):
                found.append(f"{body['kind']} {body['metadata']['name']}")
    return found


_RUNS = {
    "Deployment": ("updatedReplicas", "availableReplicas"),
    "StatefulSet": ("updatedReplicas", "readyReplicas"),
    "DaemonSet": ("updatedNumberScheduled", "numberAvailable"),
}
"""Fields of a workload's status that count its pods, by kind."""


def _runs(live: Object) -> bool:
    status = live.get("status") or {}
    replicas = live["spec"].get("replicas", 1)
    wanted = status.get("desiredNumberScheduled", 0) if live["kind"] == "DaemonSet" else replicas
    seen = status.get("observedGeneration", 0) >= live["metadata"].get("generation", 0)
    return seen and all(status.get(name, 0) >= wanted for name in _RUNS[live["kind"]])


def _namespace(body: Object, place: Place) -> str:
    return body["metadata"].get("namespace") or place.namespace
