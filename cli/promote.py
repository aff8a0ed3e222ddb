"""``jacquard promote``: another golden image for a pool, or another version or data store for a control plane."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from cli import arguments, data
from cli.cluster_promotion import promote_cluster
from cli.console import Format, plural, print_json, stdout
from cli.errors import ExitCode, Stop
from cli.lock_changes import changes, show_diff
from components.plan.checks import check_promotable
from components.plan.promotion import PlannedWave, Promotion
from components.specs.environment import Environment
from components.specs.evidence import Evidence, EvidenceError, read_evidence
from components.specs.locks import ImagesLock
from components.specs.problems import SpecError
from components.specs.store import write_locks
from toolchain import paths, settings
from toolchain.errors import explained

_VersionOption = Annotated[
    str | None, typer.Option("--to", metavar="VERSION", help="Golden image, or Kubernetes version of a control plane.")
]
_RollbackOption = Annotated[bool, typer.Option("--rollback", help="Go back to what the pool ran before.")]
_WaveOption = Annotated[
    int | None, typer.Option("--wave", min=1, metavar="N", help="Move wave N only. Default: all groups at once.")
]
_EvidenceOption = Annotated[
    Path | None,
    typer.Option("--evidence", metavar="FILE", help="What 'status --format json' said when wave N-1 was settled."),
]
_PlanOption = Annotated[bool, typer.Option("--plan", help="Write nothing; show the waves that are left.")]
_DataStoreOption = Annotated[
    str | None,
    typer.Option("--data-store", metavar="NAME", help="Data store that a control plane's state is moved to."),
]


def promote(
    environment: arguments.Env,
    pool: Annotated[
        str, typer.Argument(metavar="CLUSTER[/POOL]", help="A pool, such as acme-train/train, or a control plane.")
    ],
    version: _VersionOption = None,
    *,
    rollback: _RollbackOption = False,
    wave: _WaveOption = None,
    evidence: _EvidenceOption = None,
    plan: _PlanOption = False,
    data_store: _DataStoreOption = None,
    today: arguments.TodayOption = None,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Pin another golden image for a pool, or another version or data store for a cluster's control plane.

    This edits a lock file, to be reviewed like any change; 'up' then rolls the nodes. A pool moves at once where its
    canary and the limits of the region allow it, else wave by wave: the canary first, and each wave only with evidence
    that the one before is settled. Until the last wave, or a rollback, the rollout is open in the lock file.
    """
    spec = data.load(environment)
    problems = check_promotable(spec)
    if problems:
        raise SpecError(environment, problems)
    if "/" not in pool:
        _refuse_pool_options(pool, rollback=rollback, plan=plan, wave=wave, evidence=evidence, today=today)
        promote_cluster(spec, pool, version=version, data_store=data_store, output=output)
        return
    if data_store is not None:
        msg = f"--to VERSION says which image {pool} gets; --data-store is for control planes, such as acme-train"
        raise Stop(msg, ExitCode.BAD_DATA)
    if (version is None) is not rollback:
        msg = f"say where {pool} goes: --to VERSION or --rollback, one of the two"
        raise Stop(msg, ExitCode.BAD_DATA)
    if evidence is not None and (wave or 1) == 1:
        msg = "--evidence shows that the wave before is settled; add --wave N, from 2 on"
        raise Stop(msg, ExitCode.BAD_DATA)
    promotion = Promotion(spec, pool, version, (today or settings.now()).date())
    if plan:
        _show_plan(promotion, output)
    elif wave is None:
        _write(spec, promotion, promotion.all_at_once(), output)
    else:
        _write(spec, promotion, promotion.next_wave(wave, None if evidence is None else _evidence(evidence)), output)


def _refuse_pool_options(cluster: str, **options: object) -> None:
    wrong = [f"--{name}" for name, value in options.items() if value]
    if wrong:
        verb = "is" if len(wrong) == 1 else "are"
        msg = f"{cluster} is a control plane, {', '.join(wrong)} {verb} for pools, such as {cluster}/POOL"
        raise Stop(msg, ExitCode.BAD_DATA)


def _evidence(path: Path) -> Evidence:
    try:
        return read_evidence(str(path), path.read_bytes())
    except EvidenceError as error:
        raise Stop(str(error), ExitCode.BAD_DATA) from None
    except OSError as error:
        msg = f"--evidence {explained(error)}; name a file with what 'jacquard status ENV --format json' said"
        raise Stop(msg, ExitCode.BAD_DATA) from None


def _write(spec: Environment, promotion: Promotion, lock: ImagesLock, output: Format) -> None:
    pool, image = promotion.pool, promotion.image
    groups = sorted(key for key, pin in lock.groups.items() if pin != spec.image_pins.groups[key])
    diff, is_open = changes(spec, spec.allocations, lock), pool in lock.rollouts
    write_locks(spec, paths.environments(), spec.allocations, lock)
    if output is Format.JSON:
        answer = {"environment": spec.name, "pool": pool, "version": image, "groups": groups, "open": is_open}
        print_json({**answer, "diff": diff})
        return
    if not groups:
        said = "that wave has moved already" if is_open else f"every rollout group is pinned to {image} already"
        stdout().print(Text(f"{pool}: {said}, nothing to change"))
        return
    show_diff(stdout(), diff)
    moved = f"{plural(len(groups), 'rollout group')} moved to {image}"
    left = len([key for key, pin in lock.groups.items() if key.startswith(f"{pool}/") and pin.image != image])
    rest = f", {left} to go" if is_open else ""
    stdout().print(Text(f"{pool}: {moved}{rest}; next: jacquard preview {spec.name}"), soft_wrap=True)


def _show_plan(promotion: Promotion, output: Format) -> None:
    plan = promotion.plan()
    if output is Format.JSON:
        waves = [asdict(wave) for wave in plan]
        answer = {"pool": promotion.pool, "version": promotion.image, "needs_waves": promotion.needs_waves}
        print_json({**answer, "waves": waves})
        return
    if not plan:
        stdout().print(Text(f"{promotion.pool}: every rollout group is pinned to {promotion.image} already"))
        return
    stdout().print(_table(plan))
    nodes = sum(group.nodes for wave in plan for group in wave.groups)
    how = "in waves only" if promotion.needs_waves else "or all at once, without --wave"
    text = f"{promotion.pool}: {plural(nodes, 'node')} to {promotion.image} in {plural(len(plan), 'wave')}, {how}"
    stdout().print(Text(text), soft_wrap=True)


def _table(plan: list[PlannedWave]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim", pad_edge=False)
    for column in ("wave", "rollout group", "nodes", "spares", "replaced"):
        table.add_column(column, justify="right" if column in {"wave", "nodes", "spares"} else "left", overflow="fold")
    for wave in plan:
        for index, group in enumerate(wave.groups):
            number = "" if index else str(wave.number)
            row = (number, group.key.rpartition("/")[2], str(group.nodes), str(group.spares), group.replacement)
            table.add_row(*row)
    return table
