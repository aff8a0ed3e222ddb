"""Waiting for an object in the words of the annotation ``pulumi.com/waitFor``."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube.client import ApiServer, ObjectRef
from jacquard.providers.kube.errors import ApiError
from jacquard.providers.kube.jsonpath import JsonPathError, evaluate, parse, written

POLL_SECONDS = 1.0
"""Pause between two looks at an object; the first ones come faster."""
OUTAGE_SECONDS = 15.0
"""How long a wait bears a server that is overloaded or restarted; nothing is lost by looking again."""


class WaitExpressionError(ProviderError):
    """A wait expression that cannot be read."""


class WaitTimeout(ProviderError):  # noqa: N818 - named like what happened
    """An object did not get ready, or did not go, in time.

    Attributes:
        unmet: What is still missing, in words.
        last: The object as last seen, None when it was not there.
    """

    def __init__(
        self, ref: ObjectRef, seconds: float, unmet: list[str], last: dict[str, Any] | None, *, goal: str = "ready"
    ) -> None:
        super().__init__(f"{ref}: not {goal} after {seconds:g} s: {'; '.join(unmet)}")
        self.unmet = unmet
        self.last = last


class WaitCancelled(ProviderError):  # noqa: N818 - named like what happened
    """The wait was given up because the whole run is being cancelled."""


@dataclass(frozen=True, slots=True)
class WaitCondition:
    """One thing to wait for: a status condition, a value at a JSONPath, or what a check finds missing.

    Exactly one of the three is set.
    """

    text: str
    type: str = ""
    path: tuple[Any, ...] = ()
    value: str | None = None
    """Status of the condition, or value at the path; None when the path only must lead to something."""
    check: Callable[[Mapping[str, Any]], str] | None = None
    """Says in words what an object lacks, nothing when it lacks nothing."""


def parse_wait_for(text: str) -> tuple[WaitCondition, ...]:
    """Return the conditions of an annotation: one expression, or a JSON array of them of which all must hold.

    Raises:
        WaitExpressionError: Naming the expression and the forms that are understood.
    """
    expressions: object = [text]
    if text.strip().startswith("["):
        try:
            expressions = json.loads(text)
        except ValueError:
            expressions = None
        if not isinstance(expressions, list) or not all(isinstance(item, str) for item in expressions):
            msg = f"waitFor '{text}' is no JSON array of strings; write [\"condition=Ready\", ...]"
            raise WaitExpressionError(msg)
    assert isinstance(expressions, list)  # noqa: S101 - said for the type checker
    return tuple(_parse_one(item.strip()) for item in expressions)


def _parse_one(text: str) -> WaitCondition:
    form, _, rest = text.partition("=")
    if form == "condition" and rest:
        name, _, status = rest.partition("=")
        return WaitCondition(text, type=name, value=status or "True")
    if form == "jsonpath" and rest.startswith("{"):
        inner, brace, value = rest[1:].partition("}")
        try:
            path = parse(inner)
        except JsonPathError as error:
            msg = f"waitFor '{text}': {error}"
            raise WaitExpressionError(msg) from None
        if brace and (not value or value.startswith("=")):
            return WaitCondition(text, path=path, value=value[1:] if value else None)
    msg = f"waitFor '{text}' is not understood; write condition=TYPE, condition=TYPE=STATUS or jsonpath={{.path}}=VALUE"
    raise WaitExpressionError(msg)


def unmet(obj: Mapping[str, Any], conditions: Iterable[WaitCondition]) -> list[str]:
    """Return in words what ``obj`` still lacks; an empty list means that all ``conditions`` hold.

    A condition that was observed on an older generation does not count; a JSONPath looks at values only.
    """
    return [why for condition in conditions if (why := _unmet_one(obj, condition))]


def _unmet_one(obj: Mapping[str, Any], wanted: WaitCondition) -> str:
    if wanted.check is not None:
        why = wanted.check(obj)
        return f"{wanted.text}: {why}" if why else ""
    if wanted.path:
        return _unmet_at_path(obj, wanted)
    generation = obj.get("metadata", {}).get("generation") or 0
    status = obj.get("status") or {}
    for condition in status.get("conditions") or ():
        if str(condition.get("type")).casefold() != wanted.type.casefold():
            continue
        seen = condition.get("observedGeneration") or status.get("observedGeneration") or generation
        if seen < generation:
            return f"{wanted.text}: seen for generation {seen} of {generation}"
        if str(condition.get("status")).casefold() == str(wanted.value).casefold():
            return ""
        return f"{wanted.text}: is {_explained(condition)}"
    return f"{wanted.text}: not reported yet"


def _unmet_at_path(obj: Mapping[str, Any], wanted: WaitCondition) -> str:
    found = evaluate(wanted.path, obj)
    if wanted.value is None:
        return "" if found else f"{wanted.text}: nothing there yet"
    words = [written(item) for item in found]
    return "" if wanted.value in words else f"{wanted.text}: is {', '.join(words) or 'absent'}"


def _explained(condition: Mapping[str, Any]) -> str:
    why = ": ".join(str(condition[key]) for key in ("reason", "message") if condition.get(key))
    return f"{condition.get('status')} ({why})" if why else str(condition.get("status"))


def wait_for(
    api: ApiServer,
    ref: ObjectRef,
    conditions: Iterable[WaitCondition],
    *,
    timeout_seconds: float,
    cancelled: threading.Event | None = None,
) -> dict[str, Any]:
    """Look at an object until ``conditions`` hold and return it.

    Raises:
        WaitTimeout: Naming what is missing, with the object's last state.
        WaitCancelled: ``cancelled`` was set.
        ApiError: The server refused to answer, or gave no good answer for `OUTAGE_SECONDS`.
    """
    conditions = tuple(conditions)

    def missing(last: dict[str, Any] | None) -> list[str]:
        return [f"{ref.kind} is not there"] if last is None else unmet(last, conditions)

    found = _poll(api, ref, missing, timeout_seconds, cancelled, goal="ready")
    assert found is not None  # noqa: S101 - said for the type checker
    return found


def wait_gone(
    api: ApiServer, ref: ObjectRef, *, uid: str, timeout_seconds: float, cancelled: threading.Event | None = None
) -> None:
    """Look at an object until it is gone, or another one (by ``uid``) has taken its name.

    Raises:
        WaitTimeout: Naming the finalizers that hold it.
        WaitCancelled: ``cancelled`` was set.
        ApiError: The server refused to answer, or gave no good answer for `OUTAGE_SECONDS`.
    """

    def missing(last: dict[str, Any] | None) -> list[str]:
        if last is None or last["metadata"]["uid"] != uid:
            return []
        return [f"deletion is held by {', '.join(last['metadata'].get('finalizers') or ()) or 'its dependents'}"]

    _poll(api, ref, missing, timeout_seconds, cancelled, goal="gone")


def _poll(
    api: ApiServer,
    ref: ObjectRef,
    missing: Callable[[dict[str, Any] | None], list[str]],
    seconds: float,
    cancelled: threading.Event | None,
    *,
    goal: str,
) -> dict[str, Any] | None:
    """Look at an object until nothing is ``missing`` and return it as it is then."""
    cancelled = cancelled or threading.Event()
    answered = started = time.monotonic()
    pause, last = POLL_SECONDS / 8, None
    while True:
        try:
            last = api.get(ref)
            why, answered = missing(last), time.monotonic()
        except ApiError as error:
            if not error.transient or time.monotonic() - answered >= OUTAGE_SECONDS:
                raise
            why = [str(error)]
        if not why:
            return last
        left = started + seconds - time.monotonic()
        if left <= 0:
            raise WaitTimeout(ref, seconds, why, last, goal=goal)
        if cancelled.wait(min(pause, left)):
            msg = f"{ref}: gave up waiting because the run was cancelled: {'; '.join(why)}"
            raise WaitCancelled(msg)
        pause = min(pause * 2, POLL_SECONDS)
