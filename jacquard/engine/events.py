"""Collects the engine's events: finished and running operations, diagnostics, violations and the plan.

Source of the shapes: the line-wise JSON that ``pulumi --event-log FILE`` writes (``apitype.EngineEvent``).
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from components.specs.struct import Struct
from jacquard.engine.plan import Plan
from jacquard.engine.steps import Steps
from jacquard.engine.urns import STACK, Urn, is_object

_MARKUP = re.compile(r"<\{%[^%]*%\}>")
_UNRECORDED = "failed to save snapshot: "
"""Part of the engine's error message about a state that was not written (pulumi:pkg/backend/snapshot.go)."""
_QUIET = frozenset({"same", "read", "discard", "refresh"})


class Violation(Struct):
    """A policy violation of a resource."""

    policy: str
    mandatory: bool
    urn: Urn
    message: str


class Diagnostic(Struct):
    """A message of the engine, a provider or the program."""

    severity: str
    urn: Urn
    message: str

    def __str__(self) -> str:
        """Return the message, with the name of its resource unless the resource is the stack."""
        return f"{self.urn}: {self.message}" if self.urn.text and is_object(self.urn) else self.message


class Running(Struct):
    """An operation that has started, but not finished."""

    urn: Urn
    operation: str
    since: float
    """Arrival time of the event on the monotonic clock, in seconds."""


@dataclass(slots=True)
class Progress:
    """Summary of the events so far. Pass each event to `see`, in order."""

    done: dict[str, str] = field(default_factory=dict)
    """Operation by URN, for resources whose operation succeeded."""
    failed: dict[str, str] = field(default_factory=dict)
    running: dict[str, Running] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    """URN of the parent by URN of the resource."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    plan: Plan = field(default_factory=Plan)
    steps: Steps = field(default_factory=Steps)
    finished: bool = False
    preview: bool = False

    def see(self, line: str, now: float) -> None:
        """Process a line of the event log; an incomplete line, left by an engine crash, is skipped."""
        try:
            event = json.loads(line)
        except ValueError:
            return
        for name, body in event.items():
            match name:
                case "resourcePreEvent":
                    self._begin(body["metadata"], now)
                case "resOutputsEvent":
                    self._end(body["metadata"], self.done)
                    if body.get("planning"):
                        self.plan.see(body["metadata"])
                        self.steps.see(body["metadata"], _operation(body["metadata"]))
                case "resOpFailedEvent":
                    self._end(body["metadata"], self.failed)
                case "diagnosticEvent":
                    self._diagnose(body)
                case "policyEvent":
                    self._judge(body)
                case "summaryEvent":
                    self.finished, self.preview = True, bool(body.get("isPreview"))

    @property
    def changes(self) -> Counter[str]:
        """Return the number of changed resources by operation, without components and providers."""
        return Counter(
            operation for urn, operation in self.done.items() if operation not in _QUIET and is_object(Urn(urn))
        )

    @property
    def settled(self) -> int:
        """Return the number of finished operations on resources, without components and providers."""
        return sum(is_object(Urn(urn)) for urn in self.done)

    @property
    def errors(self) -> list[Diagnostic]:
        """Return the errors, in order of arrival."""
        return [diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error"]

    @property
    def unrecorded(self) -> bool:
        """Return whether the engine could not write a state; it can exit with 0 after this error."""
        return any(_UNRECORDED in error.message for error in self.errors)

    @property
    def warnings(self) -> list[str]:
        """Return the warnings without duplicates, in order of arrival."""
        return list(dict.fromkeys(str(item) for item in self.diagnostics if item.severity == "warning"))

    @property
    def refused(self) -> list[Violation]:
        """Return the violations of mandatory policies, without duplicates."""
        return [violation for violation in self.violations if violation.mandatory]

    def awaited(self) -> list[Running]:
        """Return the running operations, longest first, without components."""
        operations = (item for item in self.running.values() if is_object(item.urn) and item.operation not in _QUIET)
        return sorted(operations, key=lambda item: (item.since, item.urn.text))

    def component(self, urn: str) -> Urn:
        """Return the component that contains a resource, or the resource itself if it is outside a component."""
        parent = self.parents.get(urn, "")
        return Urn(urn) if not parent or Urn(parent).type == STACK else Urn(parent)

    def _begin(self, metadata: dict[str, Any], now: float) -> None:
        self._adopt(metadata)
        self.running[metadata["urn"]] = Running(urn=Urn(metadata["urn"]), operation=metadata["op"], since=now)

    def _end(self, metadata: dict[str, Any], verdict: dict[str, str]) -> None:
        self._adopt(metadata)
        self.running.pop(metadata["urn"], None)
        verdict[metadata["urn"]] = _operation(metadata)

    def _adopt(self, metadata: dict[str, Any]) -> None:
        state = metadata.get("new") or metadata.get("old") or {}
        self.parents[metadata["urn"]] = state.get("parent") or ""

    def _diagnose(self, body: dict[str, Any]) -> None:
        if body.get("ephemeral") or body["severity"] == "debug":
            return
        message = plain(body["message"]).strip()
        if message:
            self.diagnostics.append(
                Diagnostic(severity=body["severity"], urn=Urn(body.get("urn", "")), message=message)
            )

    def _judge(self, body: dict[str, Any]) -> None:
        violation = Violation(
            policy=body["policyName"],
            mandatory=body["enforcementLevel"] == "mandatory",
            urn=Urn(body.get("resourceUrn", "")),
            message=plain(body["message"]).strip(),
        )
        if violation not in self.violations:
            self.violations.append(violation)


def _operation(metadata: dict[str, Any]) -> str:
    """Return the operation as shown to users."""
    operation = str(metadata["op"])
    if "replac" in operation:
        return "replace"  # a replacement has up to three steps
    if operation == "delete" and (metadata.get("old") or {}).get("retainOnDelete"):
        return "retain"  # removed from the stack, kept in the cluster
    return operation


def plain(text: str) -> str:
    """Return an engine message without colour directives."""
    return _MARKUP.sub("", text)


def growing_lines(file: Any) -> Iterator[str | None]:
    """Yield complete lines of a growing file; None while no further line is complete."""
    rest = b""
    while True:
        rest += file.read()
        *whole, rest = rest.split(b"\n")
        for line in whole:
            yield line.decode(errors="replace")
        yield None
