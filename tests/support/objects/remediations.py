"""A Machine with its host and remediation, as the program for failed repairs reads and writes them."""

from __future__ import annotations

import datetime as dt
from collections.abc import Sequence
from typing import Any

from components.programs import failed_repairs
from components.programs.failed_repairs import REPAIRS, step
from components.programs.spare_hosts import Spares

UNHEALTHY_MACHINE: dict[str, str] = {"HealthCheckSucceeded": "False", "NodeHealthy": "False"}
NOW = dt.datetime(2026, 11, 20, 8, tzinfo=dt.UTC)
STARTED = "2026-11-20T07:50:00Z"
_PLACE = "acme-train"
SELECTED = {"jacquard.dev/pool": "train", "jacquard.dev/failure-domain": "a01"}


GROUP = "acme-train-a01"


def machine(**conditions: str) -> dict[str, Any]:
    """Return a Machine with a Node and the status of each condition."""
    listed = [{"type": kind, "status": status} for kind, status in conditions.items()]
    return {
        "metadata": {"name": "m", "namespace": _PLACE, "labels": {failed_repairs.GROUP: GROUP}},
        "spec": {"infrastructureRef": {"name": "m"}},
        "status": {"conditions": listed, "nodeRef": {"name": "n"}},
    }


def spare(state: str = "available", **annotations: str) -> dict[str, Any]:
    """Return a host without a Machine."""
    metadata = {"name": "h9", "namespace": _PLACE, "labels": SELECTED, "annotations": annotations}
    return {"metadata": metadata, "spec": {}, "status": {"provisioning": {"state": state}}}


def message_of(faults: Sequence[str]) -> str:
    """Return the message of a health check about conditions with their reasons, such as ``GpuLost Xid79``."""
    lines = [
        "  * Condition {} on Node is reporting status True with reason {} for more than 5m0s".format(*fault.split())
        for fault in faults
    ]
    return "\n".join(["Health check failed:", *lines])


class Management:
    """Management cluster with an unhealthy Machine and its host; records the writes of the program."""

    def __init__(
        self, earlier: str = "", kind: str = "h100-ib-8", faults: Sequence[str] = (), **annotations: str
    ) -> None:
        """Create the host with the annotation ``earlier`` of the program, and further ``annotations``.

        The health check of the Machine reports ``faults``, each the type of a condition with its reason.
        """
        notes = {**({REPAIRS: earlier} if earlier else {}), **annotations}
        labels = {failed_repairs.INSTANCE_TYPE: kind}
        reference = {"metal3.io/BareMetalHost": f"{_PLACE}/h1"}
        self.objects: dict[str, dict[str, Any] | None] = {
            "machines": machine(**UNHEALTHY_MACHINE),
            "metal3machines": {
                "metadata": {"namespace": _PLACE, "name": "m", "annotations": reference},
                "spec": {"hostSelector": {"matchLabels": SELECTED}},
            },
            "baremetalhosts": {"metadata": {"namespace": _PLACE, "name": "h1", "labels": labels, "annotations": notes}},
        }
        if faults:
            self.objects["machines"] = machine(**UNHEALTHY_MACHINE)
            self.objects["machines"]["status"]["conditions"][0]["message"] = message_of(faults)
        self.written: dict[str, Any] = {}

    def run(
        self, phase: str | None, *finalizers: str, limits: Any, hosts: Sequence[dict[str, Any]] | None = None
    ) -> dict[str, Any]:
        """Run the program on a remediation in ``phase``; return its writes. One host is free, or ``hosts`` are."""
        metadata = {"name": "m", "namespace": _PLACE, "creationTimestamp": STARTED}
        metadata |= {"ownerReferences": [{"kind": "Machine", "name": "m"}]}
        remediation = {"metadata": {**metadata, **({"finalizers": [*finalizers]} if finalizers else {})}}
        spares = Spares([spare()] if hosts is None else hosts)
        step(self, {**remediation, **({"status": {"phase": phase}} if phase else {})}, limits, spares, NOW)  # type: ignore[arg-type]
        return self.written

    def get(self, _version: str, plural: str, namespace: str, name: str) -> dict[str, Any] | None:
        """Return the only object of a kind."""
        body = self.objects[plural]
        assert body is None or (namespace, name) == (body["metadata"]["namespace"], body["metadata"]["name"])
        return body

    def note(self, _version: str, plural: str, _body: dict[str, Any], notes: dict[str, str | None]) -> None:
        """Record written annotations."""
        self.written[plural] = notes

    def patch_status(self, _version: str, plural: str, _body: dict[str, Any], status: dict[str, Any]) -> None:
        """Record a written status."""
        self.written[f"{plural}/status"] = status

    def apply_status(self, plural: str, _body: dict[str, Any], status: dict[str, Any]) -> None:
        """Record the types of written conditions."""
        self.written[f"{plural}/status"] = [item["type"] for item in status["conditions"]]
