"""overridden-add-on."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from pathlib import Path

from policies.check import judge
from policies.facts import Context, object_fact
from policies.rules.clusters.overridden_add_on import RULE
from policies.verdict import Verdict
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

SET = "add_on_values: {metallb: {reason: peers flap (NET-311), values: {speaker.logLevel: debug}}}\n"
RELEASE = {"kind": "HelmRelease", "metadata": {"namespace": "acme-train", "name": "metallb"}}


def test_a_value_of_one_cluster_is_reported_once_with_its_reason(
    tmp_path: Path, text: Callable[..., str], now: dt.datetime
) -> None:
    bench = Workbench(copy_data(tmp_path / "environments", "laptop"))
    bench.edit("tenants/acme.yaml", "    add_ons: default\n", f"    add_ons: default\n    {SET}")
    environment = bench.load()

    found = judge(environment, now)

    assert [item.rule.name for item in found.advised] == ["overridden-add-on"]
    assert found.refused == ()
    assert text(RULE, object_fact(RELEASE, "management"), Context.of(environment, now)) == (
        "overridden-add-on: HelmRelease acme-train/metallb in cluster management\n"
        "  found:   speaker.logLevel=debug (peers flap (NET-311))\n"
        "  allowed: values from add_on_values of environments/laptop/region.yaml and from the library\n"
        "  why:     releases tested in all other clusters were not tested with these values\n"
        "  fix:     move them to add_on_values of region.yaml, remove them, or add a waiver for this cluster\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject HelmRelease"
        " acme-train/metallb"
    )


def test_a_value_of_all_clusters_is_no_exception(tmp_path: Path, now: dt.datetime) -> None:
    bench = Workbench(copy_data(tmp_path / "environments", "laptop"))
    bench.edit("region.yaml", "spares: 2%", f"{SET}spares: 2%")
    environment = bench.load()

    assert judge(environment, now).advised == ()
    assert RULE.judge(object_fact(RELEASE, "management"), Context.of(environment, now)).verdict is Verdict.PASS
