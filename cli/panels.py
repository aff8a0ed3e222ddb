"""Which verbs the ``jacquard`` command has, as its help shows them. Each is a module of its own, loaded when called."""

from __future__ import annotations

import pkgutil
from dataclasses import dataclass
from typing import Any

import typer
from typer.main import get_command

from cli import interrupts


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
            "cli.verbs.up:up",
            "Apply an environment and wait until it is as ordered.",
            ("jacquard up laptop", "jacquard up us-east-04a --yes"),
        ),
        Verb(
            "preview",
            "cli.verbs.preview:preview",
            "Show what 'up' would do, and what policies refuse.",
            ("jacquard preview laptop --diff",),
        ),
        Verb(
            "gc",
            "cli.verbs.gc:gc",
            "Delete templates of earlier rollouts that nothing refers to any more.",
            ("jacquard gc laptop",),
        ),
        Verb(
            "down",
            "cli.verbs.down:down",
            "Destroy an environment, and leave nothing running.",
            ("jacquard down laptop",),
        ),
    ),
    "Look at a region": (
        Verb(
            "status",
            "cli.verbs.status:status",
            "Show a region as it is now.",
            ("jacquard status laptop", "jacquard status laptop --format json > evidence.json"),
        ),
        Verb(
            "show",
            "cli.verbs.show:show",
            "Show what is in force and where it came from.",
            ("jacquard show laptop tenants.acme", "jacquard show us-east-04a capacity", "jacquard show laptop images"),
        ),
        Verb(
            "logs",
            "cli.verbs.logs:logs",
            "Show the logs of a local region's parts.",
            ("jacquard logs laptop", "jacquard logs laptop operators --follow"),
        ),
        Verb(
            "env",
            "cli.verbs.env:env",
            "Print variables for plain pulumi and kubectl.",
            ('eval "$(jacquard env laptop)"',),
        ),
    ),
    "Work on data": (
        Verb(
            "new",
            "cli.verbs.new:new",
            "Write the files of a new environment.",
            ("jacquard new edge-1", "jacquard new us-west-1 --like us-east-04a --halls a,b"),
        ),
        Verb(
            "check",
            "cli.verbs.check:check",
            "Check data and policies; no engine, no cluster.",
            ("jacquard check", "jacquard check laptop --format sarif > check.sarif"),
        ),
        Verb(
            "render",
            "cli.verbs.render:render",
            "Write every object as YAML, one file each.",
            ("jacquard render laptop --out out/laptop",),
        ),
        Verb(
            "allocate",
            "cli.verbs.allocate:allocate",
            "Write the numbers that the data leaves open.",
            ("jacquard allocate laptop", "jacquard allocate us-east-04a --replace-hosts aurelia-train/h100"),
        ),
        Verb(
            "promote",
            "cli.verbs.promote:promote",
            "Pin other nodes for a pool, other DPUs, or another version or data store for a cluster's control plane.",
            (
                "jacquard promote laptop acme-train/infer --to gpu-2026.11.1",
                "jacquard promote laptop acme-train/train --plan",
                "jacquard promote laptop acme-train --to v1.36.1",
                "jacquard promote laptop dpus",
            ),
        ),
        Verb(
            "migrate",
            "cli.verbs.migrate:migrate",
            "Move data files on to this format.",
            ("jacquard migrate --check", "jacquard migrate laptop"),
        ),
        Verb(
            "schema",
            "cli.verbs.schema:schema",
            "Keep schemas, editor headers and the field reference current.",
            ("jacquard schema --write",),
        ),
        Verb(
            "inventory",
            "cli.verbs.inventory:app",
            "Exchange hosts with other systems.",
            (
                "jacquard inventory import eks-a-csv hardware.csv --env laptop --hall a --dry-run",
                "jacquard inventory export netbox laptop --out devices.csv",
            ),
        ),
    ),
    "This machine": (
        Verb("doctor", "cli.verbs.doctor:doctor", "Show what is used, and what is missing.", ("jacquard doctor",)),
    ),
}
"""Verbs of each panel of ``jacquard --help``, by its title."""
VERBS = {verb.name: verb for verbs in PANELS.values() for verb in verbs}
