"""Simulated Flux in a tenant's cluster, after the Flux of the management cluster installed it."""

from __future__ import annotations

from jacquard.lab.rehearsal.operators import references
from jacquard.lab.rehearsal.operators.releases import kustomizations
from jacquard.lab.rehearsal.operators.releases.installed import source_of
from jacquard.lab.rehearsal.operators.view import View, deleting, reported
from jacquard.providers.kube.objects import dig

_MANIFESTS = "flux"
"""Last part of the URL of its manifests."""


def reconcile(management: View, cluster: str, view: View) -> None:
    """Update repositories and Kustomizations of ``cluster``, if it has a Flux."""
    if _is_installed(management, cluster):
        kustomizations.attempt(view)
        references.report(view, lambda _: None, references.FLUX)


def _is_installed(management: View, cluster: str) -> bool:
    for kustomization in management.all(kustomizations.KUSTOMIZE, "Kustomization"):
        is_of_cluster = dig(kustomization, "spec", "kubeConfig", "secretRef", "name") == f"{cluster}-kubeconfig"
        if is_of_cluster and reported(kustomization, "Ready") and not deleting(kustomization):
            url = dig(source_of(management, kustomization, "sourceRef"), "spec", "url") or ""
            if url.rpartition("/")[2] == _MANIFESTS:
                return True
    return False
