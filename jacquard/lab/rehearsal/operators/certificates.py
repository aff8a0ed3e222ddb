"""Simulated cert-manager: creates the Secret of each Certificate with an existing issuer."""

from jacquard.lab.rehearsal.operators.view import View, conditions, deleting, simulated_secret

API = "cert-manager.io/v1"
KEYS = ("ca.crt", "tls.crt", "tls.key")


def reconcile(view: View) -> None:
    """Create the missing Secrets of certificates, and report a missing issuer in the condition Ready."""
    for certificate in view.all(API, "Certificate"):
        if deleting(certificate):
            continue
        namespace, spec = certificate["metadata"]["namespace"], certificate["spec"]
        kind, issuer = spec["issuerRef"].get("kind", "Issuer"), spec["issuerRef"]["name"]
        exists = view.find("v1", "Secret", spec["secretName"], namespace) is not None
        if not exists and view.find(API, kind, issuer, namespace):
            view.create(simulated_secret(spec["secretName"], namespace, KEYS))
            exists = True
        problem = "" if exists else f"{kind} '{issuer}' not found"
        patch = conditions(certificate, Ready=("False", "DoesNotExist", problem) if problem else ("True", "Ready", ""))
        if patch:
            view.status(certificate, patch)
