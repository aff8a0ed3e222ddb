"""Operations on a local region whose data are under version control, with their expected results."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from tests.support.local_regions.local_region import ENVIRONMENT, LocalRegion, Outcome
from tests.support.local_regions.region_contents import changed, commit, machines, predicted


def up(region: LocalRegion, *options: str) -> dict[str, Any]:
    """Apply the edits since the last commit, and assert that machines change as the impact predicts."""
    prediction, before = predicted(region), machines(region)
    outcome = region.jacquard("up", ENVIRONMENT, "--format", "json", *options)
    assert outcome.code == 0, outcome.text
    status: dict[str, Any] = json.loads(outcome.stdout)["status"]
    assert status["settled"] is True
    assert changed(before, machines(region)) == prediction
    commit(region)
    return status


def edited(region: LocalRegion, *command: str) -> None:
    """Edit the data with a command."""
    outcome = region.jacquard(*command)
    assert outcome.code == 0, outcome.text


@contextmanager
def promoted(region: LocalRegion, pool: str, image: str) -> Iterator[None]:
    """Pin a pool to another image until the block ends."""
    before = {file: file.read_bytes() for file in (region.environments / ENVIRONMENT).glob("*.lock.yaml")}
    edited(region, "promote", ENVIRONMENT, pool, "--to", image)
    try:
        yield
    finally:
        for file, content in before.items():
            file.write_bytes(content)


def refused(region: LocalRegion, *command: str) -> str:
    """Return the only problem for which a command is rejected; assert that it writes nothing."""
    outcome = region.jacquard(*command)
    assert outcome.code == 2, outcome.text
    title, *problems = outcome.stderr.splitlines()
    if title.startswith("error: "):
        return title  # Exit code of invalid arguments
    problem = problems[0]
    assert title == f"environments/{ENVIRONMENT}: 1 problem"
    return problem.strip()


def record(region: LocalRegion, state: dict[str, Any]) -> None:
    """Set ``state`` as the recorded state of the engine."""
    file = region.home / "state.json"
    file.write_text(json.dumps(state))
    outcome = region.pulumi("stack", "import", "-s", ENVIRONMENT, "--file", str(file))
    assert outcome.code == 0, outcome.text


def planned_steps(preview: Outcome) -> dict[str, list[str]]:
    """Return the changing steps of ``pulumi preview --json``: operation to sorted resource types and names."""
    assert preview.code == 0, preview.text
    found: dict[str, list[str]] = {}
    for step in json.loads(preview.stdout)["steps"]:
        if step["op"] != "same":
            kind, name = step["urn"].split("::")[2:]
            found.setdefault(step["op"], []).append(f"{kind.rsplit('$', 1)[-1].rsplit(':', 1)[-1]} {name}")
    return {operation: sorted(names) for operation, names in found.items()}
