"""The loader returns an environment or a report for arbitrarily damaged files, never a traceback."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.rules.checks import check
from components.specs.reading.loader import environments, load_environment
from components.specs.reading.problems import Problem, SpecError
from tests.support.data.environment_data import ENVIRONMENTS, copy_data

_ROUNDS_OF_SMALL = 12
"""Mutations of small environments for each one of a large environment, which takes a third of a second."""
_LARGE_BYTES = 100_000
_SPLINTERS = (
    b"", b":", b"- ", b"[", b"{", b"}", b'"', b"'", b"\n", b"  ", b"0", b"-1", b"~", b"&a ", b"*a", b"!!x ", b"<<: ",
    b"\xff", b"\xc3\xa4", b"\xe2\x80\xae", b"\x1b[31m", b"\0", b"\t", b"\r", b"1.30", b"no", b"10.0.0.0/8", b"/32",
    b"100%", b"99999999999", b"0x0-0xffff", b",", b", ,", b"? ", b"| ", b"---\n",
)  # fmt: skip


def _data_files(name: str) -> list[str]:
    folder = ENVIRONMENTS / name
    own = [path for path in folder.rglob("*") if path.suffix in {".yaml", ".csv"}]
    return sorted(str(path.relative_to(ENVIRONMENTS)) for path in (*own, *(ENVIRONMENTS / "catalog").glob("*.yaml")))


def _is_large(name: str) -> bool:
    return sum((ENVIRONMENTS / file).stat().st_size for file in _data_files(name)) > _LARGE_BYTES


_SMALL = [name for name in environments(ENVIRONMENTS) if not _is_large(name)]
_LARGE = [name for name in environments(ENVIRONMENTS) if _is_large(name)]
names = st.sampled_from(_SMALL * _ROUNDS_OF_SMALL + _LARGE)
places = st.floats(0, 1, exclude_max=True)


def _splinter(raw: bytes, draw: st.DrawFn) -> bytes:
    """Replace a few bytes by characters with a meaning in YAML or CSV."""
    at, length = int(draw(places) * len(raw)), draw(st.integers(0, 12))
    return raw[:at] + draw(st.sampled_from(_SPLINTERS)) + raw[at + length :]


def _shuffle_lines(raw: bytes, draw: st.DrawFn) -> bytes:
    """Move, duplicate or remove a few lines."""
    lines = raw.splitlines(keepends=True)
    start, length = int(draw(places) * len(lines)), draw(st.integers(1, 4))
    taken, rest = lines[start : start + length], lines[:start] + lines[start + length :]
    at = int(draw(places) * len(rest))
    return b"".join(rest[:at] + taken * draw(st.integers(0, 2)) + rest[at:])


def _swap_words(raw: bytes, draw: st.DrawFn) -> bytes:
    """Replace a word of the file by another one."""
    words = raw.split(b" ")
    source, target = (int(draw(places) * len(words)) for _ in range(2))
    words[target] = words[source]
    return b" ".join(words)


@st.composite
def damaged(draw: st.DrawFn) -> tuple[str, str, bytes]:
    """Return an environment, a file of it or of its catalogue, and the damaged content."""
    name = draw(names)
    file = draw(st.sampled_from(_data_files(name)))
    raw = (ENVIRONMENTS / file).read_bytes()
    for spoil in draw(st.lists(st.sampled_from((_splinter, _shuffle_lines, _swap_words)), min_size=1, max_size=4)):
        raw = spoil(raw, draw)
    return name, file, raw


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return copy_data(tmp_path_factory.mktemp("spoilt") / "environments", *environments(ENVIRONMENTS))


def _problems(root: Path, name: str) -> list[Problem]:
    try:
        return check(load_environment(name, root))
    except SpecError as error:
        return list(error.problems)


def _assert_answered(root: Path, name: str, file: str, raw: bytes) -> None:
    (root / file).write_bytes(raw)
    try:
        problems = _problems(root, name)
    finally:
        (root / file).write_bytes((ENVIRONMENTS / file).read_bytes())
    assert all(problem.text and problem.text[0] != " " for problem in problems)
    assert all(problem.line for problem in problems if problem.path), "a value has a line, in whatever it contradicts"
    assert all(line.isprintable() for line in str(SpecError(name, problems)).splitlines())


@given(damaged())
@settings(max_examples=300)
def test_a_damaged_file_never_crashes_the_loader_or_a_check(root: Path, case: tuple[str, str, bytes]) -> None:
    _assert_answered(root, *case)


@pytest.mark.nightly
@given(damaged())
@settings(max_examples=10_000)
def test_ten_thousand_damaged_files_never_crash_the_loader_or_a_check(root: Path, case: tuple[str, str, bytes]) -> None:
    _assert_answered(root, *case)
