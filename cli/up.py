"""``jacquard up``: make a region what its data says, and wait until it is."""

from __future__ import annotations

import datetime as dt
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field

import typer
from rich.console import Console

from cli import arguments, data, freezes, local_region, locks, summary
from cli.check import refuse
from cli.console import Format, plural, print_json, stderr, stdout
from cli.engine import POLICY_PACK, Engine
from cli.errors import ExitCode, Stop, show
from cli.failures import raise_for
from cli.observe import observe
from cli.progress_view import ended, phase
from cli.region_status import RegionStatus, assemble
from cli.settle import settle
from components.plan.manifests import manifests
from components.plan.slices import slices
from components.specs.base import Stage
from components.specs.environment import Environment
from stacks.target import BOOTSTRAP, stack_names
from toolchain import settings

_REHEARSAL_WAIT_SECONDS = 600.0
_POLLS_AFTER_A_CHANGE = 3


@dataclass(slots=True)
class Up:
    """One ``up`` under way: what it did so far, and how long each part took."""

    environment: Environment
    engine: Engine
    console: Console
    now: dt.datetime
    """When it began, with a time zone."""
    changes: dict[str, Counter[str]] = field(default_factory=dict)
    """By stack."""
    durations: dict[str, float] = field(default_factory=dict)
    """By phase, in seconds."""

    @property
    def changed(self) -> bool:
        """Return whether any stack changed."""
        return any(self.changes.values())

    @property
    def advice(self) -> str:
        """Return where to look when nothing moves."""
        verb = "logs" if self.environment.region.stage is Stage.REHEARSAL else "status"
        return f"'jacquard {verb} {self.environment.name}' may tell why"

    def apply(self, stack: str, title: str, total: int, what: str) -> None:
        """Apply one stack.

        Raises:
            Stop: it is locked, refused, waits at a gate, or failed.
        """
        for repair in self.engine.prepare(stack):
            show(repair, "note")
        options = ("--yes", "--skip-preview", "--policy-pack", POLICY_PACK)
        with phase(self.console, title, self.advice) as shown:
            run = self.engine.run("up", stack, *options, watch=lambda progress: shown.engine(progress, total, what))
        raise_for(self.console, run, "up", f"jacquard up {self.environment.name}")
        self.changes[stack] = run.progress.changes
        self.durations[title] = run.duration_seconds
        ended(self.console, title, run.duration_seconds, summary.counted(run.progress.changes))

    def clusters(self) -> None:
        """Make the clusters of a rehearsal, and wake those that died since."""
        names = local_region.clusters(self.environment)
        stack = f"{self.environment.name}.{BOOTSTRAP}"
        self.apply(stack, "clusters", len(names), "clusters")
        if not self.changes[stack]:
            with phase(self.console, "clusters, whether all parts run") as shown:
                local_region.revive(self.environment, self.engine.variables)
            self.durations["clusters"] += shown.duration_seconds

    def slices(self) -> None:
        """Apply the stacks of the region in order, frozen ones left out.

        Raises:
            Stop: a frozen one would change; then none is applied.
        """
        sizes = {piece.name: len(manifests(self.environment, piece)) for piece in slices(self.environment)}
        still = freezes.unchanged(self.environment, self.engine, self.now)
        for stack in stack_names(self.environment):
            if stack in still:
                ended(self.console, stack, 0.0, "frozen, no changes")
                continue
            part = stack.partition(".")[2]
            self.apply(stack, part or "region", sizes[part] if part else sum(sizes.values()), "resources")

    def settle(self, timeout_seconds: float) -> RegionStatus:
        """Wait for the node pools and return what the region is like then."""
        with phase(self.console, "node pools", self.advice) as shown:
            status = settle(
                lambda: assemble(self.environment, observe(self.environment)),
                shown.region,
                polls=_POLLS_AFTER_A_CHANGE if self.changed else 1,
                timeout_seconds=timeout_seconds,
            )
            self.durations["node pools"] = shown.duration_seconds
        if status.settled:
            nodes = plural(sum(pool.ready for pool in status.pools), "node")
            ended(self.console, "node pools", self.durations["node pools"], f"{nodes} ready")
        return status


def up(
    environment: arguments.Env,
    *,
    yes: arguments.YesOption = False,
    speed: arguments.SpeedOption = None,
    timeout: arguments.TimeoutOption = None,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Apply an environment and wait until it is as ordered.

    A rehearsal first makes its own clusters on this machine. Run it again at any time: it goes on where it was stopped,
    and changes nothing when there is nothing to change. Ends with 3 when something must happen first, with 4 when a
    policy refuses.
    """
    settings.check()
    spec = data.checked(environment)
    now = settings.now()
    refuse(spec, now)
    rehearsal = spec.region.stage is Stage.REHEARSAL
    if not rehearsal and not yes:
        _confirm(spec)
    with locks.exclusively(environment, "up"):
        work = Up(spec, Engine(environment, spec.region.state, _variables(speed)), stderr(), now)
        if rehearsal:
            work.clusters()
        work.slices()
        patience = timeout if timeout is not None else _REHEARSAL_WAIT_SECONDS if rehearsal else 0.0
        status = work.settle(patience)
    if output is Format.JSON:
        print_json({"changes": work.changes, "seconds": work.durations, "status": asdict(status)})
    else:
        summary.show(stdout(), spec, status, work.changes, work.durations)
    if not status.settled:
        raise Stop(summary.unsettled(status, patience), ExitCode.WAITING)


def _confirm(environment: Environment) -> None:
    count = plural(len(stack_names(environment)), "stack")
    question = f"apply {count} to {environment.region.stage} environment {environment.name}?"
    if not sys.stdin.isatty():
        stage = environment.region.stage
        msg = f"{environment.name}: is of stage {stage}, so 'up' asks first; without a terminal say --yes"
        raise Stop(msg, ExitCode.BAD_DATA)
    typer.confirm(question, abort=True, err=True)


def _variables(speed: float | None) -> Mapping[str, str]:
    return {} if speed is None else {settings.SPEED: f"{speed:g}"}
