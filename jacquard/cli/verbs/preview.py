"""``jacquard preview``: preview of ``up``, and of a change before it is merged."""

import datetime as dt
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from components.specs.environment import Environment
from components.specs.secret_text import masked_forms
from jacquard.cli import arguments, change_previews, collected_facts, data
from jacquard.cli.change_previews import Previewed
from jacquard.cli.comparisons import base_comparison
from jacquard.cli.console import ResultFormat, json_text, print_json, stdout, write_text
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.judging import Judged, judging, policies
from jacquard.cli.output_folder import KeptFolder
from jacquard.cli.outputs import refuse_data
from jacquard.cli.runs import plan_checks
from jacquard.cli.runs import refresh as refreshes
from jacquard.cli.runs.engine import previewed
from jacquard.cli.runs.plan_checks import Plan
from jacquard.cli.views.changes import blocked as blocked_view
from jacquard.cli.views.changes import change, junit
from jacquard.cli.views.changes import preview as preview_view
from jacquard.cli.views.changes.preview_comment import comment
from jacquard.cli.views.report.page import html
from jacquard.cli.views.results import sarif
from jacquard.engine.driver import Engine, Run
from jacquard.engine.missing_stacks import previewing
from jacquard.machine import settings
from jacquard.previews.attestations.attestation import FILE as STATEMENT
from jacquard.previews.attestations.signing import SUFFIX, SignatureError, signature
from jacquard.previews.attestations.statement import Candidate, attested
from jacquard.previews.bases import Base
from jacquard.previews.impacts.occupancy import LIMIT_MINUTES, CollectedFacts
from jacquard.previews.preview import Outcome, Preview
from jacquard.previews.results import of_engine
from policies.result_data import to_json
from stacks.target import stack_names

FOLDER = KeptFolder(index=".jacquard-preview.json", command="jacquard preview")
"""Output folder of a preview."""


def preview(
    chosen: arguments.SomeEnvs,
    *,
    base: Annotated[
        str | None,
        typer.Option(
            "--base", metavar="REF", help="Preview the change since the merge base with this branch, tag or commit."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="With --base: output folder for comment, report, JSON, SARIF and JUnit files."
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option("--sign", metavar="KEY", help="With --out: SSH key that signs the attestation."),
    ] = None,
    facts: arguments.FactsOption = None,
    facts_age: arguments.FactsAgeOption = LIMIT_MINUTES,
    refresh: arguments.RefreshOption = False,
    diff: arguments.DiffOption = False,
    output: arguments.ResultFormatOption = ResultFormat.TEXT,
) -> None:
    """Show the changes 'up' would make and policy violations, or the effect of a change before it is merged.

    Counts resources by component, and changes nothing. Exits with 4 if a policy refuses the data, and with 5 if 'up'
    requires confirmation of destructive changes.

    With --base, first reports the effect of the change on nodes and tenants, as 'impact' does. The engine previews only
    stacks whose rendered objects differ between base and head. If a stack fails or is unreachable, the other stacks are
    still reported and the exit code is 1. If a stack waits for a gate, the exit code is 3. With --out, also writes
    attestation.json, which 'up --preview' uses to apply exactly this change.
    """
    refreshes.refuse_with_base(base, refresh=refresh)
    names = data.chosen(chosen)
    if base is not None:
        now = settings.now()
        observed = collected_facts.facts(facts or (), names, now=now, limit_minutes=facts_age)
        with judging("preview", output, names) as judged:
            _of_change(judged, base, now, observed, out, output, sign)
        return
    if out is not None or sign is not None:
        option = "--sign" if out is None else "--out"
        msg = f"{option} requires --base; add --base REF"
        raise Stop(msg, ExitCode.BAD_DATA)
    with judging("preview", output, names, policies) as judged:
        for name in names:
            _of_environment(judged, name, diff=diff, refresh=refresh, output=output)


def _of_change(
    judged: Judged,
    base: str,
    now: dt.datetime,
    facts: Mapping[str, CollectedFacts],
    out: Path | None,
    output: ResultFormat,
    key: Path | None,
) -> None:
    names = list(judged.environments)
    owner = " ".join(names)
    if out is not None:
        refuse_data("--out", out)
        FOLDER.known(out, owner)
    with base_comparison.base_of(base) as earlier:
        results = [change_previews.preview(item, now) for item in base_comparison.compare(names, earlier, facts)]
        previews = [result.preview for result in results]
        statement = _attested(earlier, results, now, key) if out is not None else {}
    if out is not None:
        FOLDER.write(out, owner, _files(results, previews, now) | statement)
    judged.add(change_previews.all_results(results))
    match output:
        case ResultFormat.JSON:
            print_json([item.answer().model_dump(mode="json") for item in results])
        case ResultFormat.TEXT:
            for line in (line for item in previews for line in change.lines(item)):
                stdout().print(line, soft_wrap=True)
        case ResultFormat.JUNIT:
            write_text(junit.report(previews))  # with a case for each stack
    if (code := _code(judged, previews)) is not ExitCode.OK:
        raise typer.Exit(code)


def _files(results: list[Previewed], previews: list[Preview], now: dt.datetime) -> dict[str, str]:
    texts = {
        "comment.md": comment(previews),
        "junit.xml": junit.report(previews),
        "report.html": html([result.compared.report(now, result.preview) for result in results]),
    }
    return {name: masked_forms(text) for name, text in texts.items()} | {
        "preview.json": json_text([item.answer().model_dump(mode="json") for item in results]),
        "preview.sarif": json_text(sarif.report(change_previews.all_results(results), "preview")),
    }


def _attested(base: Base, results: list[Previewed], now: dt.datetime, key: Path | None) -> dict[str, str]:
    """Return the attestation files for ``up --preview``; empty if a stack could not be previewed.

    Raises:
        Stop: they cannot be signed.
    """
    stacks = [stack for result in results for stack in result.preview.stacks]
    if failed := [stack.stack for stack in stacks if stack.outcome in (Outcome.FAILED, Outcome.REFUSED)]:
        show(
            f"'up --preview' cannot use this preview, because the preview of {', '.join(failed)} is incomplete", "note"
        )
        return {}
    text = attested(base, [_candidate(result) for result in results], now)
    if key is None:
        return {STATEMENT: text}
    try:
        return {STATEMENT: text, STATEMENT + SUFFIX: signature(text.encode(), key)}
    except SignatureError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None


def _candidate(result: Previewed) -> Candidate:
    environment = result.compared.head.environment
    states = {stack.stack: stack.state for stack in result.preview.stacks if stack.state}
    engine = Engine(environment.name, environment.region.state, {}) if states else None
    return Candidate(environment=environment, impact=result.compared.impact, states=states, engine=engine)


def _code(judged: Judged, previews: list[Preview]) -> ExitCode:
    """Return the exit code of the rules, else that of the stacks."""
    stacks = [stack for item in previews for stack in item.stacks]
    outcomes = {stack.outcome for stack in stacks}
    if judged.code is not ExitCode.OK:
        return judged.code
    if any(stack.held for stack in stacks):
        return ExitCode.CONFIRMATION_REQUIRED
    if Outcome.FAILED in outcomes:
        return ExitCode.FAILED
    return ExitCode.WAITING if Outcome.WAITING in outcomes else ExitCode.OK


def _of_environment(judged: Judged, name: str, *, diff: bool, refresh: bool, output: ResultFormat) -> None:
    spec = data.checked(name)
    engine = Engine(name, spec.region.state, {})
    plans = [_plan(engine, spec, stack, diff=diff, refresh=refresh) for stack in stack_names(spec)]
    results = [result for _, run in plans for result in of_engine(name, run.progress.violations)]
    judged.add(results)
    if output is ResultFormat.JSON:
        stacks = [
            preview_view.to_json(run) | {"held": blocked_view.to_json(plan.held, plan.token)} for plan, run in plans
        ]
        print_json({"environment": name, "stacks": stacks, "results": to_json(results)})
    elif output is ResultFormat.TEXT:
        for _, run in plans:
            preview_view.show(stdout(), run, diff=diff)
    plan_checks.require_confirmation(name, [plan for plan, _ in plans], ())


def _plan(engine: Engine, environment: Environment, stack: str, *, diff: bool, refresh: bool) -> tuple[Plan, Run]:
    ready = engine.look(stack)
    plan_checks.require_writers(engine, ready)
    options = (*(("--diff",) if diff else ()), *refreshes.options(refresh=refresh))
    with previewing(engine, ready) as able:
        run = previewed(able, stack, *options, title=f"preview of {stack}", resume="preview")
    for text in refreshes.found(run) if refresh else ():
        show(text, "note")
    return plan_checks.judged(run, environment, refreshed=refresh), run
