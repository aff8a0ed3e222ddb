"""Sees to it that kwok plays every stage.

Whenever a Stage changes, kwok starts a controller for each kind that has none yet. That needs the kind's OpenAPI
document, which the API server publishes a moment after it serves the kind; too early, kwok logs an error and looks
again only when a Stage changes. Objects of that kind would stand still for ever. Only kwok's log tells what it watches.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jacquard.lab.rehearsal.crds import FIELD_MANAGER
from jacquard.lab.rehearsal.errors import RehearsalError
from jacquard.lab.rehearsal.stages import API
from jacquard.providers.kube import ApiServer, ObjectRef

MARK = "rehearsal/played"
"""Annotation of a Stage whose change makes kwok look again."""

_STARTED = "Start stage controller"
_FAILED = "failed to start controller"
_PATIENCE_SECONDS = 120.0
_POLL_SECONDS = 0.2


class KindRef(NamedTuple):
    """A kind as a Stage names it."""

    api_version: str
    kind: str


def played(stages: Iterable[dict[str, Any]]) -> set[KindRef]:
    """Return the kinds that ``stages`` are for."""
    references = (stage["spec"]["resourceRef"] for stage in stages)
    return {KindRef(reference["apiGroup"], reference["kind"]) for reference in references}


def ensure(api: ApiServer, stages: list[dict[str, Any]], log: Path) -> None:
    """Make kwok look at the Stages until it plays all of them; ``log`` is that of the kwok process which runs now.

    Raises:
        RehearsalError: It does not watch some kinds in the end; with the reason from its log.
    """
    wanted, failures = played(stages), 0
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        watched, errors = _told(log)
        missing = wanted - watched
        if not missing:
            return
        if time.monotonic() > end:
            raise RehearsalError(_text(missing, errors, log))
        if len(errors) > failures:
            failures = len(errors)
            _touch(api, stages[0]["metadata"]["name"])
        time.sleep(_POLL_SECONDS)


def set_aside(log: Path) -> None:
    """Give the next kwok process a log of its own; the one before stays beside it."""
    if log.exists():
        log.replace(log.with_name(f"{log.stem}.before{log.suffix}"))


def _told(log: Path) -> tuple[set[KindRef], list[tuple[KindRef, str]]]:
    """Return the kinds that kwok says it watches, and each failure to do so."""
    watched: set[KindRef] = set()
    errors = []
    for entry in _entries(log):
        reference = entry.get("ref")
        if not isinstance(reference, dict):
            continue
        kind = KindRef(reference.get("APIGroup", ""), reference.get("Kind", ""))
        if entry["msg"] == _STARTED:
            watched.add(kind)
        elif entry["msg"] == _FAILED:
            errors.append((kind, str(entry.get("err", ""))))
    return watched, errors


def _entries(log: Path) -> Iterator[dict[str, Any]]:
    if not log.exists():
        return
    for line in log.read_text(encoding="utf-8", errors="replace").splitlines():
        if _STARTED in line or _FAILED in line:
            try:
                yield json.loads(line)
            except ValueError:
                continue  # it is being written; the next look finds it whole


def _touch(api: ApiServer, stage: str) -> None:
    patch = {"metadata": {"annotations": {MARK: f"{time.time():.3f}"}}}
    api.patch(ObjectRef(API, "Stage", stage), patch, kind="merge", field_manager=FIELD_MANAGER)


def _text(missing: set[KindRef], errors: list[tuple[KindRef, str]], log: Path) -> str:
    reasons = dict(errors)
    names = "; ".join(f"{kind.kind} ({reasons.get(kind, 'no reason given')})" for kind in sorted(missing))
    return f"kwok does not play the stages of {names} after {_PATIENCE_SECONDS:g} s; see {log}"
