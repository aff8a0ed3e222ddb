"""Results of rules of one command: its exit code, and its output as SARIF, JUnit or annotations."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from components.specs.reading.problems import ArgumentError, SpecError
from jacquard.cli.console import RESULT_FORMATS, answered, json_text, write_text
from jacquard.cli.errors import ExitCode, Refusal, Stop, known
from jacquard.cli.views.results.codes import exit_code
from policies import extensions
from policies.result_data import to_json
from policies.results import Result, of_problem


@dataclass(slots=True, kw_only=True)
class Judged:
    """Environments that a command judges, and the results so far."""

    command: str
    environments: Sequence[str] = ()
    rules: Callable[[], Iterable[str]] = tuple
    """Returns the names of all rules that the command evaluates."""
    results: list[Result] = field(default_factory=list)
    failure: str | None = None
    """Reason why not everything could be judged."""

    @property
    def category(self) -> str:
        """Return the category for code scanning, which replaces only results of the same category.

        Audits of several environments run in separate jobs.
        """
        return "-".join((self.command, *self.environments)) if self.command == "audit" else self.command

    def add(self, results: Iterable[Result]) -> None:
        """Append results."""
        self.results += results

    @property
    def code(self) -> ExitCode:
        """Return the exit code of the results so far."""
        return exit_code(self.results)

    def to_json(self, **answer: Any) -> dict[str, Any]:
        """Return the document of a command: its ``answer`` and the results."""
        return answer | {"results": to_json(self.results)}


def policies() -> list[str]:
    """Return the names of all policies."""
    return [rule.name for rule in extensions.rules()]


@contextmanager
def judging(
    command: str, output: str, environments: Sequence[str] = (), rules: Callable[[], Iterable[str]] = tuple
) -> Iterator[Judged]:
    """Collect the results of a command, and print them at the end if ``output`` is a format for results.

    Failures are results too: invalid data and refusals with their problems, and others as a failure of the command.

    Args:
        command: name of the command.
        output: value of ``--format``.
        environments: names of the judged environments.
        rules: returns the names of all rules that the command evaluates.
    """
    judged = Judged(command=command, environments=environments, rules=rules)
    try:
        yield judged
    except Exception as failure:
        judged.add(_of_failure(failure))
        if not judged.results or not isinstance(failure, SpecError | Refusal):
            judged.failure = str(failure) if known(failure) else judged.failure
        _print(judged, output)
        raise
    _print(judged, output)


def _of_failure(failure: Exception) -> Iterator[Result]:
    """Yield the results in a failure, also of each stack of several."""
    match failure:
        case ArgumentError():
            return
        case SpecError():
            yield from (of_problem(failure.environment, problem) for problem in failure.problems)
        case Refusal():
            yield from failure.results
        case Stop():
            for cause in failure.causes:
                yield from _of_failure(cause)


def _print(judged: Judged, output: str) -> None:
    """Print the results; every format masks secrets."""
    if output not in RESULT_FORMATS or answered.get():
        return
    # These modules take time to load, and only one of them is used.
    match output:
        case "sarif":
            from jacquard.cli.views.results import sarif  # noqa: PLC0415

            write_text(json_text(sarif.report(judged.results, judged.category, judged.failure)))
        case "junit":
            from jacquard.cli.views.results import junit  # noqa: PLC0415

            write_text(
                junit.report(judged.results, judged.command, judged.environments, judged.rules(), judged.failure)
            )
        case "gitlab":
            from jacquard.cli.views.results import gitlab  # noqa: PLC0415

            write_text(json_text(gitlab.report(judged.results, judged.command, judged.failure)))
        case _:
            from jacquard.cli.views.results import github  # noqa: PLC0415

            write_text("".join(f"{line}\n" for line in github.lines(judged.results, judged.command, judged.failure)))
