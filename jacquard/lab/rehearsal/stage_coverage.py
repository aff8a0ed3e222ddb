"""Check that kwok runs all stages.

When a Stage changes, kwok starts the missing controllers of kinds. A controller requires the OpenAPI document of its
kind, which the API server publishes shortly after it serves the kind. Before that, kwok logs an error and tries again
only when a Stage changes, so objects of the kind would never progress. Only kwok's log contains the watched kinds.
"""

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
"""Annotation of a Stage; a changed value makes kwok try again."""

_STARTED = "Start stage controller"
_FAILED = "failed to start controller"
_PATIENCE_SECONDS = 120.0
_POLL_SECONDS = 0.2


class KindRef(NamedTuple):
    """A kind, as referenced by a Stage."""

    api_version: str
    kind: str


def played(stages: Iterable[dict[str, Any]]) -> set[KindRef]:
    """Return the kinds of ``stages``."""
    references = (stage["spec"]["resourceRef"] for stage in stages)
    return {KindRef(reference["apiGroup"], reference["kind"]) for reference in references}


def ensure(api: ApiServer, stages: list[dict[str, Any]], log: Path) -> None:
    """Touch a Stage until kwok runs all stages; ``log`` is the log of the running kwok process.

    Raises:
        RehearsalError: kwok does not watch all kinds in time; the message contains the reasons from its log.
    """
    wanted, failures = played(stages), 0
    end = time.monotonic() + _PATIENCE_SECONDS
    while True:
        watched, errors = _watched_kinds(log)
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
    """Rename the log, so that the next kwok process starts a new one; the previous log is kept."""
    if log.exists():
        log.replace(log.with_name(f"{log.stem}.before{log.suffix}"))


def _watched_kinds(log: Path) -> tuple[set[KindRef], list[tuple[KindRef, str]]]:
    """Return the kinds that kwok watches according to its log, and all failures."""
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
                continue  # incomplete line, which is read again at the next poll


def _touch(api: ApiServer, stage: str) -> None:
    patch = {"metadata": {"annotations": {MARK: f"{time.time():.3f}"}}}
    api.patch(ObjectRef(API, "Stage", stage), patch, kind="merge", field_manager=FIELD_MANAGER)


def _text(missing: set[KindRef], errors: list[tuple[KindRef, str]], log: Path) -> str:
    reasons = dict(errors)
    names = "; ".join(f"{kind.kind} ({reasons.get(kind, 'no reason given')})" for kind in sorted(missing))
    return f"kwok does not run the stages of {names} after {_PATIENCE_SECONDS:g} s; see {log}"
