"""The setup compiles all modules that the engine's processes import, so that they compile nothing themselves."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

STARTED = (
    "jacquard.cli.verbs.preview",
    "policies.pack.analyzer",
    "jacquard.providers.objectset.server",
    "jacquard.lab.standins.kubernetes.__main__",
    "stacks.program",
)
COMPILED = re.compile(r"^# code object from '?(.*\.py)'?$", re.MULTILINE)


def test_nothing_is_compiled_if_bytecode_cannot_be_written(tmp_path: Path) -> None:
    variables = {**os.environ, "PYTHONPYCACHEPREFIX": str(tmp_path)}
    writing = {name: value for name, value in variables.items() if name != "PYTHONDONTWRITEBYTECODE"}
    subprocess.run([sys.executable, "-m", "jacquard.lab.toolchain.bytecode"], env=writing, check=True)

    program = f"import {', '.join(STARTED)}"
    done = subprocess.run(
        [sys.executable, "-v", "-c", program],
        env=variables | {"PYTHONDONTWRITEBYTECODE": "1"},
        check=True,
        capture_output=True,
        text=True,
    )
    assert COMPILED.findall(done.stderr) == []
    assert "jacquard/providers/kube/client" in done.stderr
