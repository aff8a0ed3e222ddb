"""Waits for an object, with expressions of the annotation ``pulumi.com/waitFor``."""

import json
import threading
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from jacquard.providers.errors import ProviderError
from jacquard.providers.kube.client import ApiServer
from jacquard.providers.kube.errors import ApiError
from jacquard.providers.kube.jsonpath import JsonPathError, evaluate, parse, written
from jacquard.providers.kube.objects import ObjectRef

POLL_SECONDS = 1.0
"""Pause between two reads of an object; the first pauses are shorter."""
_LONGER = 1.3
"""Factor between two pauses: a wait ends at most about a quarter of its duration late."""
OUTAGE_SECONDS = 15.0
"""Time during which a wait tolerates an overloaded or restarting server; repeated reads are harmless."""


FAILURES: Mapping[tuple[str, str], str] = {("batch/v1", "Job"): "Failed"}
"""Condition of each kind after which an object never becomes ready: a failed Job starts no further pods
(K8S:docs/concepts/workloads/controllers/job). It ends a wait at once, as in the vendor's provider
(pulumi-kubernetes:provider/pkg/await/job.go)."""


class WaitExpressionError(ProviderError):
    """An invalid wait expression."""


class NotReached(ProviderError):  # noqa: N818 - named after the event
    """A wait ended without its conditions.

    Attributes:
        unmet: Conditions that are not met, as messages.
        last: Last state of the object, None if it did not exist.
    """

    def __init__(self, text: str, unmet: list[str], last: dict[str, Any] | None) -> None:
        super().__init__(text)
        self.unmet = unmet
        self.last = last


class WaitTimeout(NotReached):
    """An object did not become ready, or was not deleted, before the timeout."""

    def __init__(
        self, ref: ObjectRef, seconds: float, unmet: list[str], last: dict[str, Any] | None, *, goal: str = "ready"
    ) -> None:
        super().__init__(f"{ref}: not {goal} after {seconds:g} s: {'; '.join(unmet)}", unmet, last)


class WaitFailed(NotReached):
    """An object reports a failure after which it never becomes ready."""


class WaitCancelled(ProviderError):  # noqa: N818 - named after the event
    """The wait ended because the whole run is being cancelled."""


@dataclass(frozen=True, slots=True)
class WaitCondition:
    """A condition to wait for: a status condition, a value at a JSONPath, or a check.

    Exactly one of these three fields is set.
    """

    text: str
    type: str = ""
    path: tuple[Any, ...] = ()
    value: str | None = None
    """Status of the condition, or value at the path; None if the path only has to exist."""
    check: Callable[[Mapping[str, Any]], str] | None = None
    """Function that returns a message about the missing part of an object; empty if nothing is missing."""


def parse_wait_for(text: str) -> tuple[WaitCondition, ...]:
    """Return the conditions of an annotation: one expression, or a JSON array of expressions that must all hold.

    Raises:
        WaitExpressionError: Contains the expression and the supported forms.
    """
    expressions: object = [text]
    if text.strip().startswith("["):
        try:
            expressions = json.loads(text)
        except ValueError:
            expressions = None
        if not isinstance(expressions, list) or not all(isinstance(item, str) for item in expressions):
            msg = f"waitFor '{text}' is not a JSON array of strings; write [\"condition=Ready\", ...]"
            raise WaitExpressionError(msg)
    assert isinstance(expressions, list)  # noqa: S101 - for the type checker
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
    msg = f"waitFor '{text}' is not supported; write condition=TYPE, condition=TYPE=STATUS or jsonpath={{.path}}=VALUE"
    raise WaitExpressionError(msg)


def unmet(obj: Mapping[str, Any], conditions: Iterable[WaitCondition]) -> list[str]:
    """Return the conditions that ``obj`` does not meet, as messages; empty if all ``conditions`` hold.

    A condition that was observed on an older generation is not met. A JSONPath checks only values.
    """
    return [text for condition in conditions if (text := _unmet_one(obj, condition))]


def _unmet_one(obj: Mapping[str, Any], wanted: WaitCondition) -> str:
    if wanted.check is not None:
        text = wanted.check(obj)
        return f"{wanted.text}: {text}" if text else ""
    if wanted.path:
        return _unmet_at_path(obj, wanted)
    generation = obj.get("metadata", {}).get("generation") or 0
    status = obj.get("status") or {}
    for condition in status.get("conditions") or ():
        if str(condition.get("type")).casefold() != wanted.type.casefold():
            continue
        seen = condition.get("observedGeneration") or status.get("observedGeneration") or generation
        if seen < generation:
            return f"{wanted.text}: observed for generation {seen} of {generation}"
        if str(condition.get("status")).casefold() == str(wanted.value).casefold():
            return ""
        return f"{wanted.text}: is {_with_reason(condition)}"
    return f"{wanted.text}: not reported yet"


def _unmet_at_path(obj: Mapping[str, Any], wanted: WaitCondition) -> str:
    values = evaluate(wanted.path, obj)
    if wanted.value is None:
        return "" if values else f"{wanted.text}: no value yet"
    texts = [written(item) for item in values]
    return "" if wanted.value in texts else f"{wanted.text}: is {', '.join(texts) or 'absent'}"


def _with_reason(condition: Mapping[str, Any]) -> str:
    reason = ": ".join(str(condition[key]) for key in ("reason", "message") if condition.get(key))
    return f"{condition.get('status')} ({reason})" if reason else str(condition.get("status"))


def _failure(ref: ObjectRef, obj: Mapping[str, Any]) -> str:
    """Return why ``obj`` never becomes ready; empty if it still can."""
    kind = FAILURES.get((ref.api_version, ref.kind))
    for condition in obj.get("status", {}).get("conditions") or ():
        if condition.get("type") == kind and condition.get("status") == "True":
            return ": ".join(str(condition[key]) for key in ("reason", "message") if condition.get(key)) or str(kind)
    return ""


def wait_for(
    api: ApiServer,
    ref: ObjectRef,
    conditions: Iterable[WaitCondition],
    *,
    timeout_seconds: float,
    cancelled: threading.Event | None = None,
) -> dict[str, Any]:
    """Poll an object until ``conditions`` hold, and return it.

    Raises:
        WaitTimeout: Contains the unmet conditions and the object's last state.
        WaitFailed: The object reports a condition of `FAILURES`.
        WaitCancelled: ``cancelled`` was set.
        ApiError: The server rejected the request, or did not answer properly for `OUTAGE_SECONDS`.
    """
    conditions = tuple(conditions)

    def missing(last: dict[str, Any] | None) -> list[str]:
        if last is None:
            return [f"{ref.kind} does not exist"]
        reasons = unmet(last, conditions)
        if reasons and (failure := _failure(ref, last)):
            text = f"{ref}: failed: {failure}"
            raise WaitFailed(text, reasons, last)
        return reasons

    obj = _poll(api, ref, missing, timeout_seconds, cancelled, goal="ready")
    assert obj is not None  # noqa: S101 - for the type checker
    return obj


def wait_gone(
    api: ApiServer, ref: ObjectRef, *, uid: str, timeout_seconds: float, cancelled: threading.Event | None = None
) -> None:
    """Poll an object until it is deleted, or another object (by ``uid``) has its name.

    Raises:
        WaitTimeout: Contains the finalizers that block the deletion.
        WaitCancelled: ``cancelled`` was set.
        ApiError: The server rejected the request, or did not answer properly for `OUTAGE_SECONDS`.
    """

    def missing(last: dict[str, Any] | None) -> list[str]:
        if last is None or last["metadata"]["uid"] != uid:
            return []
        return [f"deletion is blocked by {', '.join(last['metadata'].get('finalizers') or ()) or 'its dependents'}"]

    _poll(api, ref, missing, timeout_seconds, cancelled, goal="deleted")


def _poll(
    api: ApiServer,
    ref: ObjectRef,
    missing: Callable[[dict[str, Any] | None], list[str]],
    seconds: float,
    cancelled: threading.Event | None,
    *,
    goal: str,
) -> dict[str, Any] | None:
    """Poll an object until ``missing`` returns nothing, and return its last state."""
    cancelled = cancelled or threading.Event()
    answered = started = time.monotonic()
    pause, last = POLL_SECONDS / 8, None
    while True:
        try:
            last = api.get(ref)
            reasons, answered = missing(last), time.monotonic()
        except ApiError as error:
            if not error.transient or time.monotonic() - answered >= OUTAGE_SECONDS:
                raise
            reasons = [str(error)]
        if not reasons:
            return last
        left = started + seconds - time.monotonic()
        if left <= 0:
            raise WaitTimeout(ref, seconds, reasons, last, goal=goal)
        if cancelled.wait(min(pause, left)):
            msg = f"{ref}: waiting was cancelled with the run: {'; '.join(reasons)}"
            raise WaitCancelled(msg)
        pause = min(pause * _LONGER, POLL_SECONDS)
