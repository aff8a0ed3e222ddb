"""Workloads on nodes that a change disrupts: from matching facts, otherwise unknown with a reason."""

from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import pytest

from components.lookups.effects.effect import Effect, Subject
from components.specs.reading.loader import load_environment
from jacquard.cli.views.changes.impact import cells, parts, verdict
from jacquard.cli.views.changes.impact_comment import comment
from jacquard.observe.facts import Facts, assemble
from jacquard.previews.impacts.impact import Impact, Occupancy, Occupied
from jacquard.previews.impacts.occupancy import CollectedFacts, FactsError, occupied, read_facts
from tests.support.changes.impacts import edited, impact_of
from tests.support.data.environment_data import ENVIRONMENTS
from tests.support.objects.working_nodes import MOMENT, working

NO_FACTS = "no facts; collect them with 'jacquard facts laptop --out FILE' and pass --facts FILE"
HOSTILE = "</details> @team \x1b[31m \u202e `"


@pytest.fixture(scope="module")
def promoted(tmp_path_factory: pytest.TempPathFactory) -> Impact:
    bench = edited(tmp_path_factory.mktemp("data"), "laptop", (), ("promote acme-train/train gpu-2026.11.1",))
    return impact_of(bench)


def taken(**unreachable: str) -> Facts:
    found = working(unreachable={name.replace("_", "-"): reason for name, reason in unreachable.items()})
    return assemble(load_environment("laptop", ENVIRONMENTS), found)


def given(**unreachable: str) -> CollectedFacts:
    return CollectedFacts(facts=taken(**unreachable), unfit=None)


def written(folder: Path, name: str = "facts.json", **others: Any) -> Path:
    path = folder / name
    path.write_text(json.dumps(taken().model_dump(mode="json") | others), encoding="utf-8")
    return path


def read(*files: Path, minutes: int = 10) -> dict[str, CollectedFacts]:
    return read_facts(files, ("laptop", "lab"), now=MOMENT + dt.timedelta(minutes=minutes))


def test_each_part_and_the_total_are_shown_with_their_jobs(promoted: Impact) -> None:
    found = occupied(promoted, given())

    acme = [Occupied(tenant="acme", nodes=1, pods=1, gpus=8), Occupied(tenant="acme", nodes=1, pods=2, gpus=8)]
    assert {row.part: row.occupancy for row in found.rows} == {
        "acme-train/train/a01": Occupancy(tenants=(acme[0],)),
        "acme-train/train/a02": Occupancy(tenants=(acme[1],)),
    }
    assert found.occupancy == Occupancy(tenants=(Occupied(tenant="acme", nodes=2, pods=3, gpus=16),))
    assert found.facts_at == MOMENT


def test_the_text_shows_nodes_with_jobs_and_the_age_of_facts(promoted: Impact) -> None:
    found = occupied(promoted, given())

    assert list(verdict(found, MOMENT + dt.timedelta(minutes=12)))[-1] == (
        "occupied by jobs (estimate from facts of 2026-11-22 16:00 UTC, 12 minutes old): "
        "acme 2 nodes with 3 pods on 16 GPUs"
    )
    assert [cells(part)[-1] for part in parts(found.rows)] == ["2"]


def test_without_facts_it_is_unknown(promoted: Impact) -> None:
    found = occupied(promoted, None)

    assert (found.occupancy, found.facts_at) == (Occupancy(tenants=(), unknown=NO_FACTS), None)
    assert list(verdict(found))[-1] == f"occupied by jobs: unknown; {NO_FACTS}"
    assert "occupied |" not in comment([found])


def test_of_a_cluster_that_was_not_read_it_is_unknown(promoted: Impact) -> None:
    found = occupied(promoted, given(acme_train=HOSTILE))

    reason = f"cluster acme-train could not be read: {HOSTILE}"
    assert found.occupancy == Occupancy(tenants=(), unknown=reason)
    assert list(verdict(found))[-1] == (
        "occupied by jobs (estimate from facts of 2026-11-22 16:00 UTC): unknown; cluster acme-train could not be "
        "read: </details> @team \\x1b[31m \\u202e `"
    )
    assert "could not be read: `</details>` `@team` `\\x1b[31m` `\\u202e` `` ` ``\n" in comment([found])


def changed(promoted: Impact, **others: Any) -> Impact:
    """Return an impact with one row like the first, with other values."""
    return promoted.model_copy(update={"rows": (promoted.rows[0].model_copy(update=others),)})


def test_pods_on_nodes_of_no_pool_may_be_those_of_any(promoted: Impact) -> None:
    found = occupied(changed(promoted, part="globex-lab/lab/a01"), given())

    unknown = "cluster globex-lab has 1 pods with GPUs on nodes that belong to no pool"
    assert found.occupancy == Occupancy(tenants=(), unknown=unknown)
    assert [cells(part)[-1] for part in parts(found.rows)] == ["unknown"]


def test_a_cluster_newer_than_the_facts_is_unknown_and_the_total_is_a_lower_bound(promoted: Impact) -> None:
    rows = (promoted.rows[0], promoted.rows[0].model_copy(update={"part": "acme-new/train/a01"}))
    found = occupied(promoted.model_copy(update={"rows": rows}), given())

    assert found.occupancy == Occupancy(
        tenants=(Occupied(tenant="acme", nodes=1, pods=1, gpus=8),), unknown="facts do not contain cluster acme-new"
    )


@pytest.mark.parametrize(
    ("others", "disturbed"),
    [
        ({"effect": Effect.REBOOTED}, True),
        ({"effect": Effect.UNKNOWN}, True),
        ({"effect": Effect.SCALES, "change": -1}, True),
        ({"effect": Effect.SCALES, "change": 1}, False),
        ({"effect": Effect.IN_PLACE}, False),
        ({"falls_on": Subject.CONTROL_PLANES}, False),
    ],
)
def test_jobs_are_shown_for_disrupted_nodes(promoted: Impact, others: dict[str, Any], disturbed: bool) -> None:  # noqa: FBT001 - a case
    found = occupied(changed(promoted, **others), given())

    assert [row.occupancy is not None for row in found.rows] == [disturbed]
    assert (found.occupancy is not None) == disturbed


def test_outdated_facts_are_not_used(promoted: Impact, tmp_path: Path) -> None:
    file = written(tmp_path)

    assert read(file, minutes=60)["laptop"].unfit is None
    unfit = "facts are dated 2026-11-22 16:00 UTC, more than 60 minutes ago; collect new ones"
    old = read(file, minutes=61)["laptop"]
    assert (old.unfit, occupied(promoted, old).occupancy) == (unfit, Occupancy(tenants=(), unknown=unfit))


def test_facts_of_the_future_are_a_clock_that_is_wrong(tmp_path: Path) -> None:
    assert read(written(tmp_path), minutes=-5)["laptop"].unfit is None
    assert read(written(tmp_path), minutes=-6)["laptop"].unfit == (
        "facts are dated 2026-11-22 16:00 UTC, which is in the future; correct the clock of one of the machines"
    )


def test_all_unusable_files_are_reported_together(tmp_path: Path) -> None:
    good, twice = written(tmp_path, "good.json"), written(tmp_path, "twice.json")
    newer = written(tmp_path, "newer.json", schema_version=3, sites=[])
    other, evil = (
        written(tmp_path, "other.json", environment="edge"),
        written(tmp_path, "evil.json", environment=HOSTILE),
    )
    wrong, missing = written(tmp_path, "wrong.json", nodes=[{"pods": -1}]), tmp_path / "missing.json"
    deep = tmp_path / "deep.json"
    deep.write_text("[" * 100_000, encoding="utf-8")

    with pytest.raises(FactsError) as caught:
        read(good, twice, newer, other, evil, wrong, missing, deep)

    remedy = "instead of laptop, lab; pass a file that 'jacquard facts' wrote for one of these"
    lines = str(caught.value).splitlines()
    assert lines[:-1] == [
        f"{twice}: contains facts of 'laptop', as does another file; pass only one of them",
        (
            f"{newer}: has schema_version 3, but this version of Jacquard supports up to 2; collect facts with this "
            "version, or use the version that collected them"
        ),
        f"{other}: contains facts of 'edge' {remedy}",
        f"{evil}: contains facts of '</details> @team \\x1b[31m \\u202e `' {remedy}",
        f"{wrong}: is not a file written by 'jacquard facts' at nodes[0].cluster: field required",
        f"{missing}: cannot be read (No such file or directory); write it with 'jacquard facts ENV --out {missing}'",
    ]
    too_deep = "invalid json: recursion limit exceeded"
    assert lines[-1].startswith(f"{deep}: is not a file written by 'jacquard facts': {too_deep}")


def test_facts_of_the_first_version_are_read_without_faults(tmp_path: Path) -> None:
    raw = taken().model_dump(mode="json", exclude={"faults", "history"}) | {"schema_version": 1}
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(raw), encoding="utf-8")

    assert (read(file)["laptop"].facts.faults, read(file)["laptop"].facts.history) == (None, None)


def test_equal_facts_result_in_equal_comments(promoted: Impact) -> None:
    assert comment([occupied(promoted, given())]) == comment([occupied(promoted, given())])
    assert "| occupied |" in comment([occupied(promoted, given())])


def test_jobs_on_hosts_are_those_of_their_nodes_and_each_counts_once(promoted: Impact) -> None:
    hosts = promoted.rows[0].model_copy(
        update={"falls_on": Subject.HOSTS, "effect": Effect.REBOOTED, "hosts": ("a01-u02", "a02-u03", "a04-u01")}
    )
    unread = taken().model_copy(update={"clusters": taken().clusters[:2]})

    found = occupied(
        promoted.model_copy(update={"rows": (hosts, promoted.rows[0])}), CollectedFacts(facts=unread, unfit=None)
    )

    one = Occupancy(tenants=(Occupied(tenant="acme", nodes=1, pods=1, gpus=8),))
    assert ([row.occupancy for row in found.rows], found.occupancy) == ([one, one], one)


def test_which_host_a_job_is_on_may_be_unknown(promoted: Impact) -> None:
    node = taken().nodes[1].model_copy(update={"host": None})
    lost = taken().model_copy(update={"nodes": (node,), "clusters": taken().clusters[:2]})
    row = {"falls_on": Subject.DPUS, "effect": Effect.RE_FLASHED}

    found = occupied(changed(promoted, **row), CollectedFacts(facts=lost, unfit=None))

    which = "the hosts of acme-train/train/a01 are unknown"
    assert found.occupancy == Occupancy(tenants=(), unknown=f"1 nodes with jobs do not report their host; {which}")
