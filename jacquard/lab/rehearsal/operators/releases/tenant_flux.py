"""What a Flux of a tenant's cluster does there, once that of the management cluster has brought it."""

from __future__ import annotations

from jacquard.lab.rehearsal.operators import references
from jacquard.lab.rehearsal.operators.releases import kustomizations
from jacquard.lab.rehearsal.operators.releases.installed import source_of
from jacquard.lab.rehearsal.operators.view import View, deleting, reported
from jacquard.providers.kube.objects import dig

_MANIFESTS = "flux"
"""Last part of the URL that its manifests are fetched from."""


def reconcile(management: View, cluster: str, view: View) -> None:
    """Move repositories and Kustomizations of ``cluster`` one step on, if it has a Flux."""
    if _is_there(management, cluster):
        kustomizations.attempt(view)
        references.report(view, lambda _: None, references.FLUX)


def _is_there(management: View, cluster: str) -> bool:
    for one in management.all(kustomizations.KUSTOMIZE, "Kustomization"):
        inside = dig(one, "spec", "kubeConfig", "secretRef", "name") == f"{cluster}-kubeconfig"
        if inside and reported(one, "Ready") and not deleting(one):
            url = dig(source_of(management, one, "sourceRef"), "spec", "url") or ""
            if url.rpartition("/")[2] == _MANIFESTS:
                return True
    return False
