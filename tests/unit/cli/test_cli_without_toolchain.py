"""Verbs that read and write data work in a clone with Python only: no build, no Go, no engine, no cluster."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jacquard.machine import paths
from tests.support.data.environment_data import copy_data

JACQUARD = paths.VENV / "bin" / "jacquard"
VERBS = [
    "check",
    "check laptop --format sarif",
    "explain",
    "impact laptop",
    "render laptop --out {out}",
    "allocate laptop",
    "promote laptop acme-train/infer --to gpu-2026.11.1",
    "show laptop",
    "show laptop capacity",
    "show laptop images",
    "show laptop map",
]
TRAP = '#!/bin/sh\necho "$0 $*" >> "{called}"\nexit 9\n'
HEAVY = [
    "grpc",
    "pulumi",
    "pulumi_kubernetes",
    "pulumi_policy",
    "requests",
    "jacquard.lab.rehearsal",
    "jacquard.lab.toolchain.binaries",
]


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """The variables of a machine with git, an empty cache, and tools that report being called."""
    tools = tmp_path / "tools"
    tools.mkdir()
    (tools / "git").symlink_to(str(shutil.which("git")))
    for name in ("go", "pulumi", "kubectl", "kwokctl", "etcd", "docker"):
        (tools / name).write_text(TRAP.format(called=tmp_path / "called"))
        (tools / name).chmod(0o755)
    data = copy_data(tmp_path / "regions" / "environments", "laptop")
    shutil.copy2(paths.ROOT / "Pulumi.yaml", data.parent)
    for words in (("init", "-q"), ("add", "."), ("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "a")):
        subprocess.run(["git", "-C", str(data.parent), *words], check=True)
    return {
        "HOME": str(tmp_path),
        "JACQUARD_CACHE": str(tmp_path / "cache"),
        "JACQUARD_ENVIRONMENTS": str(data),
        "PATH": str(tools),
    }


@pytest.mark.parametrize("words", VERBS)
def test_a_verb_only_needs_python(words: str, bare: dict[str, str], tmp_path: Path) -> None:
    arguments = words.format(out=tmp_path / "out").split()
    done = subprocess.run([JACQUARD, *arguments], env=bare, capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stdout + done.stderr
    assert not (tmp_path / "called").exists()
    assert not (tmp_path / "cache").exists()


@pytest.mark.parametrize("verb", ["check", "impact", "render", "allocate", "promote", "show"])
def test_a_verb_does_not_load_modules_for_engines_or_forges(verb: str) -> None:
    load = f"from jacquard.cli.panels import VERBS; VERBS[{verb!r}].load()"
    code = f"import json, sys; {load}; print(json.dumps([*sys.modules]))"
    done = subprocess.run([sys.executable, "-c", code], env=os.environ, capture_output=True, text=True, check=True)

    assert [name for name in HEAVY if name in json.loads(done.stdout)] == []
