"""Effect of a change on each host: rolled, created and deleted groups, halls, DPUs, and unallocated hosts."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import pytest

from components.lookups.effects.effect import Effect, Subject, When
from components.lookups.host_use import HostUse, counted_hosts
from components.specs.reading.loader import load_environment
from jacquard.previews.impacts.hosts import HostImpact, hosts
from jacquard.previews.impacts.impact import Forced, Impact, Row
from tests.support.changes.impacts import edited, impact_of
from tests.support.data.environment_data import ENVIRONMENTS

A01, A02 = ([f"{rack}-u0{slot}" for slot in range(1, 6)] for rack in ("a01", "a02"))


def touched(folder: Path, *edits: tuple[str, ...], then: tuple[str, ...] = ()) -> dict[str, list[str]]:
    """Return the hosts of ``laptop`` by the effect of an edit."""
    bench = edited(folder, "laptop", edits, then)
    by_effect = defaultdict(list)
    for one in hosts(load_environment("laptop", ENVIRONMENTS), bench.load(), impact_of(bench)):
        if one.rows:
            by_effect[f"{one.move or one.effect}, {one.when}"].append(one.host.host)
    return dict(by_effect)


def test_a_promotion_falls_on_the_nodes_of_its_groups_and_not_on_their_spares(tmp_path: Path) -> None:
    found = touched(tmp_path, then=("promote acme-train/train gpu-2026.11.1",))
    assert found == {"replaced, at once": [*A01, *A02]}


def test_hosts_are_added_and_removed_when_groups_scale(tmp_path: Path) -> None:
    fewer = ("tenants/acme.yaml", "nodes: 10", "nodes: 8")
    assert touched(tmp_path, fewer, then=("allocate",)) == {"goes, at once": ["a01-u05", "a02-u05"]}


def test_a_row_of_a_hall_names_its_hosts(tmp_path: Path) -> None:
    found = touched(tmp_path, ("inventory/hall-a.csv", "MT26A0102", "MT26A9102"))
    assert found == {"refused, at once": ["a01-u02"]}


def test_drained_hosts_are_the_nodes_of_the_vpc_and_not_its_spares(tmp_path: Path) -> None:
    [(what, found)] = touched(tmp_path, ("tenants/acme.yaml", "egress: public", "egress: none")).items()
    nodes = [one for one in counted_hosts(load_environment("laptop", ENVIRONMENTS)) if one.use is HostUse.NODE]
    assert what == "replaced, by hand"
    assert found == [one.host.host for one in nodes if (one.pool or "").startswith("acme-train/")]


def test_automatic_releases_of_dpus_happen_in_turn(tmp_path: Path) -> None:
    release = ("region.yaml", "  management_api:", "  release: {}\n  management_api:")
    found = touched(tmp_path, release, ("tenants/acme.yaml", "egress: public", "egress: none"))
    assert "replaced, in turn" in found
    assert "replaced, by hand" not in found


def test_a_removed_host_keeps_its_position_on_the_map(tmp_path: Path) -> None:
    bench = edited(tmp_path, "laptop", [], ())
    text = (bench.folder / "inventory" / "hall-a.csv").read_text()
    [line] = [line for line in text.splitlines() if ",a04-u06," in line]
    bench.edit("inventory/hall-a.csv", f"{line}\n", "")

    found = hosts(load_environment("laptop", ENVIRONMENTS), bench.load(), impact_of(bench))

    last = found[-1]
    assert (last.host.host, last.use, last.tenant, last.group, last.effect) == (
        "a04-u06", None, None, None, Effect.DELETED,
    )  # fmt: skip
    assert [one.host.host for one in found[-3:]] == ["a04-u04", "a04-u05", "a04-u06"]


def test_unaffected_hosts_are_shown_with_their_use(tmp_path: Path) -> None:
    bench = edited(tmp_path, "laptop", [], ())
    environment = bench.load()

    found = {one.host.host: one for one in hosts(environment, environment, impact_of(bench))}

    assert found["a01-u06"] == HostImpact(
        host=found["a01-u06"].host, use=HostUse.SPARE, tenant="acme", group="acme-train/train/a01",
        effect=Effect.NONE, when=When.AT_ONCE, move=None, rows=(),
    )  # fmt: skip


def undecided(part: str, tenant: str | None) -> Row:
    forced = Forced(
        kind="example.com/Thing", path="spec", effect=Effect.UNKNOWN, objects=1, first="a/b", why="?", source=None
    )
    return Row(
        falls_on=Subject.PLATFORM, part=part, tenant=tenant, effect=Effect.UNKNOWN, when=When.AT_ONCE, count=None,
        gpus=None, forced_by=(forced,), causes=(),
    )  # fmt: skip


@pytest.fixture(scope="module")
def nothing(tmp_path_factory: pytest.TempPathFactory) -> Impact:
    return impact_of(edited(tmp_path_factory.mktemp("data"), "laptop", [], ()))


@pytest.mark.parametrize(
    ("part", "tenant", "expected"),
    [
        ("everything", None, 30),
        ("foundation", None, 30),
        ("hall a", None, 30),
        ("hall b", None, 30),  # A hall without hosts shows no location of the effect.
        ("acme-train", "acme", 20),
        ("acme-train/train", "acme", 12),
        ("acme in acme-train", "acme", 20),
        ("somewhere of globex", "globex", 7),
    ],
)
def test_undecided_effects_apply_to_every_host_of_the_part(
    nothing: Impact, part: str, tenant: str | None, expected: int
) -> None:
    environment = load_environment("laptop", ENVIRONMENTS)
    impact = nothing.model_copy(update={"rows": (undecided(part, tenant),)})

    found = [one for one in hosts(environment, environment, impact) if one.effect is Effect.UNKNOWN]

    assert len(found) == expected


@pytest.mark.parametrize(
    ("part", "effect", "expected"),
    [
        ("acme-train", Effect.RESTARTED, 20),
        ("acme-train", Effect.UNKNOWN, 20),
        ("acme-train", Effect.IN_PLACE, 0),
        ("foundation", Effect.RESTARTED, 0),  # Pods of the management cluster
    ],
)
def test_pods_that_restart_in_a_cluster_disturb_all_its_hosts(
    nothing: Impact, part: str, effect: Effect, expected: int
) -> None:
    environment = load_environment("laptop", ENVIRONMENTS)
    row = undecided(part, None).model_copy(update={"falls_on": Subject.PODS, "effect": effect, "forced_by": ()})

    found = hosts(environment, environment, nothing.model_copy(update={"rows": (row,)}))

    assert len([one for one in found if one.effect is effect]) == expected


def test_the_worst_of_several_effects_is_first(nothing: Impact) -> None:
    environment = load_environment("laptop", ENVIRONMENTS)
    mild = undecided("acme-train/train/a01", "acme").model_copy(
        update={"falls_on": Subject.NODES, "effect": Effect.IN_PLACE, "when": When.NEXT_ROLL}
    )
    impact = nothing.model_copy(update={"rows": (mild, undecided("acme-train/train", "acme"))})

    found = {one.host.host: one for one in hosts(environment, environment, impact)}

    assert (found["a01-u01"].effect, found["a01-u01"].when, found["a01-u01"].rows) == (
        Effect.UNKNOWN, When.AT_ONCE, (1, 0),
    )  # fmt: skip
    assert found["a02-u01"].rows == (1,)


def test_a_row_may_name_an_unknown_host(nothing: Impact) -> None:
    environment = load_environment("laptop", ENVIRONMENTS)
    named = undecided("hall a", None).model_copy(update={"falls_on": Subject.HOSTS, "hosts": ("a01-u01", "gone")})
    found = hosts(environment, environment, nothing.model_copy(update={"rows": (named,)}))
    assert [one.host.host for one in found if one.rows] == ["a01-u01"]
