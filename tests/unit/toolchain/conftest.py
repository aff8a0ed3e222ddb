"""A separate machine for each test: cache, PATH with fake tools, and a copy of the files that the setup reads."""

from __future__ import annotations

import io
import os
import shutil
import sys
import textwrap
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from jacquard.lab.toolchain import binaries, process, virtualenv
from jacquard.lab.toolchain.progress import Progress
from jacquard.machine import paths

Script = Callable[..., Path]
OutputOf = Callable[[Callable[[Progress], None]], str]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache, without the developer's settings."""
    for name in [name for name in os.environ if name.startswith(("JACQUARD_", "PULUMI_", "GO"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("JACQUARD_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the files of the working tree that the setup reads, in place of the tree."""
    root = tmp_path / "tree"
    shutil.copytree(paths.ROOT / "jacquard/lab/toolchain/modules", root / "jacquard/lab/toolchain/modules")
    for name in ("pyproject.toml", "requirements.lock"):
        shutil.copyfile(paths.ROOT / name, root / name)
    (root / "jacquard/cli").mkdir(parents=True)
    (root / "jacquard/cli/__init__.py").touch()
    (root / "jacquard/__init__.py").touch()
    monkeypatch.setattr(paths, "ROOT", root)
    monkeypatch.setattr(paths, "VENV", root / ".venv")
    return root


@pytest.fixture
def search_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH, empty."""
    folder = tmp_path / "path"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


@pytest.fixture
def script() -> Script:
    """Write an executable that runs a Python snippet."""

    def write(path: Path, body: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!{sys.executable} -S\nimport os, sys\nfrom pathlib import Path\n{textwrap.dedent(body)}")
        path.chmod(0o755)
        return path

    return write


@pytest.fixture
def fake_go(search_path: Path, script: Script) -> Path:
    """A Go 1.26 that "downloads" two kinds of folders and "builds" a file that records its arguments."""
    body = """
        arguments = sys.argv[1:]
        if arguments == ["env", "GOVERSION"]:
            print("go1.26.8")
        elif arguments[:2] == ["mod", "download"]:
            module = Path(os.environ["GOMODCACHE"], arguments[2])
            for content in ("config/crd/bases/a.yaml", "config/base/crds/bases/b.yaml"):
                (module / content).parent.mkdir(parents=True, exist_ok=True)
                (module / content).write_text(arguments[2])
        else:
            Path(os.environ["GOCACHE"]).mkdir(parents=True, exist_ok=True)
            settings = [f"{name}={value}" for name, value in sorted(os.environ.items()) if name[:2] in ("GO", "CG")]
            print("compiling", arguments[-1])
            if os.environ.get("FAKE_GO_FAILS") == arguments[-1]:
                sys.exit("undefined: everything")
            Path(arguments[arguments.index("-o") + 1]).write_text("\\n".join([" ".join(arguments), *settings]))
    """
    return script(search_path / "go", body)


REAL_RUN = process.run
EXECUTOR = "pulumi-language-python-exec"


class Pip:
    """Replaces the command runner: `venv` and `pip` only create their files, all other commands run normally."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.fails_at = ""

    def run(
        self,
        command: Sequence[str | Path],
        *,
        what: str,
        **how: Any,
    ) -> float:
        if not what.startswith(".venv: "):
            return REAL_RUN(command, what=what, **how)
        self.calls.append(what.removeprefix(".venv: "))
        if self.calls[-1] == self.fails_at:
            raise KeyboardInterrupt
        if self.calls[-1] == "venv":
            (paths.VENV / "bin").mkdir(parents=True)
            virtualenv.python().symlink_to(sys.executable)
        return 1.0


@pytest.fixture
def pip(cache: Path, tree: Path, monkeypatch: pytest.MonkeyPatch) -> Pip:
    assert tree == paths.ROOT
    assert not cache.exists()
    stand_in = Pip()
    monkeypatch.setattr(process, "run", stand_in.run)
    return stand_in


@pytest.fixture
def machine(pip: Pip, search_path: Path, fake_go: Path, monkeypatch: pytest.MonkeyPatch) -> Pip:
    """A machine with all tools, whose modules contain the files that the setup copies."""
    for name in ("git", "make"):
        (search_path / name).symlink_to("/bin/true")
    assert fake_go.exists()
    real = binaries.module_folder

    def filled(module_cache: Path, wanted: binaries.Data, family: binaries.Family) -> Path:
        folder = real(module_cache, wanted, family)
        for content in wanted.contents:
            target = folder / content
            target.parent.mkdir(parents=True, exist_ok=True)
            if target.suffix or target.name == EXECUTOR:
                target.write_text("content")
            else:
                target.mkdir(exist_ok=True)
        return folder

    monkeypatch.setattr(binaries, "module_folder", filled)
    return pip


@pytest.fixture
def output_of() -> OutputOf:
    """Run a function that reports progress and return its reports."""

    def record(act: Callable[[Progress], None]) -> str:
        stream = io.StringIO()
        act(Progress(stream))
        return stream.getvalue()

    return record
