"""``jacquard up``: make a region what its data says, and wait until it is."""

from __future__ import annotations

import datetime as dt
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import typer
from rich.console import Console

from cli import arguments, data, local_region, plans
from cli.bound import Apply
from cli.console import Format, plural, print_json, stderr, stdout
from cli.engine_runs import watched
from cli.errors import ExitCode, Stop, show
from cli.plans import Plan
from cli.refusals import refuse, unchanged
from cli.views import summary
from cli.views.progress import ended, phase
from components.specs.base import Stage
from components.specs.environment import Environment
from engine import locks
from engine.driver import POLICY_PACK, Engine
from observe.observation import observe
from observe.region_status import RegionStatus, assemble
from observe.settling import settle
from stacks.target import BOOTSTRAP, stack_names
from toolchain import settings
from toolchain.kind import Kind

_REHEARSAL_WAIT_SECONDS = 600.0
_POLLS_AFTER_A_CHANGE = 3


@dataclass(slots=True)
class Up:
    """One ``up`` under way: what it did so far, and how long each part took."""

    environment: Environment
    engine: Engine
    console: Console
    now: dt.datetime
    """Moment at which the command began, with a time zone."""
    resources: Mapping[str, int]
    """Number of Pulumi resources of each slice, by its name."""
    stacks: Sequence[str]
    """Stacks that may be applied, in order."""
    accepted: Sequence[str] = ()
    """Words for losses, each for those of one stack and no others."""
    switch_to: Kind | None = None
    """Kind of the plug-ins that may take over what others wrote."""
    changes: dict[str, Counter[str]] = field(default_factory=dict)
    """Number of objects that changed in each stack, by what was done to them."""
    durations: dict[str, float] = field(default_factory=dict)
    """Seconds that each phase took."""

    @property
    def changed(self) -> bool:
        """Return whether any stack changed."""
        return any(self.changes.values())

    @property
    def advice(self) -> str:
        """Return where to look when nothing moves."""
        verb = "logs" if self.environment.region.stage is Stage.REHEARSAL else "status"
        return f"'jacquard {verb} {self.environment.name}' may tell why"

    def plan(self, stack: str) -> Plan:
        """Return what applying a stack would do; see `plans.plan`."""
        return plans.plan(self.engine, self.environment, stack, switch_to=self.switch_to)

    def apply(self, planned: Plan, title: str, total: int, what: str) -> None:
        """Apply one stack as planned, unless there is nothing to apply.

        Raises:
            Stop: it is refused, waits at a gate, or failed.
        """
        stack = planned.stack
        self.changes[stack], self.durations[title] = Counter(), planned.seconds
        if not planned.empty:
            options = ("--yes", "--skip-preview", "--policy-pack", POLICY_PACK)
            run = watched(
                self.engine, "up", stack, *options, title=title, resume="up", total=total, what=what, advice=self.advice
            )
            self.changes[stack] = run.progress.changes
            self.durations[title] += run.duration_seconds
        ended(self.console, title, self.durations[title], summary.counted(self.changes[stack]))

    def clusters(self) -> None:
        """Make the clusters of a rehearsal, and wake those that died since."""
        names = local_region.clusters(self.environment)
        stack = f"{self.environment.name}.{BOOTSTRAP}"
        planned = self.plan(stack)
        plans.require_words(self.environment.name, [planned], self.accepted)
        self.apply(planned, "clusters", len(names), "clusters")
        if not self.changes[stack]:
            with phase(self.console, "clusters, whether all parts run") as shown:
                local_region.revive(self.environment, self.engine.variables)
            self.durations["clusters"] += shown.duration_seconds

    def slices(self) -> None:
        """Apply the stacks of the region in order, frozen ones left out; all are planned before the first is applied.

        Raises:
            Stop: a frozen one would change, or one would lose what nobody asked to lose; then none is applied.
        """
        sizes, stacks = self.resources, self.stacks
        still = unchanged(self.environment, self.engine, self.now)
        planned = {stack: self._early(stack, stacks) for stack in stacks if stack not in still}
        plans.require_words(self.environment.name, [plan for plan in planned.values() if plan], self.accepted)
        for stack in stacks:
            if stack in still:
                ended(self.console, stack, 0.0, "frozen, no changes")
                continue
            if (plan := planned[stack]) is None:
                plan = self.plan(stack)
                plans.require_words(self.environment.name, [plan], self.accepted)
            part = stack.partition(".")[2]
            self.apply(plan, part or "region", sizes[part] if part else sum(sizes.values()), "resources")

    def _early(self, stack: str, stacks: Sequence[str]) -> Plan | None:
        """Return the plan of a stack; None if it can only be made once the stacks before it are applied."""
        try:
            return self.plan(stack)
        except Stop as stop:
            # What they bring, such as a kind of an operator, may be all that is missing.
            if stack == stacks[0] or stop.code not in (ExitCode.WAITING, ExitCode.FAILED):
                raise
            show(f"{stack} cannot be planned yet; that is tried again when it is its turn", "note")
            return None

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
    accept: arguments.AcceptOption = None,
    switch_to: arguments.SwitchOption = None,
    speed: arguments.SpeedOption = None,
    timeout: arguments.TimeoutOption = None,
    preview: arguments.PreviewOption = None,
    signers: arguments.SignersOption = None,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Apply an environment and wait until it is as ordered.

    A rehearsal first makes its own clusters on this machine. Run it again at any time: it goes on where it was stopped,
    and changes nothing when there is nothing to change. Ends with 3 when something must happen first, with 4 when a
    policy refuses or the preview does not hold any more, with 5 before the first step when objects would be lost that
    nobody asked to lose.
    """
    settings.check()
    spec = data.checked(environment)
    now = settings.now()
    resources = refuse(spec, now).resources
    rehearsal = spec.region.stage is Stage.REHEARSAL
    if not rehearsal and not yes:
        _confirm(spec)
    taker = switch_to or settings.switch_to()
    with locks.exclusively(environment, "up"):
        engine = Engine(environment, spec.region.state, _variables(speed, taker))
        stacks = Apply(environment=spec, engine=engine, now=now, preview=preview, signers=signers).stacks()
        work = Up(spec, engine, stderr(), now, resources, stacks, accepted=tuple(accept or ()), switch_to=taker)
        try:
            if rehearsal:
                work.clusters()
            work.slices()
        except plans.HeldBack as held:
            if output is Format.JSON:
                print_json(held.to_json())
            raise
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


def _variables(speed: float | None, switch_to: Kind | None) -> Mapping[str, str]:
    chosen = {settings.SPEED: f"{speed:g}" if speed is not None else "", settings.SWITCH_TO: switch_to or ""}
    return {name: value for name, value in chosen.items() if value}
