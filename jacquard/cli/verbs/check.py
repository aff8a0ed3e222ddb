"""``jacquard check``: checks of data and policies without an engine or a cluster."""

import datetime as dt
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.reports.canaries import large_canaries
from components.reports.caveats import caveats
from components.reports.contracts import ended_contracts, unmet_contracts
from components.reports.control_planes import outdated_control_planes
from components.reports.hosts.states import overdue_hosts
from components.reports.images import all_behind
from components.reports.unused import unused
from components.rules import checks
from components.specs.cycle_collector import without_cycle_collector
from components.specs.reading.fleet import NAME as FLEET
from components.specs.reading.fleet import Fleet, load_fleet
from components.specs.reading.loader import environments
from components.specs.reading.problems import Problem, SpecError
from components.specs.reading.secret_finds import secrets_in_files
from jacquard.cli import arguments, data
from jacquard.cli.comparisons.baselines import against_baseline, refuse_contradictions
from jacquard.cli.console import ResultFormat, plural, print_json, print_text
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.judging import judging
from jacquard.cli.views.check_result import CheckResult
from jacquard.cli.views.rules import rules
from jacquard.machine import paths, settings
from policies import Judgement, judge, levels
from policies.results import of_problem

if TYPE_CHECKING:
    from jacquard.audits.data import JudgedData


def check(
    chosen: arguments.Envs = None,
    *,
    output: arguments.ResultFormatOption = ResultFormat.TEXT,
    today: arguments.TodayOption = None,
    base: Annotated[
        str | None,
        typer.Option(
            "--base",
            metavar="REF",
            help="Tolerate violations that the merge base with this commit has, unless they are critical.",
        ),
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(
            "--baseline", metavar="FILE", help="Tolerate the violations that this file lists, unless they are critical."
        ),
    ] = None,
    write_baseline: Annotated[
        bool,
        typer.Option(
            "--write-baseline", help="Create the file of --baseline, or remove its entries of fixed violations."
        ),
    ] = False,
    fix: Annotated[
        bool, typer.Option("--fix", help="First fix unambiguous mistakes in the files, and print each fix.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; show the edits of --fix as a diff.")] = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="Refuse violations of new rules before the end of their advisory period.")
    ] = False,
) -> None:
    """Check data and policies, without an engine or a cluster.

    Prints one line for each environment, or a report of all its problems. Environments are also compared with each
    other and with fleet.yaml: regions must not share a host, nor numbers on the same backbone. A single environment is
    compared with the inventories of the others. Exits with 2 if data are wrong, and with 4 if only a policy refuses
    them.

    With --base, the change is checked too, such as a host that changes its state. A violation that also blocks the base
    is reported as existing and does not block, unless it is of a critical policy or of a rule that cannot be waived.
    Use it for changes after an upgrade with new rules.

    With --baseline, the same applies to the violations that a file lists. An entry without a violation is an error, so
    that the file only shrinks: remove it, or use --write-baseline, which also creates the file and never adds entries.

    A new rule can have an advisory period: until its end, violations are warnings and do not change the exit code. With
    --strict, they are errors already.

    With --fix, unambiguous values are first corrected in the files: bits beyond a prefix, MAC addresses, line endings,
    missing or superfluous quotes. Comments, layout and lock files stay unchanged. The exit code is for the remaining
    problems; with --diff, for the files as they are.
    """
    now = today.replace(tzinfo=dt.UTC) if today else settings.now()
    day = dt.date.max if strict else now.astimezone(dt.UTC).date()
    names = data.chosen(chosen)
    refuse_contradictions(base=base, baseline=baseline, write_baseline=write_baseline)
    if fix or diff:
        mend(names, write=not diff)
    with without_cycle_collector(), judging("check", output, names, rules) as judged:
        results = compared([examine(name, now, day, lenient=bool(base or baseline)) for name in names], day)
        results = in_fleet(results, day) if len(names) == len(data.names()) else beside(results, day)
        if base is not None:
            results = since(results, base, now, day)
        fixed = ""
        if baseline is not None:
            results, fixed = against_baseline(results, baseline, shrink=write_baseline)
        judged.add(item for result in results for item in result.results)
        _print(results, output)
        if fixed:
            raise Stop(fixed, ExitCode.BAD_DATA)
    if judged.code is not ExitCode.OK:
        raise typer.Exit(judged.code)


def _print(results: Sequence[CheckResult], output: ResultFormat) -> None:
    if output is ResultFormat.JSON:
        print_json([result.to_json() for result in results])
    elif output in (ResultFormat.TEXT, ResultFormat.GITHUB, ResultFormat.GITLAB):
        _report(results, to_stderr=output is not ResultFormat.TEXT)  # annotations do not replace the report in a log


def mend(names: Sequence[str], *, write: bool) -> None:
    """Apply or show unambiguous fixes in the files of the environments ``names`` and of their catalogue."""
    # These modules take time to load, and only --fix and --diff need them.
    from components.specs.reading.fixes import fixed_files  # noqa: PLC0415
    from jacquard.cli.views.fixes import diff_text, fix_lines  # noqa: PLC0415

    folder = paths.environments()
    with data.editing("check --fix", *names, dry_run=not write) as edit:
        files = {item.path: (name, item) for name in names for item in fixed_files(folder, name)}
        if write:
            edit.write({path: item.after for path, (_, item) in files.items()})
    for name, item in files.values():
        home = f"{folder.name}/{name}"
        lines = fix_lines(item, home) if write else diff_text(item, home)
        print_text("\n".join(lines), to_stderr=True)
    if write and files:
        count = sum(len(item.fixes) for _, item in files.values())
        print_text(f"{plural(count, 'fix', 'fixes')} applied to {plural(len(files), 'file')}", to_stderr=True)


def examine(name: str, now: dt.datetime, day: dt.date, *, lenient: bool = False) -> CheckResult:
    """Return the result of checking the environment ``name`` alone at ``now``.

    Policies are evaluated if the data have no error or, with ``lenient``, only errors that waivers may permit.

    Args:
        name: name of the environment.
        now: time of the judgement, with a time zone.
        day: day that decides whether violations of new rules are warnings: that of ``now``. With `dt.date.max`, none
            are.
        lenient: whether violations are compared with known ones.
    """
    started, day_of_now = time.monotonic(), now.astimezone(dt.UTC).date()
    try:
        spec = data.load(name)
        found = levels.all_problems(spec, now)
        problems = checks.errors(found, day)
        critical = [item for item in problems if not lenient or of_problem(name, item).critical]
        judgement = Judgement() if critical else judge(spec, now, is_strict=day == dt.date.max)
    except SpecError as error:
        return CheckResult(name=name, duration_seconds=time.monotonic() - started, problems=error.problems)
    result = CheckResult(
        name=name,
        duration_seconds=time.monotonic() - started,
        spec=spec,
        judgement=judgement,
        behind=() if problems else all_behind(spec),
        control_planes=() if problems else outdated_control_planes(spec),
        unmet=() if problems else tuple(unmet_contracts(spec, day_of_now)),
        ended=() if problems else tuple(ended_contracts(spec, day_of_now)),
        caveats=() if problems else tuple(caveats(spec)),
        canaries=() if problems else tuple(large_canaries(spec)),
        overdue=() if problems else tuple(overdue_hosts(spec, now)),
        secrets=() if problems else tuple(secrets_in_files(paths.environments(), name)),
        unused=() if problems else tuple(unused(spec)),
    )
    return result.found(found, day)


def compared(results: Sequence[CheckResult], day: dt.date) -> list[CheckResult]:
    """Return ``results`` with the problems between their environments."""
    between = checks.check_regions([result.spec for result in results if result.spec])
    return [result.found(between.get(result.name, ()), day) for result in results]


def in_fleet(results: Sequence[CheckResult], day: dt.date) -> list[CheckResult]:
    """Return ``results`` of all environments with the problems of the fleet, and a result for problems of no region."""
    try:
        known = load_fleet(paths.environments())
        specs = [result.spec for result in results if result.spec]
        found: Mapping[str, Sequence[Problem]] = checks.check_fleet(known, specs)
    except SpecError as error:
        found = {error.environment: error.problems}
    return _with_shared([item.found(found.get(item.name, ()), day) for item in results], found.get(FLEET, ()), day)


def _with_shared(results: Sequence[CheckResult], problems: Sequence[Problem], day: dt.date) -> list[CheckResult]:
    """Return ``results`` with ``problems`` of no region."""
    others = [item for item in results if item.name != FLEET]
    shared = next((item for item in results if item.name == FLEET), CheckResult(name=FLEET, duration_seconds=0.0))
    shared = shared.found(problems, day)
    return [*others, shared] if shared.problems or shared.warnings else others


def beside(results: Sequence[CheckResult], day: dt.date) -> list[CheckResult]:
    """Return ``results`` with conflicts with the inventories of environments that are not checked."""
    folder = paths.environments()
    conflicts = {result.name: checks.check_neighbours(result.spec, folder) for result in results if result.spec}
    return [result.found(conflicts.get(result.name, ()), day) for result in results]


def since(results: Sequence[CheckResult], ref: str, now: dt.datetime, day: dt.date) -> list[CheckResult]:
    """Return ``results`` without the violations that the merge base with ``ref`` has too; see `CheckResult.since`.

    Raises:
        Stop: there is no such commit, or this version cannot read its data.
    """
    # These modules load git and the comparison of commits, and only --base needs them.
    from jacquard.audits.data import judged_data  # noqa: PLC0415
    from jacquard.cli.comparisons.base_comparison import base_of  # noqa: PLC0415

    names, checked = data.names(), {item.name for item in results}
    with base_of(ref) as base:
        removed = {*environments(base.environments)} - {*names} if checked >= {*names} else set()
        known = [name for name in environments(base.environments) if name in checked | removed]
        before = {name: judged_data(base.environments, name, now, day) for name in known}
    for name, judged in before.items():
        if judged.environment is None:
            first = judged.results[0]
            reason = f"{first.file}:{first.line}: {first.text}"
            msg = f"--base: this version cannot read {name} in {base.commit} ({reason}); pass a later commit"
            raise Stop(msg, ExitCode.BAD_DATA)
    fleet = checks.valid_fleet(paths.environments())
    changed = [
        _with_change(item, fleet, before[item.name], now, day) if item.name in before else item for item in results
    ]
    found = checks.check_removed([judged.environment for judged in before.values() if judged.environment], names)
    changed = _with_shared(changed, found, day)
    return [item.since(before[item.name].results if item.name in before else ()) for item in changed]


def _with_change(
    result: CheckResult, fleet: Fleet | None, base: "JudgedData", now: dt.datetime, day: dt.date
) -> CheckResult:
    """Return ``result`` with the problems of its change from ``base``.

    Rules about changes expect that both sides can be applied.
    """
    if base.environment is None or result.spec is None:
        return result
    problems = checks.check_growth(fleet, base.environment, result.spec)
    if not any(item.critical for item in (*base.results, *result.results)):
        problems += checks.check_change(base.environment, result.spec, now.astimezone(dt.UTC).date())
    return result.found(problems, day)


def _report(results: Sequence[CheckResult], *, to_stderr: bool = False) -> None:
    for result in results:
        print_text(str(result), to_stderr=to_stderr or result.code is not ExitCode.OK)
    if len(results) > 1:
        good = sum(result.code is ExitCode.OK for result in results)
        problems = sum(len(result.problems) for result in results)
        violations = sum(len(result.judgement.refused) for result in results)
        warnings = sum(result.warning_count for result in results)
        waived = sum(result.judgement.waived_count for result in results)
        parts = [f"{good} ok"]
        parts += [plural(problems, "problem")] if problems else []
        parts += [plural(violations, "policy violation")] if violations else []
        parts += [plural(warnings, "warning")] if warnings else []
        parts += [f"{waived} waived"] if waived else []
        count = sum(result.name != FLEET for result in results)
        print_text(f"{plural(count, 'environment')}: {', '.join(parts)}", to_stderr=to_stderr)
