"""``jacquard campaign``: decision, files, exit codes, texts, and a complete run of the example campaign."""

from __future__ import annotations

import datetime as dt
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import Result

from components.rollout.promotion import Promotion
from components.specs.reading.loader import load_environment
from jacquard.cli.errors import ExitCode
from jacquard.machine import settings
from tests.support.changes.campaigns import proof
from tests.support.data.environment_data import ENVIRONMENTS, copy_data
from tests.support.data.small_region import changed
from tests.support.docs.documents import DOCS

Invoke = Callable[..., Result]
Edit = Callable[[Path, str, str], None]
START = dt.datetime(2026, 12, 1, 12, tzinfo=dt.UTC)
NAME, LAB, SOUTH = "gpu-driver-590", "lab", "eu-south-03a"
EAST = "  - {regions: [us-east-04a], soak_hours: 72, stop: {failed_nodes: 2}}\n"


def files(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Fleet:
    """A copy of the example environments, with time and facts that a test sets."""

    def __init__(self, folder: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder, self._invoke, self._set, self.now = folder, invoke, monkeypatch, START

    @property
    def file(self) -> Path:
        """Return the file of the campaign."""
        return self.folder / "campaigns" / f"{NAME}.yaml"

    def run(self, *options: str) -> Result:
        """Run the command at the current time."""
        self._set.setenv(settings.NOW, self.now.isoformat())
        return self._invoke("campaign", NAME, *options)

    def seen(self, region: str, **changes: Any) -> tuple[str, str]:
        """Return the option with evidence of a region whose pins are applied and whose nodes are settled."""
        environment = load_environment(region, self.folder)
        made = proof(environment, self.now, **changes)
        path = self.folder.parent / f"{region}.json"
        path.write_text(made.seen.model_dump_json())
        return "--evidence", str(path)


@pytest.fixture
def known(tmp_path: Path, invoke: Invoke, monkeypatch: pytest.MonkeyPatch, edit: Edit) -> Fleet:
    """Lab and the European region of the example, with the campaign for them."""
    folder = copy_data(tmp_path / "fleet" / "environments", LAB, SOUTH)
    shutil.copytree(ENVIRONMENTS / "campaigns", folder / "campaigns")
    regions, _, _ = (ENVIRONMENTS / "fleet.yaml").read_text().partition("dns:")  # Its home is in another folder.
    rows = regions.splitlines(keepends=True)
    (folder / "fleet.yaml").write_text("".join(row for row in rows if "us-east-04a" not in row))
    edit(folder / "campaigns" / f"{NAME}.yaml", EAST, "")
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(folder))
    monkeypatch.setenv("COLUMNS", "300")
    return Fleet(folder, invoke, monkeypatch)


def allow(known: Fleet) -> None:
    """Add the image of the European region to its channel."""
    text = (known.folder / "catalog" / "images.yaml").read_text()
    after = text.index("version: eth-2026.12.0")
    entry = text[after:]
    edited = entry.replace("channel: [candidate]", "channel: [candidate, latest, stable]", 1)
    (known.folder / "catalog" / "images.yaml").write_text(text[:after] + edited)


def test_the_example_campaign_from_start_to_end(known: Fleet) -> None:
    before = files(known.folder)

    first = known.run("--write")
    assert (first.exit_code, files(known.folder)) == (ExitCode.WAITING, before)
    assert first.stderr == (
        f"waiting: {NAME} waits in lab: evidence: there is no evidence that promoted nodes are settled; write it with"
        " jacquard status lab --format json > lab.json\n"
    )
    early = known.run("--write", *known.seen(LAB, since=START - dt.timedelta(hours=47)))
    assert early.exit_code == ExitCode.WAITING
    assert "soak: was settled for 47 of 48 hours; observe it again at 2026-12-01T13:00:00+00:00" in early.stderr
    assert 'progress:\n  lab: {settled: "2026-11-29T13:00:00Z"}\n' in known.file.read_text()

    known.now += dt.timedelta(hours=1)
    lab = known.seen(LAB, since=START - dt.timedelta(hours=47))
    refused = known.run("--write", *lab)
    assert refused.exit_code == ExitCode.WAITING
    assert "refused: solstice-lab/h100: image eth-2026.12.0 is in candidate, not in channel stable" in refused.stderr
    assert "soaked: " in known.file.read_text()

    allow(known)
    spec = load_environment(SOUTH, known.folder)
    pins = Promotion(spec, "solstice-lab/h100", "eth-2026.12.0", known.now.date()).next_wave(1)
    both = Promotion(changed(spec, image_pins=pins), "vireo-train/h100", "eth-2026.12.0", known.now.date()).next_wave(1)
    dry = json.loads(known.run("--format", "json").stdout)
    assert (dry["state"], dry["written"]) == ("ready", False)
    written = known.run("--write")
    assert written.exit_code == ExitCode.OK, written.output
    assert written.stdout.endswith(f"{NAME}: next: jacquard preview {SOUTH}\n")
    assert load_environment(SOUTH, known.folder).image_pins.groups == both.groups
    assert load_environment(SOUTH, known.folder).image_pins.rollouts == both.rollouts
    after = files(known.folder)
    assert known.run("--write").exit_code == ExitCode.WAITING
    assert files(known.folder) == after

    for _ in range(10):
        known.now += dt.timedelta(hours=12)
        promoted = known.run("--write", *known.seen(SOUTH, since=known.now - dt.timedelta(hours=10)))
        if promoted.exit_code != ExitCode.OK:
            break
    assert "soak: was settled for 10 of 72 hours" in promoted.stderr
    groups = load_environment(SOUTH, known.folder).image_pins.groups
    moved = [key for key in groups if key.startswith(("solstice-lab/h100/", "vireo-train/h100/"))]
    assert {groups[key].partition("@")[0] for key in moved} == {"eth-2026.12.0"}

    saved = known.file.read_text()
    failed = known.run("--write", *known.seen(SOUTH, settled=False, settled_since=None, ready=0))
    assert failed.exit_code == ExitCode.REFUSED
    assert failed.stderr.startswith(f"refused: {NAME} is stopped in {SOUTH}: failed-soak: ")
    assert "\nstopped: {region: eu-south-03a, at: " in known.file.read_text()
    known.now += dt.timedelta(hours=100)
    over = known.seen(SOUTH, since=known.now - dt.timedelta(hours=73))
    still = known.run("--write", *over)
    assert still.exit_code == ExitCode.REFUSED
    assert json.loads(known.run("--format", "json", *over).stdout)["state"] == "stopped"

    known.file.write_text(saved)
    end = known.run("--write", *over)
    assert (end.exit_code, end.stdout.splitlines()[-1]) == (ExitCode.OK, f"{NAME}: complete")
    assert known.run().exit_code == ExitCode.OK


def test_wrong_arguments(known: Fleet, invoke: Invoke, tmp_path: Path) -> None:
    lab, other = known.seen(LAB), tmp_path / "other.json"
    other.write_text(Path(lab[1]).read_text().replace('"lab"', '"moon"', 1))
    noise = tmp_path / "noise.json"
    noise.write_text("{}")

    results = [
        invoke("campaign", "gpu-driver"),
        known.run(*lab, *lab),
        known.run("--evidence", str(other)),
        known.run("--evidence", str(noise)),
        known.run("--evidence", str(tmp_path / "missing.json")),
    ]

    assert [result.exit_code for result in results] == [ExitCode.BAD_DATA] * 5
    texts = [result.stderr for result in results]
    assert texts[0] == f"error: campaign 'gpu-driver' is unknown (known: {NAME}); did you mean '{NAME}'?\n"
    assert f"{lab[1]} and {lab[1]} are both about lab; write the newer one only" in texts[1]
    assert f"{other} is about moon, which is no region of {NAME}; omit it" in texts[2]
    assert "noise.json is not an output of 'jacquard status ENV --format json'" in texts[3]
    assert "missing.json" in texts[4]
    assert "name a file with the output of 'jacquard status ENV --format json'" in texts[4]


def test_a_wrong_campaign_is_a_problem_of_the_command_and_of_check(known: Fleet, invoke: Invoke, edit: Edit) -> None:
    edit(known.file, "eth-2026.12.0", "eth-2026.12.9")

    results = [known.run(), invoke("check", LAB), invoke("fleet", "--format", "json")]

    assert results[0].exit_code == ExitCode.BAD_DATA
    place = f"../campaigns/{NAME}.yaml:5"
    assert f"{place}  images[1]: 'eth-2026.12.9' is unknown in" in results[0].stderr
    assert results[1].exit_code == ExitCode.OK
    [shown] = json.loads(results[2].stdout)["campaigns"]
    assert shown == {
        "campaign": NAME,
        "title": "GPU driver 590 with the golden images of December",
        "regions": {LAB: "promoting", SOUTH: "pending"},
        "stopped": None,
    }


def test_the_fleet_shows_campaigns(known: Fleet, invoke: Invoke) -> None:
    stop = "stopped: {region: eu-south-03a, at: 2026-12-01T12:00:00Z, reason: alerts of GPUs}\n"
    known.file.write_text(f"{known.file.read_text()}progress:\n  lab: {{soaked: 2026-12-01T12:00:00Z}}\n{stop}")

    shown = invoke("fleet").stdout

    title = "GPU driver 590 with the golden images of December"
    lines = [" ".join(line.split()) for line in shown.splitlines()]
    assert f"{NAME} {title} lab (soaked), eu-south-03a (stopped) eu-south-03a" in lines
    stopped = known.run()
    assert stopped.exit_code == ExitCode.REFUSED
    assert "stopped: stopped at 2026-12-01T12:00:00+00:00: alerts of GPUs" in stopped.stderr


def test_the_state_on_the_page_is_that_of_the_command(invoke: Invoke, monkeypatch: pytest.MonkeyPatch) -> None:
    page = (DOCS / "region" / "campaigns.md").read_text(encoding="utf-8")
    shown = page.partition(f"$ jacquard campaign {NAME}\n")[2].partition("```")[0]
    monkeypatch.setenv("JACQUARD_ENVIRONMENTS", str(ENVIRONMENTS))
    monkeypatch.setenv("COLUMNS", "300")

    result = invoke("campaign", NAME)

    assert result.exit_code == ExitCode.WAITING, result.output
    assert [line.rstrip() for line in result.stdout.splitlines()] == shown.splitlines()
    assert (ENVIRONMENTS / "campaigns" / f"{NAME}.yaml").read_text().partition("steps:")[2] in page
