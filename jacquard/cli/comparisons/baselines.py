"""Baseline of known violations in ``jacquard check``: tolerates them, and reports entries of fixed ones."""

from collections.abc import Sequence
from pathlib import Path

from components.specs.reading.problems import SpecError
from jacquard.cli.console import plural, print_text
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.outputs import write
from jacquard.cli.views.check_result import CheckResult
from policies.baseline import MARK, Baseline

_OPTION = "--baseline"
_MAX_SHOWN = 10


def against_baseline(results: Sequence[CheckResult], file: Path, *, shrink: bool) -> tuple[list[CheckResult], str]:
    """Return ``results`` without the violations that ``file`` lists, and the error about entries of fixed violations.

    Args:
        results: results of all checked environments.
        file: baseline.
        shrink: whether to create a missing file, and to remove entries of fixed violations from an existing one.

    Raises:
        Stop: the file is missing, or no baseline.
    """
    if shrink and not file.exists():
        baseline = Baseline.of(item for result in results for item in result.results)
        write(_OPTION, file, str(baseline), MARK)
        print_text(f"{file}: {plural(len(baseline.entries), 'known violation')} written", to_stderr=True)
    baseline = _read(file)
    known = {result.name: list(baseline.known(result.results)) for result in results}
    judged = {result.name for result in results if result.is_judged}
    fixed = baseline.fixed((item for items in known.values() for item in items), judged)
    if shrink and fixed:
        write(_OPTION, file, str(baseline.without(fixed)), MARK)
        print_text(f"{file}: {plural(len(fixed), 'fixed violation')} removed", to_stderr=True)
        fixed = []
    lines = ", ".join(str(line) for _, line in fixed[:_MAX_SHOWN])
    more = f" and {len(fixed) - _MAX_SHOWN} more" if len(fixed) > _MAX_SHOWN else ""
    error = (
        f"{file}: no violation matches line {lines}{more}; delete these lines, or add --write-baseline to do so"
        if fixed
        else ""
    )
    return [result.since(known[result.name]) for result in results], error


def _read(file: Path) -> Baseline:
    try:
        return Baseline.read(str(file), file.read_text(encoding="utf-8"))
    except SpecError as error:
        first = error.problems[0]
        msg = f"{_OPTION} {file}:{first.line} {first.where}{first.text}"
        raise Stop(msg, ExitCode.BAD_DATA) from None
    except (OSError, UnicodeDecodeError) as error:
        msg = f"{_OPTION} {file}: cannot be read ({error}); create it with --write-baseline"
        raise Stop(msg, ExitCode.BAD_DATA) from None


def refuse_contradictions(*, base: str | None, baseline: Path | None, write_baseline: bool) -> None:
    """Reject options that cannot be combined.

    Raises:
        Stop: there are such options.
    """
    if base is not None and baseline is not None:
        msg = f"{_OPTION}: cannot be combined with --base, which also names the tolerated violations; omit one of them"
        raise Stop(msg, ExitCode.BAD_DATA)
    if write_baseline and baseline is None:
        msg = f"--write-baseline: requires {_OPTION} FILE, the file to write"
        raise Stop(msg, ExitCode.BAD_DATA)
