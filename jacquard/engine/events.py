"""The engine's events as they matter to a person: what is done, what is awaited, what went wrong.

Source of the shapes: the line-wise JSON that ``pulumi --event-log FILE`` writes (``apitype.EngineEvent``).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from jacquard.engine.plan import Plan
from jacquard.engine.steps import Steps
from jacquard.engine.urns import STACK, Urn, is_object

_MARKUP = re.compile(r"<\{%[^%]*%\}>")
_QUIET = frozenset({"same", "read", "discard", "refresh"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """A policy that a resource breaks."""

    policy: str
    mandatory: bool
    urn: Urn
    message: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """A message of the engine, a provider or the program."""

    severity: str
    urn: Urn
    message: str

    def __str__(self) -> str:
        """Return the message, and what it is about if that is more than the stack."""
        return f"{self.urn}: {self.message}" if self.urn.text and is_object(self.urn) else self.message


@dataclass(frozen=True, slots=True, kw_only=True)
class Running:
    """An operation that has begun and not ended."""

    urn: Urn
    operation: str
    since: float
    """Clock of the event's arrival, in seconds."""


@dataclass(slots=True)
class Progress:
    """What the events so far say. Feed it with `see`, in order."""

    done: dict[str, str] = field(default_factory=dict)
    """URN to operation, for resources that are as they should be."""
    failed: dict[str, str] = field(default_factory=dict)
    running: dict[str, Running] = field(default_factory=dict)
    parents: dict[str, str] = field(default_factory=dict)
    """URN to the URN of its parent."""
    diagnostics: list[Diagnostic] = field(default_factory=list)
    violations: list[Violation] = field(default_factory=list)
    plan: Plan = field(default_factory=Plan)
    steps: Steps = field(default_factory=Steps)
    finished: bool = False
    preview: bool = False

    def see(self, line: str, now: float) -> None:
        """Take in one line of the event log; a line that is not whole JSON is an engine's crash and skipped."""
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
                        self.steps.see(body["metadata"], _word(body["metadata"]))
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
        """Return how many resources changed, by operation; components and providers are not counted."""
        return Counter(
            operation for urn, operation in self.done.items() if operation not in _QUIET and is_object(Urn(urn))
        )

    @property
    def settled(self) -> int:
        """Return how many operations on resources other than components and providers are done with."""
        return sum(is_object(Urn(urn)) for urn in self.done)

    @property
    def errors(self) -> list[Diagnostic]:
        """Return the errors, in the order they came."""
        return [diagnostic for diagnostic in self.diagnostics if diagnostic.severity == "error"]

    @property
    def warnings(self) -> list[str]:
        """Return what was warned of, each once, in the order it came."""
        return list(dict.fromkeys(str(one) for one in self.diagnostics if one.severity == "warning"))

    @property
    def refused(self) -> list[Violation]:
        """Return the violations of mandatory policies, one of a kind."""
        return [violation for violation in self.violations if violation.mandatory]

    def awaited(self) -> list[Running]:
        """Return the operations under way, longest first, components left out."""
        operations = (item for item in self.running.values() if is_object(item.urn) and item.operation not in _QUIET)
        return sorted(operations, key=lambda item: (item.since, item.urn.text))

    def component(self, urn: str) -> Urn:
        """Return the component that a resource belongs to; a resource without one stands for itself."""
        parent = self.parents.get(urn, "")
        return Urn(urn) if not parent or Urn(parent).type == STACK else Urn(parent)

    def _begin(self, metadata: dict[str, Any], now: float) -> None:
        self._adopt(metadata)
        self.running[metadata["urn"]] = Running(urn=Urn(metadata["urn"]), operation=metadata["op"], since=now)

    def _end(self, metadata: dict[str, Any], verdict: dict[str, str]) -> None:
        self._adopt(metadata)
        self.running.pop(metadata["urn"], None)
        verdict[metadata["urn"]] = _word(metadata)

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


def _word(metadata: dict[str, Any]) -> str:
    """Return the operation as a person calls it."""
    operation = str(metadata["op"])
    if "replac" in operation:
        return "replace"  # up to three steps of one resource
    if operation == "delete" and (metadata.get("old") or {}).get("retainOnDelete"):
        return "retain"  # the stack forgets it, the cluster keeps it
    return operation


def plain(text: str) -> str:
    """Return an engine's message without its colour directives."""
    return _MARKUP.sub("", text)
