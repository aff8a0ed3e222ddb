"""A disk that is full before or during an ``up``: one error with a remedy; objects are neither lost nor duplicated.

The real engine applies objects to a real API server, with its state on a small disk.
"""

from __future__ import annotations

import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from jacquard.engine import state_files
from jacquard.engine.driver import Run
from jacquard.engine.errors import EngineError
from tests.support.engine.faulty_stack import DATA, STACK, WRITES_OF_A_CHANGE, FaultyStack, applied, serving
from tests.support.machine.small_disk import SmallDisk

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SmallDisk]:
    small = SmallDisk(tmp_path / "disk", mebibytes=64)
    yield small
    small.close()


@pytest.fixture
def mill(disk: SmallDisk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[FaultyStack]:
    (tmp_path / "home" / "pulumi").mkdir(parents=True)
    (tmp_path / "home" / "pulumi" / "state").symlink_to(disk.path)
    with serving(tmp_path / "server") as server, applied(server, tmp_path, monkeypatch) as made:
        yield made


def test_a_disk_that_is_full_at_the_start_stops_the_up_before_its_first_change(
    mill: FaultyStack, disk: SmallDisk
) -> None:
    mill.declare(DATA[1])
    disk.fill()

    with pytest.raises(EngineError) as full:
        mill.up()

    assert "has 0 MiB of free space" in str(full.value)
    assert mill.connection.writes == 0
    disk.free()
    resumed = mill.up()
    assert resumed.code == 0, resumed.tail
    mill.require(DATA[1])


def test_an_engine_that_cannot_write_its_lock_blocks_no_later_run(mill: FaultyStack, disk: SmallDisk) -> None:
    mill.declare(DATA[1])
    disk.fill()

    struck = mill.engine.run("up", STACK, "--yes", "--skip-preview")

    assert struck.code != 0
    assert "no space left on device" in struck.tail
    disk.free()
    resumed = mill.up()
    assert resumed.code == 0, resumed.tail
    mill.require(DATA[1])


@pytest.mark.parametrize("point", [1, WRITES_OF_A_CHANGE // 2])
def test_a_disk_that_becomes_full_during_an_up_requires_at_most_one_command(
    mill: FaultyStack, disk: SmallDisk, point: int
) -> None:
    assert mill.engine.file_state is not None
    mill.declare(DATA[1])

    def fill(number: int) -> bool:
        if number == point:
            disk.fill()
        return False

    mill.connection.lose = fill

    struck = mill.up()

    assert struck.code != 0
    assert struck.progress.unrecorded
    assert "no space left on device" in struck.tail
    assert "Traceback" not in struck.tail
    mill.connection.reset()
    before = mill.uids()
    disk.free()
    resumed = restored_up(mill)
    assert resumed.code == 0, resumed.tail
    after = mill.uids()
    assert {name: uid for name, uid in before.items() if name in after}.items() <= after.items()
    mill.require(DATA[1])
    assert state_files.remove_rests(mill.engine.file_state, STACK) == 0


def restored_up(mill: FaultyStack) -> Run:
    """Apply the stack; if its state is damaged, run the command in the error first.

    Whether the last write truncated the state depends on the space that earlier writes had freed.
    """
    before = mill.uids()
    try:
        return mill.up()
    except EngineError as error:
        damage = str(error)
    assert damage.startswith(f"{STACK}: its state is damaged (unexpected end of JSON input)")
    assert mill.uids() == before
    subprocess.run(shlex.split(damage.partition(" with '")[2].partition("'")[0]), check=True)
    return mill.up()
