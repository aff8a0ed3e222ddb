"""Simulated cert-manager: creates the Secret of each Certificate whose issuer can sign."""

from typing import Any

from jacquard.lab.rehearsal.operators.view import View, conditions, deleting, simulated_secret
from jacquard.providers.kube.objects import dig

API = "cert-manager.io/v1"
KEYS = ("ca.crt", "tls.crt", "tls.key")
_CLUSTER_RESOURCES = "cert-manager"
"""Namespace of the Secrets to which ClusterIssuers refer (upstream cert-manager/cert-manager
cmd/controller/app/options/options.go, ``--cluster-resource-namespace``)."""


def reconcile(view: View) -> None:
    """Create the missing Secrets of certificates, and report in the condition Ready why one cannot be issued."""
    for certificate in view.all(API, "Certificate"):
        if deleting(certificate):
            continue
        namespace, spec = certificate["metadata"]["namespace"], certificate["spec"]
        exists = view.find("v1", "Secret", spec["secretName"], namespace) is not None
        problem = "" if exists else _problem(view, spec["issuerRef"], namespace)
        if not exists and not problem:
            view.create(simulated_secret(spec["secretName"], namespace, KEYS))
        patch = conditions(certificate, Ready=("False", "DoesNotExist", problem) if problem else ("True", "Ready", ""))
        if patch:
            view.status(certificate, patch)


def _problem(view: View, reference: dict[str, Any], namespace: str) -> str:
    """Return why an issuer cannot sign a certificate in ``namespace``; empty if it can."""
    kind, name = reference.get("kind", "Issuer"), reference["name"]
    issuer = view.find(API, kind, name, namespace)
    if issuer is None:
        return f"{kind} '{name}' not found"
    authority = dig(issuer, "spec", "ca", "secretName")
    at = _CLUSTER_RESOURCES if kind == "ClusterIssuer" else namespace
    if authority and view.find("v1", "Secret", authority, at) is None:
        return f"Secret '{authority}' of {kind} '{name}' not found"
    return ""
