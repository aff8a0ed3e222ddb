"""Commands that a test starts, with their output caught."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path


def piped(*command: str, folder: Path, variables: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start ``command`` without input, in a session of its own: who ends its group ends all that it started."""
    return subprocess.Popen(
        command,
        cwd=folder,
        env=variables,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
