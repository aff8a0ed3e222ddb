"""An `up` of an environment: its clusters, its stacks, and the wait for its nodes."""

import datetime as dt
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from rich.console import Console

from components.specs.base import Stage
from components.specs.environment import Environment
from components.specs.reading.problems import abbreviated
from components.specs.struct import Struct, replace
from jacquard.cli import local_region
from jacquard.cli.console import ResultFormat, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.runs import plan_checks
from jacquard.cli.runs import refresh as refreshes
from jacquard.cli.runs.engine import watched
from jacquard.cli.runs.operator import Operator
from jacquard.cli.runs.plan_checks import Plan
from jacquard.cli.runs.policy_gate import unchanged
from jacquard.cli.runs.stacks import Unfinished, require_done, results, together
from jacquard.cli.views import summary
from jacquard.cli.views.progress import Screen, ended, phase
from jacquard.engine.driver import Engine
from jacquard.engine.parallel import Needs, Outcome, among
from jacquard.engine.recorded import recorded_commits
from jacquard.machine import paths
from jacquard.machine.kind import Kind
from jacquard.observe.observation import observe
from jacquard.observe.region_status import RegionStatus, assemble, settle
from stacks.target import BOOTSTRAP, stack_needs

_POLLS_AFTER_A_CHANGE = 3


class Applied(Struct):
    """Result of an applied stack."""

    changes: Counter[str]
    """Number of changed objects by operation."""
    seconds: float


@dataclass(slots=True)
class Up:
    """A running ``up``, with the changes and phase durations so far."""

    environment: Environment
    engine: Engine
    console: Console
    now: dt.datetime
    """Start time of the command, with a time zone."""
    resources: Mapping[str, int]
    """Number of Pulumi resources by slice."""
    stacks: Sequence[str]
    """Stacks to apply, in order."""
    operator: Operator
    """Operator that applies some of the stacks, if the region has one."""
    confirmed: Sequence[str] = ()
    """Confirmation tokens, each for the destructive changes of one stack."""
    migrate_to: Kind | None = None
    """Kind of provider plug-ins that may take over stacks written by the other kind."""
    refresh: bool = False
    """Whether to read the live objects into the state before the plan and before the apply."""
    ending: Sequence[str] = ()
    """Clusters of a rehearsal that are no longer in the data, but still contain objects of the region."""
    changes: dict[str, Counter[str]] = field(default_factory=dict)
    """Number of changed objects by stack and operation."""
    durations: dict[str, float] = field(default_factory=dict)
    """Duration of each phase in seconds."""

    @property
    def changed(self) -> bool:
        """Return whether any stack changed."""
        return any(self.changes.values())

    @property
    def advice(self) -> str:
        """Return the command that shows the cause of missing progress."""
        verb = "logs" if self.environment.region.stage is Stage.REHEARSAL else "status"
        return f"'jacquard {verb} {self.environment.name}' may show the cause"

    def plan(self, stack: str, screen: Screen) -> Plan:
        """Return the plan of a stack; see `plan_checks.plan`."""
        return plan_checks.plan(
            self.engine, self.environment, stack, migrate_to=self.migrate_to, refresh=self.refresh, screen=screen
        )

    def apply(self, planned: Plan, screen: Screen, *, title: str, total: int, what: str) -> Applied:
        """Apply a stack unless its plan is empty.

        Raises:
            Stop: the stack is refused, waits for a gate, or failed.
        """
        changes, seconds = Counter[str](), planned.seconds
        if not planned.empty:
            refresh = refreshes.options(refresh=planned.refreshed)
            options = ("--yes", "--skip-preview", "--policy-pack", paths.policy_pack(), *refresh)
            run = watched(
                self.engine,
                "up",
                planned.stack,
                *options,
                title=title,
                resume=refreshes.verb(refresh=planned.refreshed),
                total=total,
                what=what,
                advice=self.advice,
                screen=screen,
            )
            changes, seconds = run.progress.changes, seconds + run.duration_seconds
        ended(screen.console, title, seconds, summary.counted(changes))
        return Applied(changes=changes, seconds=seconds)

    def clusters(self) -> None:
        """Create or restart the clusters of a rehearsal; clusters removed from the data stay until they are empty."""
        screen, names = Screen(self.console), local_region.clusters(self.environment)
        stack = f"{self.environment.name}.{BOOTSTRAP}"
        planned = self.plan(stack, screen)
        plan_checks.require_confirmation(self.environment.name, [planned], self.confirmed)
        done = self.apply(planned, screen, title="clusters", total=len(names), what="clusters")
        self.changes[stack], self.durations["clusters"] = done.changes, done.seconds
        if not done.changes:
            with phase(self.console, "clusters, restart of stopped components") as shown:
                local_region.revive(self.environment, self.engine.variables)
            self.durations["clusters"] += shown.duration_seconds

    def end_clusters(self) -> None:
        """Delete the clusters that were removed from the data of a rehearsal, after their objects are deleted."""
        screen = Screen(self.console)
        planned = self.plan(f"{self.environment.name}.{BOOTSTRAP}", screen)
        done = self.apply(planned, screen, title="removed clusters", total=len(self.ending), what="clusters")
        self.changes[planned.stack] += done.changes
        self.durations["clusters"] += done.seconds

    def slices(self) -> None:
        """Apply the stacks of the region in parallel, without frozen stacks; plan all of them first.

        Raises:
            Stop: a frozen stack has changes or a stack requires confirmation, and nothing is applied; or the only stack
                failed.
            Unfinished: some of several stacks failed, and their dependents were not started.
        """
        frozen = unchanged(self.environment, self.engine, self.now, refresh=self.refresh)
        for stack in (stack for stack in self.stacks if stack in frozen):
            ended(self.console, stack, 0.0, "frozen, no changes")
        needs: Needs = among(stack_needs(self.environment), frozenset(self.stacks) - frozen)
        started = time.monotonic()
        planned = self._plans(tuple(needs))
        needs = self._submitted(needs, planned)
        outcomes = together(
            needs,
            lambda stack, screen: self._slice(stack, planned.get(stack), screen),
            telling=True,
            at_once=self.operator.at_once,
        )
        self.changes |= {outcome.stack: outcome.result.changes for outcome in outcomes if outcome.result}
        seconds = [outcome.result.seconds for outcome in outcomes if outcome.result]
        self.durations |= {"region": sum(seconds) if len(needs) == 1 else time.monotonic() - started}
        resume = f"jacquard {refreshes.verb(refresh=self.refresh)} {self.environment.name}"
        require_done(self.environment.name, outcomes, done="applied", resume=resume)

    def _plans(self, stacks: Sequence[str]) -> dict[str, Plan]:
        """Return the plans of the stacks, without stacks that can be planned only after other stacks are applied.

        Raises:
            Stop: the first stack cannot be planned, another is refused, or confirmation is required.
        """
        first = stacks[:1]
        # Most failures affect all stacks, so the first stack is planned before the others.
        outcomes = together({stack: first if stack not in first else () for stack in stacks}, self.plan)

        def later(outcome: Outcome[Plan]) -> bool:
            # The only cause may be a missing object of another stack, such as a CRD that an operator installs.
            stop = outcome.failure
            waits = isinstance(stop, Stop) and stop.code in (ExitCode.WAITING, ExitCode.FAILED)
            return waits and outcome.stack not in first

        planned = results(outcomes, tolerated=later)
        for stack in stacks:
            if stack not in planned:
                show(f"{stack} cannot be planned yet; it is planned again after its dependencies are applied", "note")
        plan_checks.require_confirmation(self.environment.name, list(planned.values()), self.confirmed)
        return planned

    def _submitted(self, needs: Needs, planned: dict[str, Plan]) -> Needs:
        """Give the operator the commit of its stacks with changes, which then wait for the stack of the engine."""
        engine = self.operator.engine_stack
        if engine is None:
            return needs
        if engine not in planned:
            for stack in self.operator.stacks:
                planned.pop(stack, None)
            return needs
        changed = [stack for stack, plan in planned.items() if not plan.empty]
        unplanned = [stack for stack in needs if stack not in planned]
        recorded = recorded_commits(self.engine.look(engine).resources)
        self.engine.commits = self.operator.submit(changed, unplanned, recorded)
        if not self.engine.commits:
            return needs
        if self.refresh:
            # The operator plans from the state, into which only this command reads the live objects.
            results(together({stack: () for stack in changed if self.operator.is_submitted(stack)}, self._refresh))
        planned[engine] = replace(planned[engine], empty=False)
        return {
            stack: (*needed, engine) if self.operator.is_submitted(stack) else needed for stack, needed in needs.items()
        }

    def _refresh(self, stack: str, screen: Screen) -> None:
        resume, options = refreshes.verb(refresh=True), ("--yes", "--skip-preview")
        watched(self.engine, "refresh", stack, *options, title=f"refresh of {stack}", resume=resume, screen=screen)

    def _slice(self, stack: str, planned: Plan | None, screen: Screen) -> Applied:
        if stack in self.operator.stacks:
            return self._followed(stack, planned, screen)
        if planned is None:
            planned = self.plan(stack, screen)
            plan_checks.require_confirmation(self.environment.name, [planned], self.confirmed, of=stack)
        part = stack.partition(".")[2]
        total = self.resources[part] if part else sum(self.resources.values())
        return self.apply(planned, screen, title=part or "region", total=total, what="resources")

    def _followed(self, stack: str, planned: Plan | None, screen: Screen) -> Applied:
        """Wait until the operator has applied a stack.

        Raises:
            Stop: the stack is not planned yet, so that its destructive changes are not known; or the operator failed.
        """
        if planned is None:
            self.plan(stack, screen)  # its own failure is more useful
            msg = f"{stack}: could not be planned before its dependencies; run 'jacquard up' again to apply it"
            raise Stop(msg, ExitCode.WAITING)
        seconds, changes = planned.seconds, Counter[str]()
        if not planned.empty:
            seconds += self.operator.follow(stack, screen)
            changes = planned.changes
        result = f"applied at {abbreviated(self.operator.commit)}" if not planned.empty else summary.counted(changes)
        ended(screen.console, stack.partition(".")[2], seconds, result)
        return Applied(changes=changes, seconds=seconds)

    def tell(self, unfinished: Unfinished, output: ResultFormat) -> None:
        """Print the result of each stack after failures."""
        if output is ResultFormat.TEXT:
            summary.show_stacks(stdout(), unfinished.rows(lambda result: summary.counted(result.changes)))
        if output is not ResultFormat.JSON:
            return
        failures = [outcome.failure for outcome in unfinished.outcomes]
        blocked = [failure.to_json()["held"] for failure in failures if isinstance(failure, plan_checks.BlockedError)]
        answer = {"changes": self.changes, "seconds": self.durations, "stacks": unfinished.to_json()}
        print_json(answer | {"held": {stack: held for stacks in blocked for stack, held in stacks.items()}})

    def settle(self, timeout_seconds: float) -> RegionStatus:
        """Wait for the node pools and return the status of the region."""
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
