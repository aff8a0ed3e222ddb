"""Chart updates of simulated HelmReleases whose source provides another chart than the installed one.

Nothing is rendered; `helm` updates the releases that helm renders. Source, fluxcd/helm-controller: a release is
reconciled when the revision of its source changes (``SetupWithManager``), and its history starts with the last
installed chart (``status.history``).
"""

from __future__ import annotations

from jacquard.lab.rehearsal.operators.releases.helm import RELEASE, is_real
from jacquard.lab.rehearsal.operators.releases.helm_records import history
from jacquard.lab.rehearsal.operators.releases.installed import fetched
from jacquard.lab.rehearsal.operators.view import View, deleting, reported
from jacquard.providers.kube.objects import dig


def reconcile(view: View) -> None:
    """Update the chart version in the status of ready simulated HelmReleases when their source changes."""
    for release in view.all(*RELEASE):
        chart = fetched(view, release)
        if chart is None or is_real(release) or deleting(release) or not reported(release, "Ready"):
            continue
        former = dig(release, "status", "history") or [{}]
        if former[0].get("ociDigest") != chart.digest:
            attempted = {"lastAttemptedRevision": chart.revision, "lastAttemptedRevisionDigest": chart.digest}
            view.status(release, {"history": history(release, chart, chart.digest), **attempted})
