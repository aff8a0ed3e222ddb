"""``jacquard preview``: what ``up`` would do, and what a change does before it is merged."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from components.specs.environment import Environment
from jacquard.cli import arguments, base_comparison, change_previews, data, plan_checks
from jacquard.cli.change_previews import Previewed
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.engine_runs import previewed
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.output_folder import KeptFolder
from jacquard.cli.outputs import refuse_data
from jacquard.cli.plan_checks import Plan
from jacquard.cli.views.changes import blocked as held_view
from jacquard.cli.views.changes import change_preview, junit, sarif
from jacquard.cli.views.changes import preview as preview_view
from jacquard.cli.views.changes.preview_comment import comment
from jacquard.cli.views.report.page import html
from jacquard.engine.driver import Engine, Run
from jacquard.engine.missing_stacks import previewing
from jacquard.machine import settings
from jacquard.previews.attestations.attestation import FILE as STATEMENT
from jacquard.previews.attestations.signing import SUFFIX, SignatureError, signature
from jacquard.previews.attestations.statement import Found, attested
from jacquard.previews.bases import Base
from jacquard.previews.impacts.occupancy import LIMIT_MINUTES, Given
from jacquard.previews.preview import Outcome, Preview
from stacks.target import stack_names

FOLDER = KeptFolder(index=".jacquard-preview.json", command="jacquard preview")
"""Where the files of a preview are kept."""


def preview(
    chosen: arguments.SomeEnvs,
    *,
    base: Annotated[
        str | None,
        typer.Option("--base", metavar="REF", help="Tell of the change since this branch, tag or commit was left."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            "--out", metavar="DIR", help="With --base: folder for the comment, a report, JSON, SARIF and JUnit."
        ),
    ] = None,
    sign: Annotated[
        Path | None,
        typer.Option("--sign", metavar="KEY", help="With --out: SSH key that signs what the preview attests."),
    ] = None,
    facts: arguments.FactsOption = None,
    facts_age: arguments.FactsAgeOption = LIMIT_MINUTES,
    diff: arguments.DiffOption = False,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Show what 'up' would do, and what policies refuse; or what a change does before it is merged.

    Counts resources by component; nothing is changed. Ends with 4 when a policy refuses, with 5 when 'up' would lose
    objects that nobody asked to lose.

    With --base it first tells what the change does to nodes and tenants, as 'impact' does, and asks the engine about
    those stacks only whose objects base and head render otherwise. A stack that fails or cannot be reached is told
    beside the others, and ends the command with 1; one that waits for something ends it with 3. In --out it also leaves
    attestation.json, by which 'up --preview' applies this and nothing else.
    """
    names = data.chosen(chosen)
    if base is not None:
        now = settings.now()
        given = data.facts(facts or (), names, now=now, limit_minutes=facts_age)
        _of_change(names, base, now, given, out, output, sign)
        return
    if out is not None or sign is not None:
        option = "--sign" if out is None else "--out"
        msg = f"{option}: only a change is written to files; name what it is compared with by --base"
        raise Stop(msg, ExitCode.BAD_DATA)
    for name in names:
        _of_environment(name, diff=diff, output=output)


def _of_change(
    names: list[str],
    base: str,
    now: dt.datetime,
    facts: Mapping[str, Given],
    out: Path | None,
    output: Format,
    key: Path | None,
) -> None:
    owner = " ".join(names)
    if out is not None:
        refuse_data("--out", out)
        FOLDER.known(out, owner)
    with base_comparison.base_of(base) as earlier:
        found = [change_previews.preview(one, now) for one in base_comparison.compare(names, earlier, facts)]
        told = [one.preview for one in found]
        statement = _attested(earlier, found, now, key) if out is not None else {}
    if out is not None:
        FOLDER.write(out, owner, _files(found, told, now) | statement)
    if output is Format.JSON:
        print_json([one.model_dump(mode="json") for one in told])
    else:
        for line in (line for one in told for line in change_preview.lines(one)):
            stdout().print(line, soft_wrap=True)
    if (code := _code(told)) is not ExitCode.OK:
        raise typer.Exit(code)


def _files(found: list[Previewed], told: list[Preview], now: dt.datetime) -> dict[str, str]:
    findings = change_previews.all_findings(found)
    return {
        "comment.md": comment(told),
        "preview.json": _json([one.model_dump(mode="json") for one in told]),
        "preview.sarif": _json(sarif.report(findings, "preview")),
        "junit.xml": junit.report(told),
        "report.html": html([one.compared.report(now, one.preview) for one in found]),
    }


def _attested(base: Base, found: list[Previewed], now: dt.datetime, key: Path | None) -> dict[str, str]:
    """Return the files by which ``up --preview`` is held to a preview; none where a stack could not be previewed.

    Raises:
        Stop: they cannot be signed.
    """
    stacks = [stack for one in found for stack in one.preview.stacks]
    if failed := [stack.stack for stack in stacks if stack.outcome in (Outcome.FAILED, Outcome.REFUSED)]:
        show(f"nothing can be applied by this preview, since it has not all of {', '.join(failed)}", "note")
        return {}
    text = attested(base, [_found(one) for one in found], now)
    if key is None:
        return {STATEMENT: text}
    try:
        return {STATEMENT: text, STATEMENT + SUFFIX: signature(text.encode(), key)}
    except SignatureError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None


def _found(one: Previewed) -> Found:
    environment = one.compared.head.environment
    states = {stack.stack: stack.state for stack in one.preview.stacks if stack.state}
    engine = Engine(environment.name, environment.region.state, {}) if states else None
    return Found(environment=environment, impact=one.compared.impact, states=states, engine=engine)


def _json(value: Any) -> str:
    return json.dumps(value, indent=2, ensure_ascii=False) + "\n"


def _code(previews: list[Preview]) -> ExitCode:
    stacks = [stack for one in previews for stack in one.stacks]
    outcomes = {stack.outcome for stack in stacks}
    if Outcome.REFUSED in outcomes or any(offence.refuses for one in previews for offence in one.offences):
        return ExitCode.REFUSED
    if any(stack.held for stack in stacks):
        return ExitCode.HELD
    if Outcome.FAILED in outcomes:
        return ExitCode.FAILED
    return ExitCode.WAITING if Outcome.WAITING in outcomes else ExitCode.OK


def _of_environment(name: str, *, diff: bool, output: Format) -> None:
    spec = data.checked(name)
    engine = Engine(name, spec.region.state, {})
    found = [_plan(engine, spec, stack, diff=diff) for stack in stack_names(spec)]
    if output is Format.JSON:
        stacks = [preview_view.to_json(run) | {"held": held_view.to_json(plan.held, plan.word)} for plan, run in found]
        print_json({"environment": name, "stacks": stacks})
    else:
        for _, run in found:
            preview_view.show(stdout(), run, diff=diff)
    plan_checks.require_words(name, [plan for plan, _ in found], ())


def _plan(engine: Engine, environment: Environment, stack: str, *, diff: bool) -> tuple[Plan, Run]:
    ready = engine.look(stack)
    plan_checks.require_writers(engine, ready)
    options = ("--diff",) if diff else ()
    with previewing(engine, ready) as able:
        run = previewed(able, stack, *options, title=f"preview of {stack}", resume="preview")
    return plan_checks.judged(run, environment), run
