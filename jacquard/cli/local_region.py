"""The local region of a rehearsal, by its own command: ``python -m jacquard.lab.rehearsal``."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from components.render.manifest import MANAGEMENT
from components.specs.environment import Environment
from jacquard.cli.errors import Stop
from jacquard.machine import paths


def clusters(environment: Environment) -> list[str]:
    """Return the clusters of an environment, the management cluster first."""
    return [MANAGEMENT, *(cluster.name for tenant in environment.tenants for cluster in tenant.clusters)]


def revive(environment: Environment, variables: Mapping[str, str]) -> None:
    """Start whatever has died since the stack made it (a restart of the machine, a crash); harmless where all runs.

    Raises:
        Stop: a cluster cannot be started; all reasons are told.
    """
    with ThreadPoolExecutor() as pool:
        results = list(
            pool.map(lambda name: _call(["up", environment.name, "--cluster", name], variables), clusters(environment))
        )
    failures = [reason for reason in results if reason]
    if failures:
        msg = "\n".join(dict.fromkeys(failures))
        raise Stop(msg)


def remove(environment: str, variables: Mapping[str, str] = os.environ) -> None:
    """Stop and remove everything of a local region; harmless where nothing is.

    Raises:
        Stop: something is left.
    """
    failure = _call(["down", environment], variables)
    if failure:
        raise Stop(failure)


def _call(arguments: Sequence[str], variables: Mapping[str, str]) -> str:
    """Return why a command failed; empty when it did not."""
    done = subprocess.run(
        _command(arguments), cwd=paths.project(), env=dict(variables), capture_output=True, text=True, check=False
    )
    return (done.stderr or done.stdout).strip() if done.returncode else ""


def _command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-P", "-m", "jacquard.lab.rehearsal", *arguments]
