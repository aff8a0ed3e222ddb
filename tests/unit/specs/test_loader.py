"""What the loader reads, keeps and refuses."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest

from components.specs import loader
from components.specs.environment import Environment
from components.specs.files import MAX_BYTES
from components.specs.loader import environments, load_environment
from components.specs.problems import Problem, SpecError

ACME = "tenants/acme.yaml"


def _problems(laptop: Any) -> list[Problem]:
    with pytest.raises(SpecError) as caught:
        laptop.load()
    return list(caught.value.problems)


def test_laptop_has_what_its_files_say(laptop: Any) -> None:
    environment: Environment = laptop.load()

    assert environment.name == environment.region.region == "laptop"
    assert [tenant.tenant for tenant in environment.tenants] == ["acme", "globex"]
    assert len(environment.hosts) == 3 * 8 + 6
    assert environment.hosts[0].hall == "a"
    assert [pool.name for pool in environment.tenants[0].clusters[0].pools] == ["system", "train", "infer"]


def test_every_value_keeps_its_line(laptop: Any) -> None:
    environment = laptop.load()
    text = (laptop.folder / ACME).read_text(encoding="utf-8").splitlines()

    line = environment.positions.line(ACME, ("clusters", 0, "pools", 1, "nodes"))
    assert text[line - 1] == "        nodes: 10"
    below = environment.positions.line(ACME, ("clusters", 0, "pools", 1, "nodes", "no", "such", "thing"))
    assert below == line
    assert environment.positions.line("inventory/hall-a.csv", ("a01-u02",)) == 3
    assert environment.positions.line("no-such-file.yaml") == 0


def test_missing_lock_files_are_empty_ones(laptop: Any) -> None:
    for name in ("allocations.lock.yaml", "images.lock.yaml"):
        (laptop.folder / name).unlink()

    environment = laptop.load()
    assert environment.allocations.hosts == {}
    assert environment.image_pins.groups == {}


def test_all_problems_of_all_files_come_at_once(laptop: Any) -> None:
    laptop.edit("region.yaml", "stage: rehearsal", "stage: test")
    laptop.edit(ACME, "nodes: 10", "nodes: 0")
    laptop.edit(ACME, "strategy: idle", "strategy: lazy")
    laptop.edit("inventory/hall-a.csv", "a01,2,", "a01,two,")
    laptop.edit("../catalog/images.yaml", "boot: disk", "boot: floppy")

    assert laptop.report() == (
        "environments/laptop: 5 problems\n"
        "  ../catalog/images.yaml:12  images[0].boot: must be one of disk, live-iso, netboot (got 'floppy')\n"
        "  inventory/hall-a.csv:3     slot: must be a whole number (got 'two')\n"
        "  region.yaml:3              stage: must be one of rehearsal, development, staging, production (got 'test')\n"
        "  tenants/acme.yaml:28       clusters[0].pools[1].nodes: must be at least 1 (got 0)\n"
        "  tenants/acme.yaml:33       clusters[0].pools[1].rollout.strategy: must be one of rolling, idle (got 'lazy')"
    )


def test_an_unknown_environment_names_the_known_ones(laptop: Any) -> None:
    with pytest.raises(SpecError) as caught:
        load_environment("labtop", laptop.root)
    assert str(caught.value) == (
        "environments/labtop: 1 problem\n  region.yaml  does not exist (environments: laptop); did you mean 'laptop'?"
    )


def test_the_catalogue_is_no_environment(laptop: Any) -> None:
    assert environments(laptop.root) == ["laptop"]


@pytest.mark.parametrize(
    ("raw", "line", "text"),
    [
        (b"\xef\xbb\xbfa: 1\n", 1, "starts with a byte order mark; save the file as UTF-8 without one"),
        (b"a: 1\nb: \xff\n", 2, "is not UTF-8 (byte 0xff); save the file as UTF-8"),
        (b"a: 1\nb: x\0y\n", 2, "has a NUL character in column 5; remove it"),
        (b"a: 1\r\n", 1, "has a carriage return in column 5; save the file with plain line ends (LF)"),
        (b"a: 1\nb: \x07\n", 0, ""),
        (b"", 0, "is empty; write its keys"),
        (b"# nothing\n", 0, "is empty; write its keys"),
        (b"- 1\n", 0, "must be a mapping of keys"),
        (b"a: " + b"[" * 200 + b"]" * 200 + b"\n", 1, "is nested more than 50 levels deep; no file here needs that"),
        (b"? [a]\n: 1\n", 1, "a key must be plain text"),
        (b"%YAML 1.1\n---\na: 1\n", 2, "has a second document or a % directive; keep one plain document a file"),
    ],
)
def test_what_no_person_wrote_is_refused(laptop: Any, raw: bytes, line: int, text: str) -> None:
    (laptop.folder / ACME).write_bytes(raw)

    [problem] = _problems(laptop)
    assert (problem.file, problem.line, problem.path) == (ACME, problem.line, "")
    if text:
        assert (problem.line, problem.text) == (line, text)


def test_an_alias_bomb_is_refused_at_once(laptop: Any) -> None:
    rows = ["a0: &a0 [x, x, x, x, x, x, x, x, x]"]
    rows += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 10)]
    (laptop.folder / ACME).write_text("\n".join(rows) + "\n", encoding="utf-8")

    [problem] = _problems(laptop)
    assert problem.text == "anchors (&) and aliases (*) are not used here; write the value out"


def test_a_huge_file_is_refused_unread(laptop: Any) -> None:
    with (laptop.folder / ACME).open("wb") as file:
        file.truncate(10 * MAX_BYTES)

    started = time.monotonic()
    [problem] = _problems(laptop)
    assert problem.text == "has 50.0 MB, the limit is 5 MB; split the file"
    assert time.monotonic() - started < 1


@pytest.mark.parametrize("target", ["outside.yaml", "../../outside.yaml"])
def test_a_link_out_of_the_folder_is_refused(laptop: Any, target: str) -> None:
    outside: Path = laptop.root.parent / "outside.yaml"
    (laptop.folder / ACME).rename(outside)
    (laptop.folder / ACME).symlink_to(outside if target == "outside.yaml" else Path("..") / target)

    [problem] = _problems(laptop)
    assert problem.text == "leads out of environments/; replace the symbolic link by the file itself"


def test_a_link_within_the_folder_is_followed(laptop: Any) -> None:
    (laptop.folder / ACME).rename(laptop.root / "catalog" / "acme.yaml")
    (laptop.folder / ACME).symlink_to(laptop.root / "catalog" / "acme.yaml")

    assert laptop.report() == ""


def test_links_to_nothing_and_to_themselves_are_refused(laptop: Any) -> None:
    (laptop.folder / "tenants" / "loop.yaml").symlink_to("loop.yaml")
    (laptop.folder / "tenants" / "none.yaml").symlink_to("gone.yaml")

    assert [(problem.file, problem.text) for problem in _problems(laptop)] == [
        ("tenants/loop.yaml", "is a symbolic link that leads back to itself; replace it by the file"),
        ("tenants/none.yaml", "is a symbolic link to nothing; remove it"),
    ]


def test_a_folder_that_is_named_like_a_file_is_refused(laptop: Any) -> None:
    (laptop.folder / "tenants" / "initech.yaml").mkdir()

    [problem] = _problems(laptop)
    assert (problem.file, problem.text) == ("tenants/initech.yaml", "is not a file; replace it by one")


def test_files_that_nobody_would_read_are_reported(laptop: Any) -> None:
    for name in ("regoin.yaml", "tenants/initech.yml", "inventory/hall-b.tsv", "inventory/b.csv"):
        (laptop.folder / name).write_text("", encoding="utf-8")
    (laptop.folder / ".region.yaml.swp").write_text("", encoding="utf-8")

    assert [(problem.file, problem.text) for problem in _problems(laptop)] == [
        ("inventory/b.csv", "is not named after a hall; rename it to hall-<hall>.csv"),
        ("inventory/hall-b.tsv", "is not read; rename it to hall-b.csv or remove it"),
        (
            "regoin.yaml",
            (
                "is no file of an environment (region.yaml, allocations.lock.yaml, images.lock.yaml, policy.yaml,"
                " waivers.yaml, README.md); did you mean 'region.yaml'?"
            ),
        ),
        ("tenants/initech.yml", "is not read; rename it to initech.yaml or remove it"),
    ]


def test_a_missing_catalogue_file_is_reported(laptop: Any) -> None:
    (laptop.root / "catalog" / "versions.yaml").unlink()

    [problem] = _problems(laptop)
    assert (problem.file, problem.text) == ("../catalog/versions.yaml", "does not exist; write it")


def test_loading_and_checking_laptop_is_quick(laptop: Any) -> None:
    laptop.report()
    loader._parsed.cache_clear()  # what a first load costs is the point
    started = time.process_time()
    laptop.report()
    assert time.process_time() - started < 0.3
