"""Charts of releases, identified by the release's source instead of the release's name."""

from collections.abc import Iterator
from dataclasses import dataclass

from jacquard.lab.rehearsal.operators.view import Object, View, deleting, reported
from jacquard.providers.kube.objects import dig

HELM = "helm.toolkit.fluxcd.io/v2"
SOURCE = "source.toolkit.fluxcd.io/v1"


@dataclass(frozen=True, slots=True)
class Chart:
    """The chart in the artifact of a release's source."""

    name: str
    version: str
    digest: str

    @property
    def revision(self) -> str:
        """Return the version in Flux' format, with the first 12 digits of the digest."""
        return f"{self.version}+{self.digest.removeprefix('sha256:')[:12]}"


def installed(view: View, chart: str) -> Iterator[Object]:
    """Yield the installed releases of ``chart``."""
    for release in view.all(HELM, "HelmRelease"):
        if not deleting(release) and reported(release, "Ready") and chart_of(view, release) == chart:
            yield release


def chart_of(view: View, release: Object) -> str | None:
    """Return the chart name of a release, from the URL of its source."""
    return _name(source_of(view, release))


def fetched(view: View, release: Object) -> Chart | None:
    """Return the current chart of a release; None while its source has no artifact."""
    source = source_of(view, release)
    name, digest = _name(source), dig(source, "status", "artifact", "digest")
    if source is None or name is None or digest is None or not reported(source, "Ready"):
        return None
    return Chart(name, dig(source, "spec", "ref", "tag") or "", digest)


def is_of(cluster: str, obj: Object) -> bool:
    """Return whether Flux applies ``obj``, a release or Kustomization, to a tenant's ``cluster``."""
    return bool(dig(obj, "spec", "kubeConfig", "secretRef", "name") == f"{cluster}-kubeconfig")


def cluster_of(obj: Object) -> str:
    """Return the cluster to which Flux applies ``obj``; empty for its own cluster."""
    return str(dig(obj, "spec", "kubeConfig", "secretRef", "name") or "").removesuffix("-kubeconfig")


def source_of(view: View, obj: Object, field: str = "chartRef") -> Object | None:
    """Return the source that a field of a Flux object refers to, by default in the object's namespace."""
    reference = dig(obj, "spec", field) or {}
    place = reference.get("namespace") or obj["metadata"].get("namespace")
    return view.find(SOURCE, reference.get("kind", ""), reference.get("name"), place)


def _name(source: Object | None) -> str | None:
    url = dig(source, "spec", "url")
    return str(url).rpartition("/")[2] if url else None
