"""Checks of Flux' helm-controller after an installation: readiness of workloads, and correction of drift.

Source, fluxcd/helm-controller: ``internal/action/diff.go`` compares Helm's stored manifests with a dry run of a
server-side apply, and ignores objects with ``driftDetection: disabled``. Differences are corrected and reported as
``DriftCorrected`` (``internal/reconcile/correct_cluster_drift.go``).
"""

import time
from collections.abc import Iterable

from jacquard.lab.rehearsal.operators.releases.helm_records import Place, records
from jacquard.lab.rehearsal.operators.view import LOG, Object, View, deleting
from jacquard.providers.kube.objects import dig

FIELD_MANAGER = "helm-controller"
DRIFT_DETECTION = "helm.toolkit.fluxcd.io/driftDetection"
"""Label or annotation; the value ``disabled`` excludes an object from drift detection."""
_PAUSE_SECONDS = 30.0
"""Interval between checks of a release. Flux uses the interval of the release, an hour."""


class Drift:
    """Drift detection for the objects of installed releases."""

    def __init__(self) -> None:
        """Start without checked objects."""
        self._not_before: dict[str, float] = {}
        self._clean: dict[tuple[str, str, str, str], str] = {}
        """Resource version without drift, by release, kind, namespace and name."""

    def put_right(self, release: Object, target: View) -> None:
        """Correct edited and deleted objects of a release, if drift detection is enabled and the interval is over."""
        uid, mode = release["metadata"]["uid"], dig(release, "spec", "driftDetection", "mode")
        if mode not in {"enabled", "warn"} or self._not_before.get(uid, 0.0) > time.monotonic():
            return
        place = Place.of(release)
        was_checked = uid in self._not_before
        self._not_before[uid] = time.monotonic() + _PAUSE_SECONDS
        if not was_checked:  # the release was just installed
            return
        for body in next((entry.objects for entry in records(target, place)), ()):
            if self._drifted(uid, target, body, place) and mode == "enabled":
                error = target.install(body, place.namespace, FIELD_MANAGER)
                result = f"DriftCorrectionFailed: {error}" if error else "DriftCorrected"
                name = f"{body['kind']} {body['metadata']['name']}"
                LOG.info("%s/%s: %s: %s", release["metadata"]["namespace"], release["metadata"]["name"], result, name)

    def _drifted(self, uid: str, target: View, body: Object, place: Place) -> bool:
        metadata = body["metadata"]
        live = target.find(body["apiVersion"], body["kind"], metadata["name"], _namespace(body, place))
        if live is None:
            return True
        live_metadata = live["metadata"]
        key = (uid, body["kind"], live_metadata.get("namespace") or "", live_metadata["name"])
        marks = {**(live_metadata.get("labels") or {}), **(live_metadata.get("annotations") or {})}
        excluded = marks.get(DRIFT_DETECTION) == "disabled"
        if deleting(live) or excluded or self._clean.get(key) == live_metadata["resourceVersion"]:
            return False
        if target.differs(live, body, place.namespace, FIELD_MANAGER):
            return True
        self._clean[key] = live_metadata["resourceVersion"]
        return False


def unready(target: View, bodies: Iterable[Object], place: Place) -> list[str]:
    """Return the workloads of a release that are not ready, by the criteria of Helm's wait."""
    workloads = []
    for body in bodies:
        if body["kind"] in _RUNS:
            live = target.find(body["apiVersion"], body["kind"], body["metadata"]["name"], _namespace(body, place))
            if live is None or not _runs(live):
                workloads.append(f"{body['kind']} {body['metadata']['name']}")
    return workloads


_RUNS = {
    "Deployment": ("updatedReplicas", "availableReplicas"),
    "StatefulSet": ("updatedReplicas", "readyReplicas"),
    "DaemonSet": ("updatedNumberScheduled", "numberAvailable"),
}
"""Status fields with pod counts, by kind of workload."""


def _runs(live: Object) -> bool:
    status = live.get("status") or {}
    replicas = live["spec"].get("replicas", 1)
    wanted = status.get("desiredNumberScheduled", 0) if live["kind"] == "DaemonSet" else replicas
    observed = status.get("observedGeneration", 0) >= live["metadata"].get("generation", 0)
    return observed and all(status.get(name, 0) >= wanted for name in _RUNS[live["kind"]])


def _namespace(body: Object, place: Place) -> str:
    return body["metadata"].get("namespace") or place.namespace
