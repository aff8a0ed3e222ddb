"""Which charts releases install and have a source for, whatever they are called."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from jacquard.lab.rehearsal.operators.view import Object, View, deleting, reported
from jacquard.providers.kube.objects import dig

HELM = "helm.toolkit.fluxcd.io/v2"
SOURCE = "source.toolkit.fluxcd.io/v1"


@dataclass(frozen=True, slots=True)
class Chart:
    """What a release's source has fetched."""

    name: str
    version: str
    digest: str

    @property
    def revision(self) -> str:
        """Return the version as Flux tells it, with the beginning of the digest."""
        return f"{self.version}+{self.digest.removeprefix('sha256:')[:12]}"


def installed(view: View, chart: str) -> Iterator[Object]:
    """Yield the releases of ``chart`` that are installed."""
    for release in view.all(HELM, "HelmRelease"):
        if not deleting(release) and reported(release, "Ready") and chart_of(view, release) == chart:
            yield release


def chart_of(view: View, release: Object) -> str | None:
    """Return the chart that a release installs: what its source fetches, whatever that is called."""
    return _name(source_of(view, release))


def fetched(view: View, release: Object) -> Chart | None:
    """Return what a release would install now; None as long as its source has fetched nothing."""
    source = source_of(view, release)
    name, digest = _name(source), dig(source, "status", "artifact", "digest")
    if source is None or name is None or digest is None or not reported(source, "Ready"):
        return None
    return Chart(name, dig(source, "spec", "ref", "tag") or "", digest)


def source_of(view: View, obj: Object, field: str = "chartRef") -> Object | None:
    """Return the source that a field of an object of Flux names, in the object's own namespace if it says no other."""
    named = dig(obj, "spec", field) or {}
    place = named.get("namespace") or obj["metadata"].get("namespace")
    return view.find(SOURCE, named.get("kind", ""), named.get("name"), place)


def _name(source: Object | None) -> str | None:
    url = dig(source, "spec", "url")
    return str(url).rpartition("/")[2] if url else None
