"""What cert-manager does: a Certificate whose issuer is there gets its Secret."""

from __future__ import annotations

from jacquard.lab.rehearsal.operators.view import View, conditions, deleting, simulated_secret

API = "cert-manager.io/v1"
KEYS = ("ca.crt", "tls.crt", "tls.key")


def reconcile(view: View) -> None:
    """Make the Secret of every certificate that has none, and say why one gets none."""
    for certificate in view.all(API, "Certificate"):
        if deleting(certificate):
            continue
        namespace, spec = certificate["metadata"]["namespace"], certificate["spec"]
        kind, issuer = spec["issuerRef"].get("kind", "Issuer"), spec["issuerRef"]["name"]
        there = view.find("v1", "Secret", spec["secretName"], namespace) is not None
        if not there and view.find(API, kind, issuer, namespace):
            view.create(simulated_secret(spec["secretName"], namespace, KEYS))
            there = True
        why = "" if there else f"{kind} '{issuer}' not found"
        patch = conditions(certificate, Ready=("False", "DoesNotExist", why) if why else ("True", "Ready", ""))
        if patch:
            view.status(certificate, patch)
