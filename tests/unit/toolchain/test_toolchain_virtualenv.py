"""`.venv` is created once, recreated if it is incomplete, and updated only where necessary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jacquard.lab.toolchain import virtualenv
from jacquard.lab.toolchain.progress import Progress
from jacquard.machine import paths

OutputOf = Callable[[Callable[[Progress], None]], str]


def overwrite(name: str, text: str) -> None:
    (paths.ROOT / name).write_text(text)


def remove(name: str) -> None:
    (paths.ROOT / name).unlink()


def test_the_virtual_environment_is_created_once(pip: Any, output_of: OutputOf) -> None:
    assert not virtualenv.fresh()
    assert output_of(virtualenv.ensure).startswith("  .venv                       made in 5 s, Python ")
    assert pip.calls == ["venv", "download", "dependencies", "project", "bytecode"]
    assert virtualenv.current()

    output_of(virtualenv.ensure)
    assert pip.calls == ["venv", "download", "dependencies", "project", "bytecode"]


@pytest.mark.parametrize(
    ("step", "again"),
    [
        ("venv", ["venv", "download", "dependencies", "project", "bytecode"]),
        ("download", ["venv", "download", "dependencies", "project", "bytecode"]),
        ("dependencies", ["venv", "dependencies", "project", "bytecode"]),
    ],
)
def test_an_incomplete_virtual_environment_is_recreated(
    pip: Any, step: str, again: list[str], output_of: OutputOf
) -> None:
    pip.fails_at = step
    with pytest.raises(KeyboardInterrupt):
        output_of(virtualenv.ensure)
    assert not virtualenv.fresh()

    pip.calls, pip.fails_at = [], ""
    output_of(virtualenv.ensure)
    assert pip.calls == again


def test_an_interrupted_installation_of_the_project_keeps_the_dependencies(pip: Any, output_of: OutputOf) -> None:
    pip.fails_at = "project"
    with pytest.raises(KeyboardInterrupt):
        output_of(virtualenv.ensure)

    pip.calls, pip.fails_at = [], ""
    output_of(virtualenv.ensure)
    assert pip.calls == ["project", "bytecode"]


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (
            lambda: overwrite("requirements.lock", "other==1"),
            ["venv", "download", "dependencies", "project", "bytecode"],
        ),
        (lambda: remove(".venv/bin/python"), ["venv", "dependencies", "project", "bytecode"]),
        (lambda: overwrite(".venv/jacquard-stamp.json", '"half'), ["venv", "dependencies", "project", "bytecode"]),
        (lambda: overwrite("pyproject.toml", "[project]"), ["project", "bytecode"]),
        (lambda: overwrite("more/__init__.py", ""), ["project", "bytecode"]),
        (lambda: overwrite("jacquard/cli/more.py", ""), ["bytecode"]),
    ],
    ids=["lock", "no interpreter", "damaged stamp", "settings", "new package", "new module"],
)
def test_only_affected_parts_are_renewed(
    pip: Any, change: Callable[[], object], expected: list[str], output_of: OutputOf
) -> None:
    (paths.ROOT / "more").mkdir()
    output_of(virtualenv.ensure)
    pip.calls = []
    change()

    output_of(virtualenv.ensure)
    assert pip.calls == expected


def test_another_python_creates_another_environment(
    pip: Any, monkeypatch: pytest.MonkeyPatch, output_of: OutputOf
) -> None:
    output_of(virtualenv.ensure)
    pip.calls = []
    monkeypatch.setattr(virtualenv.platform, "python_version", lambda: "3.99.0")
    output_of(virtualenv.ensure)
    assert pip.calls == ["venv", "dependencies", "project", "bytecode"]
