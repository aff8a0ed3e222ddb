"""What the engine plans and does with the objects of a local region, in the order it does it."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from local_region import LocalRegion

from jacquard.cli.errors import ExitCode


class Done(NamedTuple):
    """What the engine did to an object, in the order it was done."""

    operation: str
    kind: str
    name: str
    """The name of the resource."""
    begun: int
    ended: int


class Plan(NamedTuple):
    """What a preview says."""

    names: dict[str, dict[str, set[str]]]
    """Names of objects by operation and kind."""
    held: list[str]
    """What goes only with a word, and is lost by it."""
    word: str | None
    """The word, if one is asked for."""


def previewed(local: LocalRegion) -> Plan:
    """Return what a preview says of the data since they were committed."""
    outcome = local.jacquard("preview", local.environment, "--base", "HEAD", "--format", "json")
    assert outcome.code in {ExitCode.OK, ExitCode.CONFIRMATION_REQUIRED}, outcome.text
    [stack] = json.loads(outcome.stdout)[0]["stacks"]
    found: dict[str, dict[str, set[str]]] = {}
    for change in stack["changes"]:
        kinds = found.setdefault(change["operation"], {})
        names = {name.partition("/")[2] for name in change["names"]}
        kinds.setdefault(change["kind"].rpartition("/")[2], set()).update(names)
    return Plan(found, stack["held"], stack["accept"])


def applied(local: LocalRegion, *options: str) -> list[Done]:
    """Apply the data, and return what the engine did to objects."""
    outcome = local.jacquard("up", local.environment, *options)
    assert outcome.code == 0, outcome.text
    return told(local.home / "pulumi" / "logs" / f"{local.environment}.events")


def told(events: Path) -> list[Done]:
    """Return what a run of the engine says, in its log of events, that it plans or does to objects."""
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
            done.append(Done(after["op"], type_.rpartition(":")[2], name, at, event["sequence"]))
    return done


def those(done: list[Done], operation: str, kind: str, of: str = "") -> list[Done]:
    """Return what was done so to objects of a kind, and of a component where one is named."""
    return [one for one in done if (one.operation, one.kind) == (operation, kind) and one.name.startswith(of)]


def assert_in_order(*steps: list[Done]) -> None:
    """See that each step is over before the next one begins."""
    for earlier, later in pairwise(steps):
        assert (bool(earlier), bool(later)) == (True, True), (earlier, later)
        assert max(one.ended for one in earlier) < min(one.begun for one in later), (earlier, later)
