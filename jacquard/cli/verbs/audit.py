"""``jacquard audit``: judges the recorded state, live objects or past changes of a region by the current policies."""

import datetime as dt
from typing import TYPE_CHECKING, Annotated

import typer

from components.rules.checks import errors
from components.specs.environment import Environment
from components.specs.reading.problems import SpecError
from jacquard.cli import arguments, data
from jacquard.cli.console import ResultFormat, plural, print_json, print_text
from jacquard.cli.errors import ExitCode, Refusal, Stop
from jacquard.cli.judging import Judged, judging, policies
from jacquard.cli.views import audit as view
from jacquard.engine.driver import Engine
from jacquard.machine import paths, settings
from jacquard.previews.base_commits import BaseError
from policies import levels
from policies.results import Decision, decision
from stacks.target import BOOTSTRAP, stack_names

if TYPE_CHECKING:
    from jacquard.audits.audit import Audit


def audit(
    environment: arguments.Env,
    *,
    live: Annotated[
        bool, typer.Option("--live", help="Also judge the declared objects as clusters have them.")
    ] = False,
    history: Annotated[
        str | None,
        typer.Option(
            "--history", metavar="A..B", help="Judge the changes between two commits instead of the recorded state."
        ),
    ] = None,
    today: arguments.TodayOption = None,
    output: arguments.ResultFormatOption = ResultFormat.TEXT,
) -> None:
    """Judge the recorded state of a region, its live objects or its past changes by the current policies.

    Reads the resources that the last applies recorded, without running a program, also of stacks that the data no
    longer declare. With --live, also reads the declared objects from the clusters: declared fields with their live
    values, and fields that a person set. Nodes that differ from their pool or have faults, and hosts that differ from
    the inventory, are then reported as advice. Exits with 4 if a policy refuses a resource or an object, with 7 if
    nothing is refused but some objects could not be read, or if nothing was ever applied.

    With --history, judges each past change of the environment and of the catalogue at the time of its commit, and
    reports the rules that would have stopped it. Needs no engine and no cluster, and always exits with 0 if all commits
    were judged.
    """
    now = today.replace(tzinfo=dt.UTC) if today else settings.now()
    if history is not None:
        _refuse_contradictions(live=live, output=output)
        _history(data.known(environment), history, output)
        return
    with judging("audit", output, [environment], policies) as judged:
        _state(judged, data.load(environment), now, live=live, output=output)


def _state(judged: Judged, environment: Environment, now: dt.datetime, *, live: bool, output: ResultFormat) -> None:
    if problems := errors(levels.problems(environment, now), now.astimezone(dt.UTC).date()):
        raise SpecError(environment.name, problems)
    audit = _audit(environment, now, live=live)
    if output is ResultFormat.JSON:
        print_json(audit.to_json())
    elif output is ResultFormat.TEXT:
        refused = decision(audit.results) is not Decision.PASSED
        print_text("\n".join(view.lines(audit)), to_stderr=refused)
    if decision(audit.results) is not Decision.PASSED:
        count = sum(result.blocks for result in audit.results)
        where = "recorded state and live objects" if live else "the recorded state"
        msg = f"{environment.name}: {plural(count, 'policy violation')} in {where}"
        raise Refusal(msg, audit.results)
    judged.add(audit.results)
    if audit.unread:
        msg = f"{environment.name}: some clusters or objects could not be read, so their violations are unknown"
        raise Stop(msg, ExitCode.UNREACHABLE)


def _audit(environment: Environment, now: dt.datetime, *, live: bool) -> "Audit":
    """Return the audit of the recorded stacks, and with ``live`` of the clusters.

    Raises:
        Stop: no stack was ever applied.
    """
    # These modules load the protocol of the engine and the clients of clusters, which --help does not need.
    from jacquard.audits.audit import Auditor  # noqa: PLC0415
    from jacquard.audits.hosts import enrolment_results, health_results  # noqa: PLC0415
    from jacquard.audits.nodes import node_results  # noqa: PLC0415
    from jacquard.audits.recorded import recorded_facts  # noqa: PLC0415
    from jacquard.observe import enrolment  # noqa: PLC0415
    from jacquard.observe.live_declared import live_objects  # noqa: PLC0415
    from jacquard.observe.nodes import faults  # noqa: PLC0415
    from jacquard.observe.nodes.live import live_nodes, management_kinds  # noqa: PLC0415
    from jacquard.observe.observation import observe  # noqa: PLC0415

    engine, auditor = Engine(environment.name, environment.region.state, {}), Auditor(environment, now)
    states = {stack: engine.look(stack) for stack in _stacks(environment, engine)}
    recorded = {stack: recorded_facts(state.resources) if state.made else None for stack, state in states.items()}
    if not any(state.resources for state in states.values()):
        msg = (
            f"{environment.name}: no stack has a recorded state, so there is nothing to audit; run 'jacquard up"
            f" {environment.name}' first, or correct state.backend in region.yaml"
        )
        raise Stop(msg, ExitCode.UNREACHABLE)
    if not live:
        return auditor.audit(recorded)
    audit = auditor.audit(recorded, live_objects(environment, auditor.kinds))
    kinds = (
        *management_kinds(environment),
        *enrolment.management_kinds(environment),
        *faults.management_kinds(environment),
    )
    seen = observe(environment, management=tuple(dict.fromkeys(kinds)), tenants=enrolment.TENANT_KINDS)
    nodes = live_nodes(environment, seen)
    results = (
        *node_results(environment, nodes, now.astimezone(dt.UTC).date()),
        *enrolment_results(environment, enrolment.enrolled(environment, seen)),
        *health_results(environment, faults.node_faults(environment, seen)),
    )
    unread = (f"cluster {name}: {reason}" for name, reason in seen.unreachable.items())
    return audit.with_nodes(len(nodes), results, unread)


def _stacks(environment: Environment, engine: Engine) -> list[str]:
    """Return the declared stacks, and recorded stacks of the environment that the data no longer declare."""
    declared = stack_names(environment)
    prefix = f"{environment.name}."
    gone = (
        name
        for name in sorted(engine.stacks())
        if name not in declared and (name == environment.name or name.startswith(prefix))
    )
    return [*declared, *(name for name in gone if name != f"{prefix}{BOOTSTRAP}")]


def _refuse_contradictions(*, live: bool, output: ResultFormat) -> None:
    """Reject options that have no meaning with ``--history``.

    Raises:
        Stop: there is such an option.
    """
    if live:
        msg = "--live: has no meaning with --history, which judges data only; omit one of them"
        raise Stop(msg, ExitCode.BAD_DATA)
    if output not in (ResultFormat.TEXT, ResultFormat.JSON):
        msg = f"--format {output}: --history has only text and json, because lines of past commits differ; write json"
        raise Stop(msg, ExitCode.BAD_DATA)


def _history(name: str, span: str, output: ResultFormat) -> None:
    from jacquard.audits.history import replay  # noqa: PLC0415 - only for this option

    try:
        changes = list(replay(paths.environments(), name, span))
    except BaseError as error:
        msg = f"--history: {error}"
        raise Stop(msg, ExitCode.BAD_DATA) from None
    if output is ResultFormat.JSON:
        print_json({"environment": name, "span": span, "changes": [change.to_json() for change in changes]})
    else:
        print_text("\n".join(view.history_lines(name, changes)))
