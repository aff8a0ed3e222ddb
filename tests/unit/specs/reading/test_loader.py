"""Files that the loader reads, caches and rejects."""

from __future__ import annotations

import gc
from typing import Any

import pytest
import yaml

from components.specs.environment import Environment
from components.specs.reading.inventory_csv import read_inventory
from components.specs.reading.loader import environments, load_environment
from components.specs.reading.parsing import parsed
from components.specs.reading.problems import Problem, SpecError
from components.specs.reading.strict_yaml import StrictYamlReader
from tests.support.machine.processor_time import cost

ACME = "tenants/acme.yaml"


def _problems(laptop: Any) -> list[Problem]:
    with pytest.raises(SpecError) as caught:
        laptop.load()
    return list(caught.value.problems)


def test_laptop_has_the_content_of_its_files(laptop: Any) -> None:
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
    line = environment.positions.line("inventory/hall-a.csv", ("a01-u02",))
    assert f"inventory/hall-a.csv:{line}" == laptop.resolved("inventory/hall-a.csv:<a01-u02>")
    assert environment.positions.line("no-such-file.yaml") == 0


def test_missing_lock_files_are_empty_ones(laptop: Any) -> None:
    for name in ("allocations.lock.yaml", "images.lock.yaml"):
        (laptop.folder / name).unlink()

    environment = laptop.load()
    assert environment.allocations.hosts == {}
    assert environment.image_pins.groups == {}


def test_all_problems_of_all_files_are_reported_together(laptop: Any) -> None:
    laptop.edit("region.yaml", "stage: rehearsal", "stage: test")
    laptop.edit(ACME, "nodes: 10", "nodes: 0")
    laptop.edit(ACME, "strategy: idle", "strategy: lazy")
    laptop.edit("inventory/hall-a.csv", "a01,2,", "a01,two,")
    laptop.edit("../catalog/images.yaml", "boot: disk", "boot: floppy")

    assert laptop.report() == laptop.resolved(
        "environments/laptop: 5 problems (1 in ../catalog/images.yaml, 1 in inventory/hall-a.csv, 1 in region.yaml,"
        " 2 in tenants/acme.yaml)\n"
        "  ../catalog/images.yaml:LINE  images[0].boot: must be one of disk, live-iso, netboot (got 'floppy')\n"
        "  inventory/hall-a.csv:<a01-u02>  slot: must be a whole number (got 'two')\n"
        "  region.yaml:LINE  stage: must be one of rehearsal, development, staging, production (got 'test')\n"
        "  tenants/acme.yaml:LINE  clusters[0].pools[1].nodes: must be at least 1 (got 0)\n"
        "  tenants/acme.yaml:LINE  clusters[0].pools[1].rollout.strategy: must be one of rolling, idle (got 'lazy')"
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
    ("text", "line", "problem"),
    [
        ("- 1\n", 0, "must be a mapping of keys"),
        ("? [a]\n: 1\n", 1, "a key must be plain text; write a name"),
    ],
)
def test_a_file_without_keys_is_refused(laptop: Any, text: str, line: int, problem: str) -> None:
    (laptop.folder / ACME).write_text(text, encoding="utf-8")

    assert _problems(laptop) == [Problem(ACME, line, "", problem)]


def test_a_link_within_the_folder_is_followed(laptop: Any) -> None:
    (laptop.folder / ACME).rename(laptop.root / "catalog" / "acme.yaml")
    (laptop.folder / ACME).symlink_to(laptop.root / "catalog" / "acme.yaml")

    assert laptop.report() == ""


@pytest.mark.parametrize("folder", ["tenants", "inventory", "../catalog"])
def test_a_linked_folder_leads_nowhere_else(laptop: Any, folder: str) -> None:
    outside = laptop.root.parent / "outside"
    (laptop.folder / folder).rename(outside)
    (laptop.folder / folder).symlink_to(outside)

    problems = _problems(laptop)
    assert {problem.file for problem in problems} == {f"{folder}/{path.name}" for path in outside.iterdir()}
    assert {problem.text for problem in problems} == {
        "is a symbolic link to a file outside environments/; replace it with the file"
    }


def test_a_linked_environment_leads_nowhere_else(laptop: Any) -> None:
    outside = laptop.root.parent / "outside"
    laptop.folder.rename(outside)
    laptop.folder.symlink_to(outside)

    text = "is a symbolic link to a file outside environments/; replace it with the file"
    assert Problem("region.yaml", 0, "", text) in _problems(laptop)


def test_a_folder_that_is_a_link_to_itself_is_refused(laptop: Any) -> None:
    (laptop.folder / "tenants").rename(laptop.root / "kept")
    (laptop.folder / "tenants").symlink_to("tenants")

    assert "tenants" in {problem.file for problem in _problems(laptop)}


def test_a_name_that_steers_a_terminal_is_shown_as_an_escape(laptop: Any) -> None:
    (laptop.folder / "tenants" / "\x1b[31m\u202eacme.yml").write_text("", encoding="utf-8")

    [problem] = _problems(laptop)
    assert (problem.file, problem.text) == (
        "tenants/\\x1b[31m\\u202eacme.yml",
        "is not read; move it to another folder or remove it",
    )


def test_unused_files_are_reported(laptop: Any) -> None:
    copies = ("inventory/hall-a (1).csv", "region.yaml.orig", "tenants/#acme.yaml#", "tenants/acme.yaml.bak")
    wrong = ("polcy.yaml", "tenants/acme.yml", "tenants/initech.yml", "inventory/hall-b.tsv", "inventory/b.csv")
    for name in (*copies, *wrong, "tenants/initech.yaml.bak", "tenants/README.md"):
        (laptop.folder / name).write_text("", encoding="utf-8")
    (laptop.folder / ".region.yaml.swp").write_text("", encoding="utf-8")

    assert [(problem.file, problem.text) for problem in _problems(laptop)] == [
        ("inventory/b.csv", "is not named after a hall; rename it to hall-<hall>.csv"),
        (
            "inventory/hall-a (1).csv",
            "is not named after a hall; rename it to hall-<hall>.csv, or remove it if it is a copy of hall-a.csv",
        ),
        ("inventory/hall-b.tsv", "is not read; rename it to hall-b.csv or remove it"),
        (
            "polcy.yaml",
            (
                "is not a file of an environment (region.yaml, out_of_service.yaml, host_tests.yaml, policy.yaml,"
                " waivers.yaml, approvals.yaml, allocations.lock.yaml, images.lock.yaml, README.md); did you"
                " mean 'policy.yaml'?"
            ),
        ),
        ("region.yaml.orig", "is not read, and region.yaml exists; remove it"),
        ("tenants/#acme.yaml#", "is not read, and acme.yaml exists; remove it"),
        ("tenants/README.md", "is not read; move it to another folder or remove it"),
        ("tenants/acme.yaml.bak", "is not read, and acme.yaml exists; remove it"),
        ("tenants/acme.yml", "is not read, and acme.yaml exists; remove it"),
        ("tenants/initech.yaml.bak", "is not read; rename it to initech.yaml or remove it"),
        ("tenants/initech.yml", "is not read; rename it to initech.yaml or remove it"),
    ]


def test_exchanged_files_of_two_tenants_get_no_rename_remedy(laptop: Any) -> None:
    one, other = (laptop.folder / "tenants" / f"{name}.yaml" for name in ("acme", "globex"))
    texts = [path.read_text(encoding="utf-8") for path in (other, one)]
    for path, text in zip((one, other), texts, strict=True):
        path.write_text(text, encoding="utf-8")

    assert [(problem.place, problem.text) for problem in _problems(laptop)] == [
        (
            laptop.resolved("tenants/acme.yaml:<tenant>"),
            "is 'globex' in tenants/acme.yaml, and 'acme' in tenants/globex.yaml; rename both files",
        ),
        (
            laptop.resolved("tenants/globex.yaml:<tenant>"),
            "is 'acme' in tenants/globex.yaml, and 'globex' in tenants/acme.yaml; rename both files",
        ),
    ]


def test_a_missing_catalogue_file_is_reported(laptop: Any) -> None:
    (laptop.root / "catalog" / "versions.yaml").unlink()

    [problem] = _problems(laptop)
    assert (problem.file, problem.text) == ("../catalog/versions.yaml", "does not exist; create it")


def test_reading_a_large_lock_file_costs_little_more_than_parsing_it() -> None:
    hosts = "".join(f"  a{number:04}-u01: acme-train/train\n" for number in range(6_000))
    text = f"schema_version: 1\nhosts:\n{hosts}"

    parsing = cost(lambda: yaml.load(text, Loader=yaml.CSafeLoader))
    strict = cost(lambda: StrictYamlReader("a.yaml").read(text))
    assert strict < 2 * parsing


@pytest.mark.parametrize("collecting", [True, False])
def test_loading_leaves_the_garbage_collector_as_it_was(laptop: Any, *, collecting: bool) -> None:
    before = gc.isenabled()
    (gc.enable if collecting else gc.disable)()
    try:
        laptop.load()
        loaded = gc.isenabled()
        laptop.edit(ACME, "nodes: 10", "nodes: 0")
        laptop.report()
        refused = gc.isenabled()
    finally:
        (gc.enable if before else gc.disable)()
    assert (loaded, refused) == (collecting, collecting)


def test_loading_and_checking_laptop_takes_a_few_times_the_parsing_time(laptop: Any) -> None:
    files = [*(laptop.root / "catalog").glob("*.yaml"), *laptop.folder.rglob("*.yaml")]

    def first_load() -> None:
        parsed.cache_clear()  # The test measures a first load.
        read_inventory.cache_clear()
        laptop.report()

    parsing = cost(lambda: [yaml.load(path.read_text(), Loader=yaml.CSafeLoader) for path in files])
    assert cost(first_load) < 8 * parsing  # It takes twice as long.


@pytest.mark.parametrize(
    ("before", "after", "text"),
    [
        ("inventory/hall-a.csv", "inventory/Hall_A.csv", "is not named after a hall; rename it to hall-a.csv"),
        ("tenants/globex.yaml", "tenants/globex", "is not read; rename it to globex.yaml or remove it"),
    ],
)
def test_a_file_with_another_name_is_reported_with_its_own(laptop: Any, before: str, after: str, text: str) -> None:
    (laptop.folder / before).rename(laptop.folder / after)

    assert Problem(after, 0, "", text) in _problems(laptop)


def test_a_region_file_with_another_suffix_is_recognised_and_is_the_only_problem(laptop: Any) -> None:
    (laptop.folder / "region.yaml").rename(laptop.folder / "region.yml")

    assert environments(laptop.root) == ["laptop"]
    [problem] = _problems(laptop)
    assert problem.file == "region.yml"
    assert problem.text.endswith("; did you mean 'region.yaml'?")


def test_a_folder_among_files_is_no_file_to_rename(laptop: Any) -> None:
    (laptop.folder / "tenants" / "old").mkdir()

    text = "is not read, because it is a folder; move its files, or remove it"
    assert _problems(laptop) == [Problem("tenants/old", 0, "", text)]
