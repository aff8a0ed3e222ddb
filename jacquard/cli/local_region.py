"""Control of the local region of a rehearsal by the command ``python -m jacquard.lab.rehearsal``."""

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
    """Start processes of the clusters that exited after a crash or a restart of the machine; idempotent.

    Raises:
        Stop: clusters cannot be started; contains all reasons.
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
    """Stop and delete all clusters and processes of a local region; idempotent.

    Raises:
        Stop: something could not be removed.
    """
    failure = _call(["down", environment], variables)
    if failure:
        raise Stop(failure)


def monitoring(environment: str, variables: Mapping[str, str]) -> str:
    """Return the addresses of the monitoring of a local region once it works; empty without monitoring.

    Raises:
        Stop: it does not work.
    """
    if not (paths.region(environment) / paths.MONITORING).is_dir():
        return ""
    done = _done(["monitoring", environment], variables)
    if done.returncode:
        raise Stop(done.stderr.strip())
    return done.stdout.strip()


def _call(arguments: Sequence[str], variables: Mapping[str, str]) -> str:
    """Return the error output of a command; empty if it succeeded."""
    done = _done(arguments, variables)
    return (done.stderr or done.stdout).strip() if done.returncode else ""


def _done(arguments: Sequence[str], variables: Mapping[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        _command(arguments), cwd=paths.project(), env=dict(variables), capture_output=True, text=True, check=False
    )


def _command(arguments: Sequence[str]) -> list[str]:
    return [sys.executable, "-P", "-m", "jacquard.lab.rehearsal", *arguments]
