"""What Flux' helm-controller does with releases whose charts are here: the real helm renders them.

Such a release has the controller's finalizer, which tells everybody else to leave it alone. All other releases are
simulated: a stage says that they are installed, and `agents` plays what acts on nodes. Not applied are webhooks, which
nothing would answer, and hooks; kinds stay when a release goes, since the region had them before. Where a release does
not say ``disableWait``, as in the management cluster, it is ready once its pods run.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from jacquard.lab.rehearsal import crds
from jacquard.lab.rehearsal.charts import KIND, Charts, HelmError
from jacquard.lab.rehearsal.operators.releases.helm_records import KEPT, Place, Record, history, record, records
from jacquard.lab.rehearsal.operators.releases.helm_watch import FIELD_MANAGER, Drift, unready
from jacquard.lab.rehearsal.operators.releases.installed import HELM, Chart, fetched
from jacquard.lab.rehearsal.operators.view import LOG, Object, View, conditions, deleting, reported
from jacquard.providers.kube.objects import dig

RELEASE = (HELM, "HelmRelease")
FLUX_NAME, FLUX_NAMESPACE = "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"
"""Labels that Flux puts on what it installs."""
FINALIZER = "finalizers.fluxcd.io"
_HELM_NAME, _HELM_NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
_WEBHOOKS = {"ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}
_AGAIN_SECONDS = 10.0
"""After what length of time a release that failed is tried again."""


def is_real(release: Object) -> bool:
    """Tell whether what the release installs is rendered by helm."""
    return FINALIZER in (release["metadata"].get("finalizers") or ())


def is_from_helm(obj: Object) -> bool:
    """Tell whether an object is part of a chart."""
    return _HELM_NAME in (obj["metadata"].get("annotations") or {})


class Controller:
    """The helm-controller of a region."""

    def __init__(self, charts: Charts | None) -> None:
        """Work with ``charts``, or leave all releases to simulation where helm is not built."""
        self._charts = charts
        self._not_before: dict[str, float] = {}
        self._told: set[str] = set()
        self._applied: dict[str, tuple[int, list[Object]]] = {}
        """Revision and objects of releases whose pods are waited for, by attempt."""
        self._drift = Drift()

    def reconcile(self, management: View, hosted: Callable[[str], View | None]) -> None:
        """Bring all releases one step on.

        Args:
            management: The cluster with the releases.
            hosted: Returns a tenant's cluster by its name, None where nobody answers.
        """
        for release in management.all(*RELEASE):
            spec, metadata = release["spec"], release["metadata"]
            secret = dig(spec, "kubeConfig", "secretRef", "name")
            there = hosted(secret.removesuffix("-kubeconfig")) if secret else management
            chart = fetched(management, release)
            here = chart is not None and self._is_here(release, chart)
            if is_real(release) and (deleting(release) or (chart is not None and not here)):
                known = management.find("v1", "Secret", secret, metadata["namespace"]) is not None
                if there is not None or not known:
                    _uninstall(there, Place.of(release))
                    _finalizer(management, release, on=False)
            elif chart is None or not here or deleting(release):
                continue
            elif not is_real(release):
                _finalizer(management, release, on=True)
            elif there is not None and spec.get("suspend") is not True:
                if _due(release, chart):
                    self._install(management, release, there, chart)
                elif reported(release, "Ready"):
                    self._drift.put_right(release, there)

    def _is_here(self, release: Object, chart: Chart) -> bool:
        """Tell whether helm can render what a release installs."""
        spec, metadata = release["spec"], release["metadata"]
        # Nothing here looks values up, or patches what helm has rendered.
        plain = not spec.get("valuesFrom") and not spec.get("postRenderers")
        here = plain and self._charts is not None and self._charts.has(chart.name, chart.version)
        told = f"{metadata['namespace']}/{metadata['name']}: chart {chart.name} {chart.version}"
        if told not in self._told:
            self._told.add(told)
            LOG.info("%s is %s", told, "rendered by helm" if here else "simulated")
        return here

    def _install(self, management: View, release: Object, there: View, chart: Chart) -> None:
        metadata, place = release["metadata"], Place.of(release)
        attempt = f"{metadata['uid']} {metadata['generation']} {chart.digest}"
        if self._not_before.get(attempt, 0.0) > time.monotonic():
            return
        begun = attempt in self._applied
        if not begun:
            revision, bodies, refused = self._apply(release, there, chart)
            if refused:
                self._not_before[attempt] = time.monotonic() + _AGAIN_SECONDS
                _say(management, release, "False", f"{_action(revision).title()}Failed", "; ".join(refused))
                return
            self._applied[attempt] = revision, bodies
        revision, bodies = self._applied[attempt]
        waits = not dig(release, "spec", _action(revision), "disableWait")
        lacking = unready(there, bodies, place) if waits else []
        if lacking or (waits and not begun):  # what was listed in this round was listed before
            doing = f"Running '{_action(revision)}' action: {', '.join(lacking)}"
            _say(management, release, "Unknown", "Progressing", doing)
            return
        del self._applied[attempt]
        management.status(release, _status(release, chart, bodies, revision))

    def _apply(self, release: Object, there: View, chart: Chart) -> tuple[int, list[Object], list[str]]:
        """Apply what helm renders, and take away what it no longer has.

        Return the number of the revision, its objects but for kinds, and what helm or the cluster says against them:
        then nothing is recorded.
        """
        place, values = Place.of(release), release["spec"].get("values") or {}
        before = records(there, place)
        revision = before[0].revision + 1 if before else 1
        if self._charts is None:
            return revision, [], ["helm is not built"]
        try:
            objects = self._charts.template(
                chart.name, chart.version, place.name, place.namespace, values, there.kubernetes()
            )
        except HelmError as error:
            return revision, [], [str(error)]
        bodies = [_marked(body, release["metadata"], place) for body in objects if not _left_out(body, release, there)]
        refused = [why for body in bodies if (why := there.install(body, place.namespace, FIELD_MANAGER))]
        bodies = [body for body in bodies if body["kind"] != KIND]
        if not refused:
            kept = {_key(body) for body in bodies}
            for body in before[0].objects if before else ():
                if _key(body) not in kept:
                    _delete(there, body)
            _recorded(there, before, record(place, chart, revision, values, bodies))
        return revision, bodies, refused


def _left_out(body: Object, release: Object, there: View) -> bool:
    """Tell whether an object of a chart is not applied.

    In the management cluster that goes for kinds which are there: half of what its releases cost is that the API server
    takes in the schemas, and the region brings its kinds before (published ones with ``CRDS_DIR``).
    """
    if body["kind"] == KIND and "kubeConfig" not in release["spec"]:
        return there.find(body["apiVersion"], KIND, body["metadata"]["name"]) is not None
    return body["kind"] in _WEBHOOKS


def _due(release: Object, chart: Chart) -> bool:
    """Tell whether a release waits for helm: its prerequisites hold, or its source has another chart by now."""
    installed = reported(release, "Ready") and dig(release, "status", "lastAttemptedRevision") == chart.revision
    return not installed and (reported(release, "Reconciling") or reported(release, "Ready"))


def _uninstall(there: View | None, place: Place) -> None:
    """Delete what a release installed; where its cluster is gone with the kubeconfig, nothing, as Flux does."""
    if there is None:
        return
    for number, found in enumerate(records(there, place)):
        for body in reversed(found.objects) if number == 0 else ():
            _delete(there, body)
        there.delete(found.secret)


def _recorded(there: View, before: list[Record], newest: Object) -> None:
    """Write the record of a revision, and of those before it that they are superseded or too many."""
    for found in before[:1]:
        there.install(found.superseded(), "", FIELD_MANAGER)
    there.install(newest, "", FIELD_MANAGER)
    for found in before[KEPT - 1 :]:
        there.delete(found.secret)


def _delete(there: View, body: Object) -> None:
    live = there.find(body["apiVersion"], body["kind"], body["metadata"]["name"], body["metadata"].get("namespace"))
    if live and not deleting(live):
        there.delete(live)


def _marked(body: Object, metadata: Object, place: Place) -> Object:
    """Return an object of a chart as Flux applies it: labelled with the release, kinds as a cluster can hold them."""
    whole = crds.prepared(body, every_version=True) if body["kind"] == KIND else body
    own = whole["metadata"]
    labels = {FLUX_NAME: metadata["name"], FLUX_NAMESPACE: metadata["namespace"]}
    annotations = {_HELM_NAME: place.name, _HELM_NAMESPACE: place.namespace}
    return {
        **whole,
        "metadata": {
            **own,
            "labels": {**(own.get("labels") or {}), "app.kubernetes.io/managed-by": "Helm", **labels},
            "annotations": {**(own.get("annotations") or {}), **annotations},
        },
    }


def _action(revision: int) -> str:
    return "upgrade" if revision > 1 else "install"


def _say(management: View, release: Object, status: str, reason: str, message: str) -> None:
    told = conditions(release, Ready=(status, reason, message))
    if told:
        management.status(release, told)


def _finalizer(management: View, release: Object, *, on: bool) -> None:
    others = [name for name in release["metadata"].get("finalizers") or () if name != FINALIZER]
    management.patch(release, {"metadata": {"finalizers": [*others, *([FINALIZER] if on else [])]}})


def _status(release: Object, chart: Chart, bodies: list[Object], revision: int) -> Object:
    place, generation = Place.of(release), release["metadata"]["generation"]
    action = _action(revision).title()
    what = f"{place.namespace}/{place.name}.v{revision} with chart {chart.name}@{chart.revision}"
    done = ("True", f"{action}Succeeded", f"Helm {action.lower()} succeeded for release {what}")
    return {
        "observedGeneration": generation,
        "lastAttemptedGeneration": generation,
        "lastAttemptedRevision": chart.revision,
        "lastAttemptedRevisionDigest": chart.digest,
        "lastAttemptedReleaseAction": action.lower(),
        "storageNamespace": place.storage,
        "history": history(release, chart, bodies, revision),
        **conditions({**release, "status": {}}, Ready=done, Released=done),
    }


def _key(body: Object) -> tuple[str, str, str]:
    return body["kind"], body["metadata"].get("namespace") or "", body["metadata"]["name"]
