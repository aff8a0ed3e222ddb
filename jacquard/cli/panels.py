"""Which verbs the ``jacquard`` command has, as its help shows them. Each is a module of its own, loaded when called."""

from __future__ import annotations

import gc
import pkgutil
from dataclasses import dataclass
from typing import Any

import typer
from typer.main import get_command

from jacquard.cli import interrupts


@dataclass(frozen=True, slots=True)
class Verb:
    """What is said of a verb before it is loaded."""

    name: str
    target: str
    """``module:name`` of its function, or of the Typer with the verbs below it."""
    help: str
    """The first paragraph of its own help."""
    examples: tuple[str, ...]
    """Commands as they are typed."""

    def load(self) -> Any:
        """Return the command itself."""
        with interrupts.ended_at_once():
            target = pkgutil.resolve_name(self.target)
        if not gc.get_freeze_count():
            gc.freeze()  # what was imported stays: walks through it would take a tenth of a verb's time
        gc.enable()
        if isinstance(target, typer.Typer):
            command = get_command(target)
        else:
            alone = typer.Typer(add_completion=False, rich_markup_mode="markdown")
            alone.command(self.name)(target)
            command = get_command(alone)
        command.epilog = "\n\n".join(["Examples:", *self.examples])
        return command


PANELS: dict[str, tuple[Verb, ...]] = {
    "Change a region": (
        Verb(
            "up",
            "jacquard.cli.verbs.up:up",
            "Apply an environment and wait until it is as ordered.",
            ("jacquard up edge-1", "jacquard up us-west-1 --yes"),
        ),
        Verb(
            "preview",
            "jacquard.cli.verbs.preview:preview",
            "Show what 'up' would do, and what policies refuse; or what a change does before it is merged.",
            ("jacquard preview edge-1 --diff", "jacquard preview edge-1 --base origin/main --out .preview"),
        ),
        Verb(
            "impact",
            "jacquard.cli.verbs.impact:impact",
            "Tell what a change does to nodes, tenants and the rest of a region, before it is merged.",
            (
                "jacquard impact",
                "jacquard impact edge-1 --base origin/main --format json",
                "jacquard impact edge-1 --facts facts.json --html report.html",
            ),
        ),
        Verb(
            "comment",
            "jacquard.cli.verbs.comment:comment",
            "Write a text into the one comment of a pull request, at GitHub or GitLab.",
            ("jacquard comment impact.md", "jacquard comment impact.md --required"),
        ),
        Verb(
            "approve",
            "jacquard.cli.verbs.approve:approve",
            "Record that a tenant agrees to what a change does to it.",
            ('jacquard approve edge-1 first --base origin/main --by "Ann, first.example" --ticket CHG-7',),
        ),
        Verb(
            "gc",
            "jacquard.cli.verbs.gc:gc",
            "Delete templates of earlier rollouts that nothing refers to any more.",
            ("jacquard gc edge-1",),
        ),
        Verb(
            "down",
            "jacquard.cli.verbs.down:down",
            "Destroy an environment, and leave nothing running.",
            ("jacquard down edge-1",),
        ),
    ),
    "Look at a region": (
        Verb(
            "status",
            "jacquard.cli.verbs.status:status",
            "Show a region as it is now.",
            ("jacquard status edge-1", "jacquard status edge-1 --format json > evidence.json"),
        ),
        Verb(
            "facts",
            "jacquard.cli.verbs.facts:facts",
            "Write down who works on which node of a region now, for 'jacquard impact --facts'.",
            ("jacquard facts edge-1 --out facts.json",),
        ),
        Verb(
            "drift",
            "jacquard.cli.verbs.drift:drift",
            "Tell what in the clusters of a region is not as it is declared, by who owns it now.",
            ("jacquard drift edge-1", "jacquard drift edge-1 --format json > drift.json"),
        ),
        Verb(
            "show",
            "jacquard.cli.verbs.show:show",
            "Show what is in force and where it came from.",
            ("jacquard show edge-1 tenants.first", "jacquard show edge-1 capacity", "jacquard show edge-1 images"),
        ),
        Verb(
            "logs",
            "jacquard.cli.verbs.logs:logs",
            "Show the logs of a local region's parts.",
            ("jacquard logs edge-1", "jacquard logs edge-1 operators --follow"),
        ),
        Verb(
            "env",
            "jacquard.cli.verbs.env:env",
            "Print variables for plain pulumi and kubectl.",
            ('eval "$(jacquard env edge-1)"',),
        ),
    ),
    "Work on data": (
        Verb(
            "new",
            "jacquard.cli.verbs.new:new",
            "Write the files of a new environment.",
            (
                "jacquard new edge-1",
                "jacquard new us-west-1 --like edge-1 --halls a,b",
                "jacquard new edge-1 --repository regions",
            ),
        ),
        Verb(
            "check",
            "jacquard.cli.verbs.check:check",
            "Check data and policies; no engine, no cluster.",
            ("jacquard check", "jacquard check edge-1 --format sarif > check.sarif"),
        ),
        Verb(
            "explain",
            "jacquard.cli.verbs.explain:explain",
            "Tell what a rule is about: what it reports, why, how strict it is, whether it can be waived.",
            ("jacquard explain unpinned-image", "jacquard explain"),
        ),
        Verb(
            "render",
            "jacquard.cli.verbs.render:render",
            "Write every object as YAML, one file each; or tell which objects a change renders otherwise.",
            ("jacquard render edge-1 --out out", "jacquard render edge-1 --base origin/main"),
        ),
        Verb(
            "allocate",
            "jacquard.cli.verbs.allocate:allocate",
            "Write the numbers that the data leaves open.",
            ("jacquard allocate edge-1", "jacquard allocate edge-1 --replace-hosts first-train/train"),
        ),
        Verb(
            "host",
            "jacquard.cli.verbs.host:host",
            "Record that a host is out of service, or works again.",
            (
                'jacquard host edge-1 a01-u03 --out rma --reason "GPU 5 fell off the bus"',
                "jacquard host edge-1 a01-u03 --back",
            ),
        ),
        Verb(
            "promote",
            "jacquard.cli.verbs.promote:promote",
            "Pin other nodes for a pool, other DPUs, another release of a chart, or another control plane.",
            (
                "jacquard promote edge-1 first-train/train --to gpu-2026.11.1",
                "jacquard promote edge-1 first-train/train --plan",
                "jacquard promote edge-1 first-train --to v1.36.1",
                "jacquard promote edge-1 dpus",
            ),
        ),
        Verb(
            "migrate",
            "jacquard.cli.verbs.migrate:migrate",
            "Move data files on to this format.",
            ("jacquard migrate --check", "jacquard migrate edge-1"),
        ),
        Verb(
            "schema",
            "jacquard.cli.verbs.schema:schema",
            "Keep schemas, editor headers and the field reference current.",
            ("jacquard schema --write",),
        ),
        Verb(
            "inventory",
            "jacquard.cli.verbs.inventory:app",
            "Exchange hosts with other systems.",
            (
                "jacquard inventory import eks-a-csv hardware.csv --env edge-1 --hall a --dry-run",
                "jacquard inventory export netbox edge-1 --out devices.csv",
            ),
        ),
    ),
    "This machine": (
        Verb(
            "setup",
            "jacquard.cli.verbs.setup:setup",
            "Make this machine ready for up and preview.",
            ("jacquard setup",),
        ),
        Verb(
            "doctor",
            "jacquard.cli.verbs.doctor:doctor",
            "Show what is used, and what is missing.",
            ("jacquard doctor",),
        ),
    ),
}
"""Verbs of each panel of ``jacquard --help``, by its title."""
VERBS = {verb.name: verb for verbs in PANELS.values() for verb in verbs}
