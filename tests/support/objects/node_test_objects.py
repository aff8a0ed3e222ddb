"""Nodes, Jobs and pods of node tests, as an API server returns them."""

from __future__ import annotations

import datetime as dt
from typing import Any

from components.programs.node_test_decision import BURN_IN, NODE, NODE_UID, PHASE, VERIFICATION

NOW = dt.datetime(2026, 11, 20, 8, 30, tzinfo=dt.UTC)
GATE = "BurnInPassed"
SETTINGS: dict[str, Any] = {
    "gate": GATE,
    "interval_seconds": 3600,
    "pools": {"train": {BURN_IN: "train-burn-in", VERIFICATION: "train-verification"}, "idle": {VERIFICATION: "v"}},
}
MEASURES = {"nccl": r"Avg bus bandwidth\s*:\s*([0-9.]+)"}


def at(minutes: int) -> str:
    return f"{NOW + dt.timedelta(minutes=minutes):%Y-%m-%dT%H:%M:%SZ}"


def node(name: str = "a", pool: str = "train", *more: dict[str, Any], ready: int = -600, **spec: Any) -> dict[str, Any]:
    labels = {
        f"node-restriction.kubernetes.io/{key}": value for key, value in (("pool", pool), ("failure-domain", "r1"))
    }
    known = [{"type": "Ready", "status": "True", "lastTransitionTime": at(ready)}, *more]
    return {
        "metadata": {"name": name, "uid": f"uid-{name}", "labels": labels},
        "spec": spec,
        "status": {"conditions": known},
    }


def verdict(kind: str, status: str, minutes: int) -> dict[str, Any]:
    return {"type": kind, "status": status, "lastHeartbeatTime": at(minutes), "lastTransitionTime": at(minutes)}


def job(kind: str, reason: str = "", phase: str = VERIFICATION, *, uid: str = "uid-a") -> dict[str, Any]:
    ended = [{"type": kind, "status": "True", "reason": reason, "lastTransitionTime": at(-5)}] if kind else []
    notes = {NODE: "a", NODE_UID: uid}
    metadata = {"name": "j", "labels": {PHASE: phase}, "annotations": notes}
    return {"metadata": metadata, "status": {"conditions": ended}}


def pod(*states: tuple[str, int, str]) -> dict[str, Any]:
    every = [
        {"name": name, "state": {"terminated": {"exitCode": code, "message": text}}} for name, code, text in states
    ]
    labels = {"batch.kubernetes.io/job-name": "j"}
    return {
        "metadata": {"labels": labels},
        "status": {"initContainerStatuses": every[:-1], "containerStatuses": every[-1:]},
    }
