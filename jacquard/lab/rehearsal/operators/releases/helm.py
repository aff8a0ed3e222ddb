"""Simulated helm-controller of Flux for releases whose charts are available locally: the real helm renders them.

Such a release has the controller's finalizer, so that all other simulations ignore it. Other releases are simulated: a
stage reports them as installed, and `agents` simulates their effect on nodes. Hooks are not applied, and webhooks only
in tenant clusters while no pod could answer them (`chart_webhooks`). CRDs remain when a release is deleted, because the
region had these CRDs before. Without ``disableWait``, a release becomes ready when its pods run.
"""

import time
from collections.abc import Callable, Iterable, Iterator

from jacquard.lab.rehearsal import crds
from jacquard.lab.rehearsal.charts import KIND, Charts, HelmError
from jacquard.lab.rehearsal.operators.releases import chart_webhooks
from jacquard.lab.rehearsal.operators.releases.helm_records import KEPT, Place, Record, history, record, records
from jacquard.lab.rehearsal.operators.releases.helm_watch import FIELD_MANAGER, Drift, unready
from jacquard.lab.rehearsal.operators.releases.installed import HELM, Chart, fetched
from jacquard.lab.rehearsal.operators.view import LOG, Object, View, conditions, deleting, reported
from jacquard.providers.kube.objects import dig

RELEASE = (HELM, "HelmRelease")
FLUX_NAME, FLUX_NAMESPACE = "helm.toolkit.fluxcd.io/name", "helm.toolkit.fluxcd.io/namespace"
"""Labels that Flux sets on installed objects."""
FINALIZER = "finalizers.fluxcd.io"
_HELM_NAME, _HELM_NAMESPACE = "meta.helm.sh/release-name", "meta.helm.sh/release-namespace"
_AGAIN_SECONDS = 10.0
"""Delay before a failed release is retried."""


def is_real(release: Object) -> bool:
    """Return whether helm renders the objects of a release."""
    return FINALIZER in (release["metadata"].get("finalizers") or ())


def is_from_helm(obj: Object) -> bool:
    """Return whether an object is part of a chart."""
    return _HELM_NAME in (obj["metadata"].get("annotations") or {})


class Controller:
    """The helm-controller of a region."""

    def __init__(self, charts: Charts | None, serve: Callable[[Iterable[str]], None] = lambda _: None) -> None:
        """Render ``charts``, or simulate all releases if helm is not built (None).

        Registries outside the region ``serve`` the images that a rendered chart names.
        """
        self._charts = charts
        self._serve = serve
        self._not_before: dict[str, float] = {}
        self._logged: set[str] = set()
        self._applied: dict[str, tuple[int, list[Object]]] = {}
        """Revision and objects of releases that wait for their pods, by attempt."""
        self._drift = Drift()
        self._answered: set[str] = set()
        """Attempts whose webhooks are removed, because pods of them run."""

    def reconcile(self, management: View, hosted: Callable[[str], View | None]) -> None:
        """Update all releases.

        Args:
            management: The cluster with the releases.
            hosted: Returns a tenant's cluster by name, or None if it does not respond.
        """
        for release in management.all(*RELEASE):
            spec, metadata = release["spec"], release["metadata"]
            secret = dig(spec, "kubeConfig", "secretRef", "name")
            target = hosted(secret.removesuffix("-kubeconfig")) if secret else management
            chart = fetched(management, release)
            renders = chart is not None and self._can_render(release, chart)
            if is_real(release) and (deleting(release) or (chart is not None and not renders)):
                has_kubeconfig = management.find("v1", "Secret", secret, metadata["namespace"]) is not None
                if target is not None or not has_kubeconfig:
                    _uninstall(target, Place.of(release))
                    _finalizer(management, release, on=False)
            elif chart is None or not renders or deleting(release):
                continue
            elif not is_real(release):
                _finalizer(management, release, on=True)
            elif target is not None and spec.get("suspend") is not True:
                self._remove_webhooks(release, target)
                if _due(release, chart):
                    self._install(management, release, target, chart)
                elif reported(release, "Ready"):
                    self._drift.put_right(release, target)

    def _remove_webhooks(self, release: Object, target: View) -> None:
        """Remove the webhooks of a release in a tenant cluster as soon as their pods run."""
        attempt = f"{release['metadata']['uid']} {dig(release, 'status', 'lastAttemptedRevision')}"
        if "kubeConfig" in release["spec"] and attempt not in self._answered:
            left = chart_webhooks.remove_answered(target, list(_of(target, Place.of(release))))
            if reported(release, "Ready") and not left:
                self._answered.add(attempt)

    def _can_render(self, release: Object, chart: Chart) -> bool:
        """Return whether helm can render the chart of a release."""
        spec, metadata = release["spec"], release["metadata"]
        # Values from other objects are not supported.
        renders = (
            not spec.get("valuesFrom") and self._charts is not None and self._charts.has(chart.name, chart.version)
        )
        subject = f"{metadata['namespace']}/{metadata['name']}: chart {chart.name} {chart.version}"
        if subject not in self._logged:
            self._logged.add(subject)
            LOG.info("%s is %s", subject, "rendered by helm" if renders else "simulated")
        return renders

    def _install(self, management: View, release: Object, target: View, chart: Chart) -> None:
        metadata, place = release["metadata"], Place.of(release)
        attempt = f"{metadata['uid']} {metadata['generation']} {chart.digest}"
        if self._not_before.get(attempt, 0.0) > time.monotonic():
            return
        was_applied = attempt in self._applied
        if not was_applied:
            revision, bodies, errors = self._apply(release, target, chart)
            if errors:
                self._not_before[attempt] = time.monotonic() + _AGAIN_SECONDS
                _report(management, release, "False", f"{_action(revision).title()}Failed", "; ".join(errors))
                return
            self._applied[attempt] = revision, bodies
        revision, bodies = self._applied[attempt]
        waits = not dig(release, "spec", _action(revision), "disableWait")
        lacking = unready(target, bodies, place) if waits else []
        if lacking or (waits and not was_applied):  # objects of this round were read before the apply
            message = f"Running '{_action(revision)}' action: {', '.join(lacking)}"
            _report(management, release, "Unknown", "Progressing", message)
            return
        del self._applied[attempt]
        management.status(release, _status(release, chart, bodies, revision))

    def _apply(self, release: Object, target: View, chart: Chart) -> tuple[int, list[Object], list[str]]:
        """Apply the rendered objects, and delete objects that are no longer rendered.

        Return the revision number, its objects without CRDs, and the errors of helm or the cluster; with errors, the
        revision is not recorded.
        """
        place, values = Place.of(release), release["spec"].get("values") or {}
        before = records(target, place)
        revision = before[0].revision + 1 if before else 1
        if self._charts is None:
            return revision, [], ["helm is not built"]
        try:
            objects = self._charts.template(
                chart.name, chart.version, place.name, place.namespace, values, target.kubernetes()
            )
            objects = self._charts.post_rendered(objects, release["spec"].get("postRenderers", ()))
        except HelmError as error:
            return revision, [], [str(error)]
        self._serve(image for body in objects for image in _images(body))
        bodies = [_marked(body, release["metadata"], place) for body in objects if not _left_out(body, release, target)]
        webhooks = [body for body in bodies if body["kind"] in chart_webhooks.KINDS]
        bodies = [body for body in bodies if body["kind"] not in chart_webhooks.KINDS]
        applied = [*bodies, *chart_webhooks.unanswered(target, webhooks)]
        errors = [failure for body in applied if (failure := target.install(body, place.namespace, FIELD_MANAGER))]
        bodies = [body for body in bodies if body["kind"] != KIND]
        if not errors:
            current = {_key(body) for body in bodies}
            for body in before[0].objects if before else ():
                if _key(body) not in current:
                    _delete(target, body)
            _write_records(target, before, record(place, chart, revision, values, bodies))
        return revision, bodies, errors


def _images(body: Object) -> Iterator[str]:
    """Yield the images in the pod template of an object of a chart."""
    spec = body.get("spec") or {}
    pod = dig(spec, "template", "spec") or dig(spec, "jobTemplate", "spec", "template", "spec") or spec
    for field in ("initContainers", "containers"):
        for container in pod.get(field) or () if isinstance(pod, dict) else ():
            yield container["image"]


def _left_out(body: Object, release: Object, target: View) -> bool:
    """Return whether an object of a chart is not applied.

    In the management cluster, existing CRDs are not applied: the processing of schemas in the API server is half of the
    cost of the releases, and the region installs its CRDs earlier (published CRDs with ``CRDS_DIR``).
    """
    if "kubeConfig" in release["spec"]:
        return False
    is_present = body["kind"] == KIND and target.find(body["apiVersion"], KIND, body["metadata"]["name"]) is not None
    return is_present or body["kind"] in chart_webhooks.KINDS


def _due(release: Object, chart: Chart) -> bool:
    """Return whether a release must be installed: its prerequisites are met, or its source has another chart."""
    installed = reported(release, "Ready") and dig(release, "status", "lastAttemptedRevision") == chart.revision
    return not installed and (reported(release, "Reconciling") or reported(release, "Ready"))


def _uninstall(target: View | None, place: Place) -> None:
    """Delete the objects of a release; like Flux, do nothing if the target cluster and kubeconfig no longer exist."""
    if target is None:
        return
    for number, entry in enumerate(records(target, place)):
        for body in reversed(entry.objects) if number == 0 else ():
            _delete(target, body)
        target.delete(entry.secret)
    for body in list(_of(target, place)):
        target.delete(body)


def _of(target: View, place: Place) -> Iterator[Object]:
    """Yield the webhook configurations of a release, which its records do not contain."""
    marks = {_HELM_NAME: place.name, _HELM_NAMESPACE: place.namespace}.items()
    for body in chart_webhooks.configurations(target):
        if marks <= (body["metadata"].get("annotations") or {}).items():
            yield body


def _write_records(target: View, before: list[Record], newest: Object) -> None:
    """Write the record of a revision, mark the previous record as superseded, and delete surplus records."""
    for previous in before[:1]:
        target.install(previous.superseded(), "", FIELD_MANAGER)
    target.install(newest, "", FIELD_MANAGER)
    for surplus in before[KEPT - 1 :]:
        target.delete(surplus.secret)


def _delete(target: View, body: Object) -> None:
    live = target.find(body["apiVersion"], body["kind"], body["metadata"]["name"], body["metadata"].get("namespace"))
    if live and not deleting(live):
        target.delete(live)


def _marked(body: Object, metadata: Object, place: Place) -> Object:
    """Return an object of a chart with the labels of its release, as applied by Flux; CRDs are prepared first."""
    prepared = crds.prepared(body, every_version=True) if body["kind"] == KIND else body
    original = prepared["metadata"]
    labels = {FLUX_NAME: metadata["name"], FLUX_NAMESPACE: metadata["namespace"]}
    annotations = {_HELM_NAME: place.name, _HELM_NAMESPACE: place.namespace}
    return {
        **prepared,
        "metadata": {
            **original,
            "labels": {**(original.get("labels") or {}), "app.kubernetes.io/managed-by": "Helm", **labels},
            "annotations": {**(original.get("annotations") or {}), **annotations},
        },
    }


def _action(revision: int) -> str:
    return "upgrade" if revision > 1 else "install"


def _report(management: View, release: Object, status: str, reason: str, message: str) -> None:
    patch = conditions(release, Ready=(status, reason, message))
    if patch:
        management.status(release, patch)


def _finalizer(management: View, release: Object, *, on: bool) -> None:
    others = [name for name in release["metadata"].get("finalizers") or () if name != FINALIZER]
    management.patch(release, {"metadata": {"finalizers": [*others, *([FINALIZER] if on else [])]}})


def _status(release: Object, chart: Chart, bodies: list[Object], revision: int) -> Object:
    place, generation = Place.of(release), release["metadata"]["generation"]
    action = _action(revision).title()
    subject = f"{place.namespace}/{place.name}.v{revision} with chart {chart.name}@{chart.revision}"
    done = ("True", f"{action}Succeeded", f"Helm {action.lower()} succeeded for release {subject}")
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


def update_simulated(view: View) -> None:
    """Update the chart version in the status of ready simulated HelmReleases when their source changes.

    Nothing is rendered. Source, fluxcd/helm-controller: a release is reconciled when the revision of its source changes
    (``SetupWithManager``), and its history starts with the last installed chart (``status.history``).
    """
    for release in view.all(*RELEASE):
        chart = fetched(view, release)
        if chart is None or is_real(release) or deleting(release) or not reported(release, "Ready"):
            continue
        former = dig(release, "status", "history") or [{}]
        if former[0].get("ociDigest") != chart.digest:
            attempted = {"lastAttemptedRevision": chart.revision, "lastAttemptedRevisionDigest": chart.digest}
            view.status(release, {"history": history(release, chart, chart.digest), **attempted})
