"""What Flux' helm-controller writes of a simulated release whose source has another chart than the one it installed.

Nothing is rendered; of releases that helm renders `helm` writes it. Read in fluxcd/helm-controller: a release is
reconciled when the revision of its source changes (``SetupWithManager``), and its history begins with the chart that
was installed last (``status.history``).
"""

from __future__ import annotations

from providers.kube.objects import dig
from rehearsal.operators.helm import RELEASE, is_real
from rehearsal.operators.helm_records import Place, snapshot
from rehearsal.operators.installed import fetched
from rehearsal.operators.view import View, deleting, reported

_KEPT = 5
"""Entries of a history that Flux keeps."""


def reconcile(view: View) -> None:
    """Write of each simulated release that is ready which chart it has, once its source has another one."""
    for release in view.all(*RELEASE):
        chart = fetched(view, release)
        if chart is None or is_real(release) or deleting(release) or not reported(release, "Ready"):
            continue
        history = dig(release, "status", "history") or []
        before = history[0] if history else None
        if before is None or before.get("ociDigest") != chart.digest:
            values = release["spec"].get("values") or {}
            entry = snapshot(Place.of(release), chart, config=values, content=chart.digest, before=before)
            attempted = {"lastAttemptedRevision": chart.revision, "lastAttemptedRevisionDigest": chart.digest}
            view.status(release, {"history": [entry, *history][:_KEPT], **attempted})
