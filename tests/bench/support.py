"""The helpers of the tests, for benchmarks, which are started as commands of their own."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent / "support"))

from api_server import LocalApiServer
from environment_data import ENVIRONMENTS
from grown_region import grow
from piped import piped

__all__ = ["ENVIRONMENTS", "LocalApiServer", "grow", "piped"]
