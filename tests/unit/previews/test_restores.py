"""Impact of each step of a restore: affected clusters, lost changes, required approvals."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

from tests.support.changes.impacts import impact_of, lines
from tests.support.data.environment_data import copy_data
from tests.support.data.workbench import Workbench

SNAPSHOT = "shared-a-etcd-backup-29384756-x2x4q.db"
STORE = "    - name: shared-a\n"
BACKUP = "backup: {schedule: '0 */6 * * *', endpoint: 'https://objects.example', bucket: etcd, secret: etcd-backup}"
CLUSTERS = ("acme-train", "globex-lab")
POOLS = ("acme-train/infer", "acme-train/system", "acme-train/train", "globex-lab/lab")
LINE = 27
"""Line of the restore in the data."""
RESTORE = f"      restore: {{snapshot: {SNAPSHOT}, step: stop}}\n"


def saved(folder: Path) -> Workbench:
    """Return laptop with backups of its data store."""
    bench = Workbench(copy_data(folder / "environments", "laptop"), "laptop")
    bench.edit("region.yaml", STORE, f"{STORE}      {BACKUP}\n")
    return bench


def steps(folder: Path) -> list[Workbench]:
    """Return laptop before the restore, at each step, and after the entry is removed."""
    edits = [(STORE, STORE + RESTORE), ("step: stop", "step: start"), ("step: start", "step: done")]
    edits.append((RESTORE.replace("stop", "done"), ""))
    benches = []
    for count in range(len(edits) + 1):
        bench = saved(folder / str(count))
        for edit in edits[:count]:
            bench.edit("region.yaml", *edit)
        benches.append(bench)
    return benches


def test_each_step_names_the_clusters_that_it_affects(tmp_path: Path) -> None:
    benches = steps(tmp_path)
    assert [bench.report() for bench in benches] == [""] * len(benches)

    stop, start, done, removed = (impact_of(after, before.root) for before, after in pairwise(benches))

    place = f"by region.yaml:{LINE}"
    repairs = [f"in place nodes {pool}; {place}" for pool in POOLS]
    jobs = f"in place pods foundation; {place}"
    restarted = [f"restarted control planes {name}; {place}" for name in CLUSTERS]
    assert lines(stop) == [*(f"replaced control planes {name}; {place}" for name in CLUSTERS), *repairs, jobs]
    assert lines(start) == [*sorted(restarted * 2), jobs]
    assert lines(done) == [
        *repairs,
        *(f"deleted: Job management/data-stores/shared-a-etcd-restore-8cdb82-{index}" for index in range(3)),
    ]
    assert lines(removed) == restarted


def test_a_restore_names_what_is_lost_and_asks_the_tenants_that_require_it(tmp_path: Path) -> None:
    before, stop, start, *_ = steps(tmp_path)

    impact = impact_of(stop, before.root)

    assert {tenant.tenant: tenant.asks for tenant in impact.tenants} == {
        "acme": "platform@acme.example",
        "globex": None,
    }
    assert [[(item.kind, item.path, item.objects) for item in row.forced_by] for row in impact.rows[:2]] == [
        [("helm.toolkit.fluxcd.io/HelmRelease", "spec.postRenderers", 1), ("batch/Job", "created", 3)]
    ] * 2
    assert impact.rows[0].forced_by[0].why == (
        "Members stop: API servers of all clusters of the data store fail until step start. All changes of their"
        " objects since 2025-11-14 01:56 UTC are lost. Nodes and pods continue."
    )
    assert {tenant.asks for tenant in impact_of(start, stop.root).tenants} == {None}
