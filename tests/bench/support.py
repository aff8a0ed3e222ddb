"""Helpers of the tests for benchmarks, which are separate commands."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2]))

from tests.support.api_servers.api_server import LocalApiServer
from tests.support.api_servers.herd import Herd, Return, users
from tests.support.api_servers.hosted_api_server import HostedApiServer
from tests.support.api_servers.steady_clients import PROBES, PROTECTED
from tests.support.data.environment_data import ENVIRONMENTS, reference
from tests.support.data.multiplied_region import multiply
from tests.support.data.scaled_region import region_of
from tests.support.engine.state_stores import S3, Postgres, StateStore
from tests.support.local_regions.large_changes import ImageWave, outage
from tests.support.local_regions.local_region import JACQUARD, LocalRegion, deleted_at_exit, wait_until
from tests.support.local_regions.region_figures import Figures, figures, meanwhile
from tests.support.machine.captured_commands import start_captured
from tests.support.machine.programs import Programs
from tests.support.monitoring.victoria_stores import is_healthy, request

__all__ = [
    "ENVIRONMENTS",
    "JACQUARD",
    "PROBES",
    "PROTECTED",
    "S3",
    "Figures",
    "Herd",
    "HostedApiServer",
    "ImageWave",
    "LocalApiServer",
    "LocalRegion",
    "Measured",
    "Postgres",
    "Programs",
    "Return",
    "StateStore",
    "deleted_at_exit",
    "figures",
    "is_healthy",
    "meanwhile",
    "measured",
    "multiply",
    "outage",
    "reference",
    "region_of",
    "request",
    "start_captured",
    "users",
    "wait_until",
]

# Through a small process, since a child's peak starts at that of the process it was forked from.
_SMALL = """
import resource, subprocess, sys, time
start = time.perf_counter()
done = subprocess.run(sys.argv[1:], check=True, stdout=subprocess.PIPE)
seconds, used = time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN)
print(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss, flush=True)
sys.stdout.buffer.write(done.stdout)
"""


@dataclass(frozen=True, slots=True)
class Measured:
    """Measurements of a whole command."""

    seconds: float
    processor_seconds: float
    megabytes: float
    """Peak memory in MB."""
    output: str


def measured(*command: str) -> Measured:
    """Run a command until it exits."""
    answer = subprocess.run([sys.executable, "-c", _SMALL, *command], check=True, capture_output=True, text=True)
    figures, _, output = answer.stdout.partition("\n")
    seconds, processor, peak = map(float, figures.split())
    return Measured(seconds, processor, peak / (1e6 if sys.platform == "darwin" else 1e3), output)
