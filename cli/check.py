"""``jacquard check``: everything that can be said about data without an engine or a cluster."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import typer
from rich.text import Text

from cli import arguments, data
from cli.console import Format, plural, print_json, seconds, stderr, stdout
from cli.errors import ExitCode, Stop
from components.plan.manifests import manifests
from components.plan.slices import slices
from components.render.manifest import objects
from components.specs.environment import Environment
from components.specs.problems import SpecError
from policies.check import judge
from policies.rules import RULES
from policies.verdict import Violation
from toolchain import paths


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """What one environment came to."""

    environment: str
    objects: int
    duration_seconds: float
    error: SpecError | None = None
    violations: tuple[Violation, ...] = ()

    @property
    def code(self) -> ExitCode:
        """Return the exit code that this result alone would give."""
        if self.error:
            return ExitCode.BAD_DATA
        return ExitCode.REFUSED if self.violations else ExitCode.OK

    def __str__(self) -> str:
        if self.error:
            return str(self.error)
        took = seconds(self.duration_seconds)
        if self.violations:
            texts = "\n".join(f"  {line}" for item in self.violations for line in str(item).splitlines())
            return f"{self.environment}: {plural(len(self.violations), 'policy violation')}, {took}\n{texts}"
        rules = plural(len(RULES), "policy", "policies")
        return f"{self.environment}: ok, {plural(self.objects, 'object')}, {rules}, {took}"

    def to_json(self) -> dict[str, Any]:
        """Return the result as data."""
        return {
            "environment": self.environment,
            "ok": self.code is ExitCode.OK,
            "objects": self.objects,
            "policies": len(RULES),
            "seconds": round(self.duration_seconds, 3),
            "problems": self.error.to_json()["problems"] if self.error else [],
            "violations": [
                {"policy": item.rule.name, "object": item.fact.title, "text": str(item)} for item in self.violations
            ],
        }


def check(environments: arguments.Envs = None, output: arguments.FormatOption = Format.HUMAN) -> None:
    """Check data and policies; no engine, no cluster.

    Prints one line for each environment, or the report of all its problems. Ends with 2 when data is wrong, with 4
    when only a policy refuses it.
    """
    chosen = [data.known(name) for name in environments or data.names()]
    if not chosen:
        msg = f"there is no environment in {paths.environments()}; an environment is a folder with a region.yaml"
        raise Stop(msg, ExitCode.BAD_DATA)
    results = [examine(name) for name in chosen]
    if output is Format.JSON:
        print_json([result.to_json() for result in results])
    else:
        for result in results:
            console = stdout() if result.code is ExitCode.OK else stderr()
            console.print(Text(str(result)), soft_wrap=True)
    codes = {result.code for result in results}
    for code in (ExitCode.BAD_DATA, ExitCode.REFUSED):
        if code in codes:
            raise typer.Exit(code)


def refuse(environment: Environment) -> None:
    """Pass when the policies let ``environment`` pass: nothing of a refused one is applied, not even its sound parts.

    Raises:
        Stop: with REFUSED and all violations.
    """
    found = judge(environment)
    if found:
        texts = "\n".join(str(item) for item in found)
        msg = f"{environment.name}: {plural(len(found), 'policy violation')}, nothing was applied\n{texts}"
        raise Stop(msg, ExitCode.REFUSED)


def examine(name: str) -> Result:
    """Return what the environment ``name`` comes to."""
    started = time.monotonic()
    try:
        environment = data.checked(name)
    except SpecError as error:
        return Result(environment=name, objects=0, duration_seconds=time.monotonic() - started, error=error)
    violations = tuple(judge(environment))
    return Result(
        environment=name,
        objects=count(environment),
        duration_seconds=time.monotonic() - started,
        violations=violations,
    )


def count(environment: Environment) -> int:
    """Return how many Kubernetes objects an environment renders, members of sets included."""
    return sum(1 for piece in slices(environment) for _ in objects(manifests(environment, piece)))
