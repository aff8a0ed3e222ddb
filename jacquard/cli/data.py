"""Loading and checking of environments for commands."""

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from components.rules.checks import check, check_neighbours, errors, warnings
from components.rules.pools.rollouts import mixed
from components.rules.rule import rule_name
from components.specs.environment import Environment
from components.specs.reading.loader import CATALOG, load_environment
from components.specs.reading.loader import environments as environment_names
from components.specs.reading.problems import Problem, SpecError
from components.specs.region.evidence import Evidence, EvidenceError, read_evidence
from jacquard.cli.errors import ExitCode, Stop, show, unknown
from jacquard.machine import edits, paths, pins, settings
from jacquard.machine.edits import Edit
from jacquard.machine.errors import explained
from stacks.extensions import joined


def names() -> list[str]:
    """Return the names of the environments.

    Raises:
        SettingError: there is no project, or it pins another version of Jacquard.
    """
    pins.check()
    return environment_names(paths.environments())


def known(name: str) -> str:
    """Return ``name`` if it is the name of an environment.

    Raises:
        Stop: there is no such environment.
    """
    if name not in names():
        remedy = f"an environment is a folder of {paths.environments()} with a region.yaml"
        raise unknown(name, names(), what="environment", remedy=remedy)
    return name


def chosen(named: Sequence[str] | None) -> list[str]:
    """Return the named environments without duplicates, or all environments.

    Raises:
        Stop: a named environment does not exist, or there are no environments.
    """
    environments = [known(name) for name in dict.fromkeys(named or names())]
    if not environments:
        msg = f"{paths.environments()} contains no environment; an environment is a folder with a region.yaml"
        raise Stop(msg, ExitCode.BAD_DATA)
    return environments


def load(name: str) -> Environment:
    """Return an environment without checks across its files.

    Raises:
        Stop: there is no such environment.
        SpecError: a file is wrong; contains all problems.
    """
    return joined(load_environment(known(name), paths.environments()))


def checked(name: str) -> Environment:
    """Return an environment that can be applied.

    Raises:
        Stop: there is no such environment.
        SpecError: the data are wrong; contains all problems.
    """
    return _valid(name)[0]


def comparable(name: str) -> Environment:
    """Return an environment that can be applied, except that pools may have mixed pins.

    Raises:
        Stop: there is no such environment.
        SpecError: the data have other problems; contains all of them.
    """
    return comparable_with_warnings(name)[0]


def comparable_with_warnings(name: str) -> tuple[Environment, list[Problem]]:
    """Return an environment as `comparable` does, and its warnings of new rules.

    Raises:
        Stop: there is no such environment.
        SpecError: the data have other problems; contains all of them.
    """
    return _valid(name, rule_name(mixed))


def evidence(path: Path) -> Evidence:
    """Return the evidence in a file of the option ``--evidence``.

    Raises:
        Stop: the file cannot be read, or is not the output of ``jacquard status``.
    """
    try:
        return read_evidence(str(path), path.read_bytes())
    except EvidenceError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None
    except OSError as error:
        msg = f"--evidence {explained(error)}; name a file with the output of 'jacquard status ENV --format json'"
        raise Stop(msg, ExitCode.BAD_DATA) from None


def editing(verb: str, *environments: str, dry_run: bool = False) -> AbstractContextManager[Edit]:
    """Lock the data for an edit of ``environments`` by ``verb``; load them inside the block.

    With ``dry_run``, nothing is locked, because nothing is written.

    Raises:
        ToolchainError: another edit did not end in time.
    """
    return editing_in(paths.environments(), verb, *environments, dry_run=dry_run)


@contextmanager
def editing_in(folder: Path, verb: str, *environments: str, dry_run: bool = False) -> Iterator[Edit]:
    """Lock the data in ``folder`` (all environments) as `editing` does."""

    def waiting(holder: str) -> None:
        show(f"waiting for {holder or 'another command'}", "note")

    if dry_run:
        yield Edit(folder, ())
        return
    with edits.editing(folder, (*environments, CATALOG), verb, waiting) as edit:
        yield edit


def _valid(name: str, *tolerated: str) -> tuple[Environment, list[Problem]]:
    environment, today = load(name), settings.today()
    problems = [problem for problem in check(environment) if problem.rule not in tolerated]
    problems += check_neighbours(environment, paths.environments())
    if blocking := errors(problems, today):
        raise SpecError(environment.name, blocking)
    return environment, warnings(problems, today)
