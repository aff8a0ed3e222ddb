"""Missing files and folders: the report names them, without consequential problems."""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import pytest

from components.rules.checks import check_data
from components.specs.reading.loader import environments
from components.specs.reading.problems import SpecError

A_FILE = "is a file but must be a folder; restore the folder (git checkout)"


def _remove(path: Path) -> None:
    shutil.rmtree(path)


def _replace_by_a_file(path: Path) -> None:
    shutil.rmtree(path)
    path.touch()


def _replace_by_a_link_to_nothing(path: Path) -> None:
    shutil.rmtree(path)
    path.symlink_to("/nowhere")


def _remove_all_rows(path: Path) -> None:
    hall = path / "hall-a.csv"
    hall.write_text(hall.read_text().partition("\n")[0] + "\n")


@pytest.mark.parametrize(
    ("folder", "edit", "text"),
    [
        (
            "inventory",
            _remove,
            (
                "region.yaml:LINE  sites[0].halls[0]: hall 'a' has no inventory/hall-a.csv; restore it (git checkout),"
                " create it with only its header line while the hall is empty, or remove the hall here"
            ),
        ),
        (
            "tenants",
            _remove,
            (
                "tenants  has no file, but 20 nodes run in acme-train, globex-lab (allocations.lock.yaml:<clusters>);"
                " restore the folder (git checkout)"
            ),
        ),
        ("inventory", _replace_by_a_file, f"inventory  {A_FILE}"),
        ("tenants", _replace_by_a_file, f"tenants  {A_FILE}"),
        (
            "inventory",
            _replace_by_a_link_to_nothing,
            "inventory  is a broken symbolic link; restore the folder (git checkout)",
        ),
    ],
)
def test_a_missing_file_is_the_only_problem(laptop: Any, folder: str, edit: Any, text: str) -> None:
    edit(laptop.folder / folder)

    assert laptop.report() == laptop.resolved(f"environments/laptop: 1 problem\n  {text}")


def _refuse(monkeypatch: pytest.MonkeyPatch, *names: str) -> None:
    """Make listing of folders ``names`` fail, since root can read folders with any mode."""
    listing = os.listdir

    def listdir(folder: Any = ".") -> list[str]:
        if Path(folder).name in names:
            raise PermissionError(13, "Permission denied", str(folder))
        return listing(folder)

    monkeypatch.setattr("components.specs.reading.files.os.listdir", listdir)


def test_a_folder_that_may_not_be_listed_is_not_empty(laptop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _refuse(monkeypatch, "inventory", "tenants")

    assert laptop.report() == (
        "environments/laptop: 2 problems\n"
        "  inventory  cannot be read: permission denied; correct its file mode\n"
        "  tenants    cannot be read: permission denied; correct its file mode"
    )


def test_an_environment_that_may_not_be_listed_is_known(laptop: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _refuse(monkeypatch, "laptop")

    assert environments(laptop.root) == ["laptop"]
    assert laptop.report() == (
        "environments/laptop: 1 problem\n  ../laptop  cannot be read: permission denied; correct its file mode"
    )


def _break_link(path: Path) -> None:
    path.symlink_to("nowhere")


def _loop_link(path: Path) -> None:
    path.symlink_to(path.name)


@pytest.mark.parametrize(
    ("name", "edit", "text"),
    [
        (".", _break_link, "../laptop  is a broken symbolic link; restore the folder (git checkout)"),
        (".", _loop_link, "../laptop  is a circular symbolic link; restore the folder (git checkout)"),
        ("region.yaml", _break_link, "region.yaml  is a broken symbolic link; replace it with the file"),
        ("region.yaml", _loop_link, "region.yaml  is a circular symbolic link; replace it with the file"),
        ("region.yaml", Path.mkdir, "region.yaml  is not a file; replace it with a file"),
        ("tenants/acme.yaml", _break_link, "tenants/acme.yaml  is a broken symbolic link; replace it with the file"),
    ],
)
def test_an_environment_whose_files_are_no_files_is_known(laptop: Any, name: str, edit: Any, text: str) -> None:
    path = laptop.folder if name == "." else laptop.folder / name
    path.rename(laptop.root.parent / "elsewhere")
    edit(path)

    assert laptop.report() == f"environments/laptop: 1 problem\n  {text}"
    assert environments(laptop.root) == ["laptop"]


def test_missing_rows_are_reported_once_for_each_pool(laptop: Any) -> None:
    _remove_all_rows(laptop.folder / "inventory")

    report = laptop.report()

    assert report.startswith("environments/laptop: 4 problems\n")
    assert report.count("no longer in any inventory/hall-*.csv") == 4
    assert "a01-u01, a01-u02, a01-u03 and 9 more of acme-train/train are no longer in" in report
    assert "lower nodes to" not in report


def test_an_allocation_is_refused_with_the_same_words(laptop: Any) -> None:
    laptop.edit("inventory/hall-a.csv", "a01-u01,h100-ib-8", "a01-u01,cpu-gen4")

    assert str(SpecError("laptop", check_data(laptop.load()))) == laptop.report()


def test_another_instance_type_of_a_pool_is_its_tenants_edit(laptop: Any) -> None:
    lab = "name: lab, instance_type: "
    laptop.edit("tenants/globex.yaml", f"{lab}h100-ib-8", f"{lab}cpu-gen4")

    report = laptop.report()

    expected = "tenants/globex.yaml:LINE  clusters[0].pools[0].instance_type: 4 nodes run on h100-ib-8"
    assert laptop.resolved(expected) in report
    assert "hall-a.csv:" not in report
