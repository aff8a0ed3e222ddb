"""Commands that a test starts, with captured output."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from pathlib import Path


def start_captured(*command: str, folder: Path, variables: Mapping[str, str]) -> subprocess.Popen[str]:
    """Start ``command`` without input in a new session, so that killing its process group ends all child processes."""
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
