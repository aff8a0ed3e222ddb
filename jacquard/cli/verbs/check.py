"""``jacquard check``: checks of data and policies without an engine or a cluster."""

import datetime as dt
import time
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated, Any

import typer

from components.reports.canaries import large_canaries
from components.reports.caveats import caveats
from components.reports.contracts import unmet_contracts
from components.reports.control_planes import outdated_control_planes
from components.reports.hosts.states import overdue_hosts
from components.reports.images import all_behind
from components.reports.unused import unused
from components.rules import checks
from components.specs.reading.cycle_collector import without_cycle_collector
from components.specs.reading.problems import SpecError
from components.specs.reading.secret_finds import secrets_in_files
from jacquard.cli import arguments, data
from jacquard.cli.console import plural, print_json, print_text
from jacquard.cli.errors import ExitCode
from jacquard.cli.views.check_result import Result
from jacquard.machine import paths, settings
from policies import Judgement, judge, levels


class CheckFormat(StrEnum):
    """Output format of ``check``."""

    TEXT = "text"
    JSON = "json"
    SARIF = "sarif"
    """Format for code scanning: each problem with its line."""


def check(
    environments: arguments.Envs = None,
    *,
    output: Annotated[CheckFormat, typer.Option("--format", help="Output format.")] = CheckFormat.TEXT,
    today: arguments.TodayOption = None,
    fix: Annotated[
        bool, typer.Option("--fix", help="First fix unambiguous mistakes in the files, and print each fix.")
    ] = False,
    diff: Annotated[bool, typer.Option("--diff", help="Write nothing; show the edits of --fix as a diff.")] = False,
) -> None:
    """Check data and policies, without an engine or a cluster.

    Prints one line for each environment, or a report of all its problems. Environments are also compared with each
    other: regions must not share a host, nor numbers on the same backbone. A single environment is compared with the
    inventories of the others. Exits with 2 if data are wrong, and with 4 if only a policy refuses them.

    With --fix, unambiguous values are first corrected in the files: bits beyond a prefix, MAC addresses, line endings,
    missing or superfluous quotes. Comments, layout and lock files stay unchanged. The exit code is for the remaining
    problems; with --diff, for the files as they are.
    """
    now = today.replace(tzinfo=dt.UTC) if today else settings.now()
    names = data.chosen(environments)
    if fix or diff:
        mend(names, write=not diff)
    results = [examine(name, now) for name in names]
    results = compared(results) if len(names) == len(data.names()) else beside(compared(results))
    match output:
        case CheckFormat.JSON:
            print_json([result.to_json() for result in results])
        case CheckFormat.SARIF:
            print_json(_sarif(results))
        case CheckFormat.TEXT:
            _report(results)
    codes = {result.code for result in results}
    for code in (ExitCode.BAD_DATA, ExitCode.REFUSED):
        if code in codes:
            raise typer.Exit(code)


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


@without_cycle_collector()
def examine(name: str, now: dt.datetime) -> Result:
    """Return the result of checking the environment ``name`` alone at ``now``."""
    started = time.monotonic()
    try:
        spec = data.load(name)
        problems = tuple(sorted((*checks.check(spec), *levels.problems(spec, now))))
        judgement = Judgement() if problems else judge(spec, now)
    except SpecError as error:
        return Result(name=name, duration_seconds=time.monotonic() - started, problems=error.problems)
    return Result(
        name=name,
        duration_seconds=time.monotonic() - started,
        spec=spec,
        problems=problems,
        judgement=judgement,
        behind=() if problems else all_behind(spec),
        control_planes=() if problems else outdated_control_planes(spec),
        unmet=() if problems else tuple(unmet_contracts(spec)),
        caveats=() if problems else tuple(caveats(spec)),
        canaries=() if problems else tuple(large_canaries(spec)),
        overdue=() if problems else tuple(overdue_hosts(spec, now)),
        secrets=() if problems else tuple(secrets_in_files(paths.environments(), name)),
        unused=() if problems else tuple(unused(spec)),
    )


def compared(results: Sequence[Result]) -> list[Result]:
    """Return ``results`` with the problems between their environments."""
    between = checks.check_regions([result.spec for result in results if result.spec])
    return [replace(result, problems=(*result.problems, *between.get(result.name, ()))) for result in results]


def beside(results: Sequence[Result]) -> list[Result]:
    """Return ``results`` with conflicts with the inventories of environments that are not checked."""
    folder = paths.environments()
    conflicts = {result.name: checks.check_neighbours(result.spec, folder) for result in results if result.spec}
    return [
        replace(result, problems=tuple(dict.fromkeys((*result.problems, *conflicts.get(result.name, ())))))
        for result in results
    ]


def _report(results: Sequence[Result]) -> None:
    for result in results:
        print_text(str(result), to_stderr=result.code is not ExitCode.OK)
    if len(results) > 1:
        good = sum(result.code is ExitCode.OK for result in results)
        problems = sum(len(result.problems) for result in results)
        violations = sum(len(result.judgement.refused) for result in results)
        waived = sum(result.judgement.waived_count for result in results)
        parts = [f"{good} ok"]
        parts += [plural(problems, "problem")] if problems else []
        parts += [plural(violations, "policy violation")] if violations else []
        parts += [f"{waived} waived"] if waived else []
        print_text(f"{plural(len(results), 'environment')}: {', '.join(parts)}")


def _sarif(results: Sequence[Result]) -> dict[str, Any]:
    """Return the report for code scanning."""
    from jacquard.cli.views.changes import sarif  # noqa: PLC0415 - only for this format, and takes time to load

    folder = paths.environments().name
    findings = []
    for result in results:
        home = f"{folder}/{result.name}"
        findings += [sarif.of_problem(problem, home) for problem in result.problems]
        if result.spec:
            findings += sarif.of_judgement(result.judgement, result.spec, home)
        advice = (*result.secrets, *result.unused)
        findings += [replace(sarif.of_problem(item, home), level="warning") for item in advice]
    return sarif.report(findings)
