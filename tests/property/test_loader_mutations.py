"""However a file is spoilt, the loader answers with an environment or with a report, never with a traceback."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from components.plan.checks import check
from components.specs.loader import load_environment
from components.specs.problems import SpecError

_ENVIRONMENTS = Path(__file__).resolve().parents[2] / "environments"
_FILES = ("region.yaml", "tenants/acme.yaml", "inventory/hall-a.csv", "allocations.lock.yaml", "images.lock.yaml")
_SPLINTERS = (
    b"",
    b":",
    b"- ",
    b"[",
    b"{",
    b'"',
    b"\n",
    b"  ",
    b"0",
    b"~",
    b"&a ",
    b"*a",
    b"!!x ",
    b"\xff",
    b"\xc3\xa4",
    b"1.30",
)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(_ENVIRONMENTS, tmp_path_factory.mktemp("spoilt") / "environments"))


@given(
    file=st.sampled_from(_FILES),
    cuts=st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(_SPLINTERS)), min_size=1, max_size=4),
)
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_spoilt_file_never_crashes_the_loader(root: Path, file: str, cuts: list[tuple[float, int, bytes]]) -> None:
    raw = (_ENVIRONMENTS / "laptop" / file).read_bytes()
    for where, length, splinter in cuts:
        at = int(where * len(raw))
        raw = raw[:at] + splinter + raw[at + length :]
    path = root / "laptop" / file
    path.write_bytes(raw)
    try:
        problems = check(load_environment("laptop", root))
    except SpecError as error:
        problems = list(error.problems)
        assert problems
    finally:
        shutil.copyfile(_ENVIRONMENTS / "laptop" / file, path)
    assert all(problem.text and problem.text[0] != " " for problem in problems)
