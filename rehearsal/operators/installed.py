"""Which charts are installed in the management cluster, whatever their releases are called."""

from __future__ import annotations

from collections.abc import Iterator

from providers.kube.objects import dig
from rehearsal.operators.view import Object, View, deleting, reported

HELM = "helm.toolkit.fluxcd.io/v2"
SOURCE = "source.toolkit.fluxcd.io/v1"


def installed(view: View, chart: str) -> Iterator[Object]:
    """Yield the releases of ``chart`` that are installed."""
    for release in view.all(HELM, "HelmRelease"):
        if not deleting(release) and reported(release, "Ready") and chart_of(view, release) == chart:
            yield release


def chart_of(view: View, release: Object) -> str | None:
    """Return the chart that a release installs: what its source fetches, whatever that is called."""
    named = dig(release, "spec", "chartRef") or {}
    source = view.find(SOURCE, named.get("kind", ""), named.get("name"), named.get("namespace"))
    url = dig(source, "spec", "url")
    return str(url).rpartition("/")[2] if url else None
