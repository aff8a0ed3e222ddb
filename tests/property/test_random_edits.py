"""After arbitrary edits, losses and merges of a region, the reports lead back to valid data."""

from __future__ import annotations

import tempfile
from fnmatch import fnmatch
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS
from components.specs.reading.problems import Problem, SpecError
from tests.support.checks.remedies import follow_all
from tests.support.data.environment_data import copy_data
from tests.support.data.random_edits import EDITS, Edit, files
from tests.support.data.workbench import Workbench

_ANY_HALL = "inventory/hall-*.csv"
_LOCKS = {ALLOCATIONS, IMAGE_PINS}
names = st.sampled_from(("laptop", "lab"))
walks = st.lists(st.tuples(st.sampled_from(EDITS), st.booleans()), min_size=1, max_size=6)


def _walk(name: str, walk: list[tuple[Edit, bool]], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as folder:
        bench = Workbench(copy_data(Path(folder) / "environments", "laptop", "lab"), name)
        committed = files(bench.folder)
        for edit, commit in walk:
            edit(bench, data)
            if commit and _allocated(bench):
                committed = files(bench.folder)
        _lead_back(bench, committed)


def _allocated(bench: Workbench) -> bool:
    """Run the steps before a commit, and return whether the data are valid."""
    try:
        bench.allocate_checked()
    except SpecError:
        return False
    return not bench.problems()


def _lead_back(bench: Workbench, committed: dict[str, bytes]) -> None:
    """Follow the reports; if no remedy is left, restore the files that they name."""
    left = follow_all(bench).left
    while left and not _allocated(bench):
        left = bench.problems() or left
        named = _named(bench, committed, left)
        assert named, "\n".join(["no file of the report is another than before", *map(str, left)])
        for file in named:
            _restore(bench, file, committed)
        left = bench.problems()
    assert _allocated(bench)


def _named(bench: Workbench, committed: dict[str, bytes], problems: tuple[Problem, ...]) -> set[str]:
    """Return the files that ``problems`` name and that differ from the commit; both lock files if one is named."""
    now = files(bench.folder)
    other = {file for file in {*now, *committed} if now.get(file) != committed.get(file)}
    text = " ".join(f"{one.file} {one.text}" for one in problems)
    folders = {one.file for one in problems}
    named = {file for file in other if file in text or file.split("/")[0] in folders}
    named |= {file for file in other if fnmatch(file, _ANY_HALL) and _ANY_HALL in text}
    return named | (other & _LOCKS if named & _LOCKS else set())


def _restore(bench: Workbench, file: str, committed: dict[str, bytes]) -> None:
    if file in committed:
        (bench.folder / file).write_bytes(committed[file])
    else:
        (bench.folder / file).unlink()


@given(names, walks, st.data())
@settings(max_examples=50)
def test_reports_lead_back_to_valid_data_after_random_edits(
    name: str, walk: list[tuple[Edit, bool]], data: st.DataObject
) -> None:
    _walk(name, walk, data)


@pytest.mark.nightly
@given(names, walks, st.data())
@settings(max_examples=2_000)
def test_reports_lead_back_to_valid_data_after_two_thousand_random_edits(
    name: str, walk: list[tuple[Edit, bool]], data: st.DataObject
) -> None:
    _walk(name, walk, data)
