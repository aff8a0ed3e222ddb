"""``jacquard up``: applies an environment and waits until it is ready."""

from collections.abc import Mapping

from components.specs.base import Stage
from components.specs.struct import asdict
from jacquard.cli import arguments, data, local_region
from jacquard.cli.console import ResultFormat, print_json, stderr, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.judging import judging, policies
from jacquard.cli.preview_binding import Apply
from jacquard.cli.runs import plan_checks
from jacquard.cli.runs import refresh as refreshes
from jacquard.cli.runs.applying import Up
from jacquard.cli.runs.metrics import RunMetrics, measured
from jacquard.cli.runs.operator import Operator, require_no_stacks
from jacquard.cli.runs.policy_gate import refuse
from jacquard.cli.runs.stacks import Unfinished, confirm_stage
from jacquard.cli.views import summary
from jacquard.engine import locks
from jacquard.engine.driver import Engine
from jacquard.machine import paths, settings
from jacquard.machine.kind import Kind
from policies.results import of_judgement
from stacks import kubeconfig

_REHEARSAL_WAIT_SECONDS = 600.0


def up(
    environment: arguments.Env,
    *,
    yes: arguments.YesOption = False,
    confirm: arguments.ConfirmOption = None,
    accept: arguments.DeprecatedAcceptOption = None,
    migrate_providers: arguments.MigrateOption = None,
    switch_to: arguments.DeprecatedSwitchOption = None,
    speed: arguments.SpeedOption = None,
    timeout: arguments.TimeoutOption = None,
    preview: arguments.PreviewOption = None,
    signers: arguments.SignersOption = None,
    refresh: arguments.RefreshOption = False,
    metrics_file: arguments.MetricsFileOption = None,
    output: arguments.ResultFormatOption = ResultFormat.TEXT,
) -> None:
    """Apply an environment and wait until it is ready.

    If an environment has several stacks, they are applied in parallel, each after its dependencies. If a stack fails,
    only its dependents are not started; a table at the end shows the result of each stack.

    A rehearsal first creates its clusters on this machine. You can run the command again at any time: it continues
    after an interruption, and changes nothing if the data are unchanged. The command compares the data with the
    recorded state, with --refresh with the live objects. Exits with 3 if it waits for a gate, with 4 if a policy
    refuses the data or the preview does not match, and with 5, before any change, if destructive changes or a provider
    migration require confirmation.
    """
    settings.check()
    refreshes.refuse_with_preview(environment, preview, refresh=refresh)
    with (
        measured(metrics_file, RunMetrics("up", environment)) as metrics,
        judging("up", output, [environment], policies) as judged,
    ):
        spec, now = data.checked(environment), settings.now()
        judgement = refuse(spec, now)
        judged.add(of_judgement(judgement, spec))
        rehearsal = spec.region.stage is Stage.REHEARSAL
        if not rehearsal and not yes:
            confirm_stage(spec)
        migrate_to = arguments.migrate_to(migrate_providers or switch_to)
        with locks.exclusively(environment, "up"):
            engine = Engine(environment, spec.region.state, _variables(speed, migrate_to))
            require_no_stacks(spec, engine)
            stacks = Apply(spec, engine, now, preview=preview, signers=signers, refresh=refresh).stacks()
            operator = Operator(spec, stacks)
            work = Up(
                spec,
                engine,
                stderr(),
                now,
                judgement.resources,
                operator.with_engine(stacks),
                operator,
                (*(confirm or ()), *(accept or ())),
                migrate_to=migrate_to,
                refresh=refresh,
            )
            _apply(work, output, metrics)
            patience = timeout if timeout is not None else _REHEARSAL_WAIT_SECONDS if rehearsal else 0.0
            status = work.settle(patience)
            monitoring = local_region.monitoring(environment, engine.variables)
        if output is ResultFormat.JSON:
            print_json(judged.to_json(changes=work.changes, seconds=work.durations, status=asdict(status)))
        elif output is ResultFormat.TEXT:
            summary.show(stdout(), spec, status, work.changes, work.durations, monitoring)
        if not status.settled:
            raise Stop(summary.unsettled(status, patience), ExitCode.WAITING)


def _apply(work: Up, output: ResultFormat, metrics: RunMetrics) -> None:
    """Apply the stacks of a region; for a rehearsal, first create its clusters, and finally delete removed clusters."""
    try:
        if work.environment.region.stage is Stage.REHEARSAL:
            work.ending = kubeconfig.ending(work.environment, paths.kubeconfigs(work.environment.name))
            work.clusters()
        work.slices()
        if work.ending:
            work.end_clusters()
    except plan_checks.BlockedError as blocked:
        if output is ResultFormat.JSON:
            print_json(blocked.to_json())
        raise
    except Unfinished as unfinished:
        work.tell(unfinished, output)
        raise
    finally:
        metrics.changes(len(work.stacks), work.changes.values())


def _variables(speed: float | None, migrate_to: Kind | None) -> Mapping[str, str]:
    chosen = {settings.SPEED: f"{speed:g}" if speed is not None else "", settings.MIGRATE_PROVIDERS: migrate_to or ""}
    return {name: value for name, value in chosen.items() if value}
