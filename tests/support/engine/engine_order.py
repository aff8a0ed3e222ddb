"""Operations that the engine plans and performs on the objects of a local region, in order."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from jacquard.cli.errors import ExitCode
from tests.support.local_regions.local_region import LocalRegion


class Operation(NamedTuple):
    """An operation of the engine on an object, with the sequence numbers of its events."""

    operation: str
    kind: str
    name: str
    """The name of the resource."""
    begun: int
    ended: int


class Plan(NamedTuple):
    """Result of a preview."""

    names: dict[str, dict[str, set[str]]]
    """Names of objects by operation and kind."""
    blocked: list[str]
    """Objects whose deletion requires confirmation."""
    token: str | None
    """The confirmation token, if one is required."""


def previewed(local: LocalRegion) -> Plan:
    """Return the preview of the changes since the last commit of the data."""
    outcome = local.jacquard("preview", local.environment, "--base", "HEAD", "--format", "json")
    assert outcome.code in {ExitCode.OK, ExitCode.CONFIRMATION_REQUIRED}, outcome.text
    [stack] = json.loads(outcome.stdout)[0]["stacks"]
    found: dict[str, dict[str, set[str]]] = {}
    for change in stack["changes"]:
        kinds = found.setdefault(change["operation"], {})
        names = {name.partition("/")[2] for name in change["names"]}
        kinds.setdefault(change["kind"].rpartition("/")[2], set()).update(names)
    return Plan(found, stack["held"], stack["accept"])


def applied(local: LocalRegion, *options: str) -> list[Operation]:
    """Apply the data, and return the operations on objects."""
    outcome = local.jacquard("up", local.environment, *options)
    assert outcome.code == 0, outcome.text
    return recorded_operations(local.home / "pulumi" / "logs" / f"{local.environment}.events")


def recorded_operations(events: Path) -> list[Operation]:
    """Return the operations on objects in the event log of a run."""
    begun: dict[tuple[str, str], int] = {}
    done = []
    for line in events.read_text().splitlines():
        event = json.loads(line)
        before, after = (event.get(key, {}).get("metadata") for key in ("resourcePreEvent", "resOutputsEvent"))
        if before:
            begun[before["urn"], before["op"]] = event["sequence"]
        if after and after["op"] not in {"same", "read"} and "$kubernetes:" in after["urn"]:
            type_, _, name = after["urn"].rpartition("::")
            at = begun[after["urn"], after["op"]]
            done.append(Operation(after["op"], type_.rpartition(":")[2], name, at, event["sequence"]))
    return done


def operations_on(done: list[Operation], operation: str, kind: str, of: str = "") -> list[Operation]:
    """Return the operations on objects of a kind whose resource name starts with ``of``."""
    return [one for one in done if (one.operation, one.kind) == (operation, kind) and one.name.startswith(of)]


def assert_in_order(*steps: list[Operation]) -> None:
    """Assert that each step ends before the next one begins."""
    for earlier, later in pairwise(steps):
        assert (bool(earlier), bool(later)) == (True, True), (earlier, later)
        assert max(one.ended for one in earlier) < min(one.begun for one in later), (earlier, later)
