"""Output paths of users: existing content is never lost."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from jacquard.cli.errors import ExitCode

Invoke = Callable[..., Result]
EXPORT = ("inventory", "export", "netbox", "laptop", "--out")
MAP = ("show", "laptop", "capacity", "--svg")
RENDER = ("render", "laptop", "--out")
COMMANDS = pytest.mark.parametrize("command", [EXPORT, MAP, RENDER], ids=["export", "map", "render"])
FILES = pytest.mark.parametrize("command", [EXPORT, MAP], ids=["export", "map"])


@COMMANDS
@pytest.mark.parametrize(
    ("name", "holder"),
    [
        ("laptop/region.yaml", "laptop"),
        ("laptop/inventory/hall-a.csv", "laptop"),
        ("laptop/tenants/new", "laptop"),
        ("laptop", "laptop"),
        ("catalog/new", "."),
        ("new", "."),
        (".", "."),
        ("../link", "laptop"),
    ],
)
def test_nothing_is_written_among_the_data(
    invoke: Invoke, data_folder: Path, command: tuple[str, ...], name: str, holder: str
) -> None:
    (data_folder.parent / "link").symlink_to(data_folder / "laptop" / "region.yaml")
    before = _tree(data_folder)
    out = data_folder / name

    result = invoke(*command, str(out))

    place = f"{out}: is inside {data_folder / holder}, which contains the data of environments; name a path outside"
    assert (result.exit_code, result.output) == (ExitCode.BAD_DATA, f"error: {command[-1]} {place}\n")
    assert _tree(data_folder) == before


@FILES
def test_no_foreign_file_is_overwritten(invoke: Invoke, tmp_path: Path, command: tuple[str, ...]) -> None:
    out = tmp_path / "README.md"
    out.write_text("# mine\n")

    result = invoke(*command, str(out))

    text = (
        f"error: {command[-1]} {out}: exists and was not written by this command; remove it first, or name"
        " another file\n"
    )
    assert (result.exit_code, result.stderr, result.stdout) == (ExitCode.BAD_DATA, text, "")
    assert out.read_text() == "# mine\n"


@FILES
def test_a_folder_is_no_file(invoke: Invoke, tmp_path: Path, command: tuple[str, ...]) -> None:
    result = invoke(*command, str(tmp_path))

    text = f"error: {command[-1]} {tmp_path}: is a folder; name a file in it\n"
    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, text)


@FILES
def test_a_pipe_is_no_file_and_is_not_waited_for(invoke: Invoke, tmp_path: Path, command: tuple[str, ...]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    result = invoke(*command, str(pipe))

    assert (result.exit_code, result.stderr) == (
        ExitCode.BAD_DATA,
        f"error: {command[-1]} {pipe}: is not a file; name a file\n",
    )


@FILES
def test_an_empty_file_and_the_same_answer_are_written_over(
    invoke: Invoke, tmp_path: Path, command: tuple[str, ...]
) -> None:
    out = tmp_path / "out"
    out.touch()

    assert [invoke(*command, str(out)).exit_code for _ in range(2)] == [ExitCode.OK, ExitCode.OK]
    assert out.stat().st_size


def test_an_outdated_map_is_updated(invoke: Invoke, tmp_path: Path, data_folder: Path) -> None:
    out = tmp_path / "map.svg"
    invoke(*MAP, str(out))
    before = out.read_text()
    hall = data_folder / "laptop" / "inventory" / "hall-a.csv"
    hall.write_text(hall.read_text().replace("a04-u06", "a04-u60"))

    assert invoke(*MAP, str(out)).exit_code == ExitCode.OK
    assert out.read_text() != before


@pytest.mark.parametrize("name", ["README.md", "mine"])
def test_no_foreign_folder_is_rendered_to(invoke: Invoke, tmp_path: Path, name: str) -> None:
    (tmp_path / "README.md").write_text("# mine\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "a").write_text("b")
    before = _tree(tmp_path)

    result = invoke(*RENDER, str(tmp_path / name))

    text = (
        f"error: {tmp_path / name}: is not empty and not written by 'jacquard render'; name an empty or new folder for"
        " --out\n"
    )
    assert (result.exit_code, result.stderr) == (ExitCode.BAD_DATA, text)
    assert _tree(tmp_path) == before


def _tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
