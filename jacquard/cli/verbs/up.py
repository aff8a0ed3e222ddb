"""``jacquard up``: make a region what its data says, and wait until it is."""

from __future__ import annotations

import datetime as dt
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

import typer
from rich.console import Console

from components.specs.base import Stage
from components.specs.environment import Environment
from jacquard.cli import arguments, data, local_region, plan_checks
from jacquard.cli.console import Format, plural, print_json, stderr, stdout
from jacquard.cli.engine_runs import watched
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.plan_checks import Plan
from jacquard.cli.policy_gate import refuse, unchanged
from jacquard.cli.preview_binding import Apply
from jacquard.cli.stack_runs import Unfinished, require_done, results, together
from jacquard.cli.views import summary
from jacquard.cli.views.changes import stacks as stacks_view
from jacquard.cli.views.progress import Screen, ended, phase
from jacquard.engine import locks
from jacquard.engine.driver import POLICY_PACK, Engine
from jacquard.engine.parallel import Outcome, among
from jacquard.machine import paths, settings
from jacquard.machine.kind import Kind
from jacquard.observe.observation import observe
from jacquard.observe.region_status import RegionStatus, assemble
from jacquard.observe.settling import settle
from stacks import kubeconfig
from stacks.target import BOOTSTRAP, stack_names, stack_needs

_REHEARSAL_WAIT_SECONDS = 600.0
_POLLS_AFTER_A_CHANGE = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied:
    """A stack that is as planned."""

    changes: Counter[str]
    """Number of objects that changed, by what was done to them."""
    seconds: float


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
    ending: Sequence[str] = ()
    """Clusters of a rehearsal that the data have no more; objects of the region are still in them."""
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

    def plan(self, stack: str, screen: Screen) -> Plan:
        """Return what applying a stack would do; see `plans.plan`."""
        return plan_checks.plan(self.engine, self.environment, stack, switch_to=self.switch_to, screen=screen)

    def apply(self, planned: Plan, screen: Screen, *, title: str, total: int, what: str) -> Applied:
        """Apply one stack as planned, unless there is nothing to apply.

        Raises:
            Stop: it is refused, waits at a gate, or failed.
        """
        changes, seconds = Counter[str](), planned.seconds
        if not planned.empty:
            options = ("--yes", "--skip-preview", "--policy-pack", POLICY_PACK)
            run = watched(
                self.engine,
                "up",
                planned.stack,
                *options,
                title=title,
                resume="up",
                total=total,
                what=what,
                advice=self.advice,
                screen=screen,
            )
            changes, seconds = run.progress.changes, seconds + run.duration_seconds
        ended(screen.console, title, seconds, summary.counted(changes))
        return Applied(changes=changes, seconds=seconds)

    def clusters(self) -> None:
        """Make the clusters of a rehearsal, and wake those that died since; one that ends stays for what is in it."""
        screen, names = Screen(self.console), local_region.clusters(self.environment)
        stack = f"{self.environment.name}.{BOOTSTRAP}"
        planned = self.plan(stack, screen)
        plan_checks.require_words(self.environment.name, [planned], self.accepted)
        done = self.apply(planned, screen, title="clusters", total=len(names), what="clusters")
        self.changes[stack], self.durations["clusters"] = done.changes, done.seconds
        if not done.changes:
            with phase(self.console, "clusters, whether all parts run") as shown:
                local_region.revive(self.environment, self.engine.variables)
            self.durations["clusters"] += shown.duration_seconds

    def end_clusters(self) -> None:
        """End the clusters of a rehearsal in which nothing is left."""
        screen = Screen(self.console)
        planned = self.plan(f"{self.environment.name}.{BOOTSTRAP}", screen)
        done = self.apply(planned, screen, title="clusters that end", total=len(self.ending), what="clusters")
        self.changes[planned.stack] += done.changes
        self.durations["clusters"] += done.seconds

    def slices(self) -> None:
        """Apply the stacks of the region side by side, frozen ones left out; all are planned before one is applied.

        Raises:
            Stop: a frozen one would change, or one would lose what nobody asked to lose, and none is applied; or the
                only one failed.
            Unfinished: some of several failed, and those that need them are not begun.
        """
        still = unchanged(self.environment, self.engine, self.now)
        for stack in (stack for stack in self.stacks if stack in still):
            ended(self.console, stack, 0.0, "frozen, no changes")
        needs = among(stack_needs(self.environment), frozenset(self.stacks) - still)
        began = time.monotonic()
        planned = self._plans(tuple(needs))
        outcomes = together(needs, lambda stack, screen: self._slice(stack, planned.get(stack), screen), telling=True)
        self.changes |= {one.stack: one.result.changes for one in outcomes if one.result}
        seconds = [one.result.seconds for one in outcomes if one.result]
        self.durations |= {"region": sum(seconds) if len(needs) == 1 else time.monotonic() - began}
        resume = f"jacquard up {self.environment.name}"
        require_done(self.environment.name, outcomes, done="applied", resume=resume)

    def _plans(self, stacks: Sequence[str]) -> dict[str, Plan]:
        """Return the plans of the stacks, those left out that can only be made once others are applied.

        Raises:
            Stop: the first cannot be planned, another is refused, or something would be lost; nothing is applied.
        """
        first = stacks[:1]
        # Most failures are all stacks' alike, so that one is asked before all.
        outcomes = together({stack: first if stack not in first else () for stack in stacks}, self.plan)

        def later(outcome: Outcome[Plan]) -> bool:
            # What others bring, such as a kind of an operator, may be all that is missing.
            stop = outcome.failure
            return (
                outcome.stack not in first
                and isinstance(stop, Stop)
                and stop.code in (ExitCode.WAITING, ExitCode.FAILED)
            )

        planned = results(outcomes, tolerated=later)
        for stack in stacks:
            if stack not in planned:
                show(f"{stack} cannot be planned yet; that is tried again when it is its turn", "note")
        plan_checks.require_words(self.environment.name, list(planned.values()), self.accepted)
        return planned

    def _slice(self, stack: str, planned: Plan | None, screen: Screen) -> Applied:
        if planned is None:
            planned = self.plan(stack, screen)
            plan_checks.require_words(self.environment.name, [planned], self.accepted, of=stack)
        part = stack.partition(".")[2]
        total = self.resources[part] if part else sum(self.resources.values())
        return self.apply(planned, screen, title=part or "region", total=total, what="resources")

    def tell(self, unfinished: Unfinished, output: Format) -> None:
        """Say how each stack ended, when some failed."""
        if output is Format.TEXT:
            stacks_view.show(stdout(), unfinished.rows(lambda result: summary.counted(result.changes)))
            return
        held = [one.failure for one in unfinished.outcomes if isinstance(one.failure, plan_checks.HeldBack)]
        told = {"changes": self.changes, "seconds": self.durations, "stacks": unfinished.to_json()}
        print_json(told | {"held": {stack: one for back in held for stack, one in back.to_json()["held"].items()}})

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

    The stacks of an environment in slices are applied side by side, each after those that it needs. One that fails
    keeps back those that need it and no others; a table says at the end how each of them ended.

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
        _apply(work, output)
        patience = timeout if timeout is not None else _REHEARSAL_WAIT_SECONDS if rehearsal else 0.0
        status = work.settle(patience)
    if output is Format.JSON:
        print_json({"changes": work.changes, "seconds": work.durations, "status": asdict(status)})
    else:
        summary.show(stdout(), spec, status, work.changes, work.durations)
    if not status.settled:
        raise Stop(summary.unsettled(status, patience), ExitCode.WAITING)


def _apply(work: Up, output: Format) -> None:
    """Apply all of a region, and of a rehearsal its clusters before and those that end after."""
    try:
        if work.environment.region.stage is Stage.REHEARSAL:
            work.ending = kubeconfig.ending(work.environment, paths.kubeconfigs(work.environment.name))
            work.clusters()
        work.slices()
        if work.ending:
            work.end_clusters()
    except plan_checks.HeldBack as held:
        if output is Format.JSON:
            print_json(held.to_json())
        raise
    except Unfinished as unfinished:
        work.tell(unfinished, output)
        raise


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
