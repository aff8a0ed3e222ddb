"""``jacquard promote``: the only command that changes pins of nodes, DPUs, control planes and charts in clusters."""

import datetime as dt
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from components.intents.charts import clusters_of_charts
from components.lookups.pools import clusters, pools
from components.reports.lock_changes import sentences
from components.rollout.options import ALL, NEWEST_TEMPLATES
from components.rollout.promotion import Promotion
from components.rollout.subject import DATA
from components.rollout.upgrades import move_data_store, promote_control_plane
from components.rules.checks import check_promotable, errors
from components.specs.environment import Environment
from components.specs.keys import DPUS, charts_key, refers_to_charts
from components.specs.locks import ImagesLock
from components.specs.reading.problems import SpecError
from jacquard.cli import arguments, data, lock_edits
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.cli.views.changes.lock_changes import changes, show_diff
from jacquard.cli.views.promotion_plan import group_of, is_current, newer, show_plan
from jacquard.engine.freezes import freezes
from jacquard.machine import settings
from jacquard.machine.edits import Edit

_VersionOption = Annotated[
    str | None,
    typer.Option(
        "--to",
        metavar="VERSION|data",
        help="Image, or version of a chart or control plane. Default for pools and charts: data, the current data.",
    ),
]
_RollbackOption = Annotated[bool, typer.Option("--rollback", help="Restore the previous pins.")]
_WaveOption = Annotated[
    int | None,
    typer.Option("--wave", min=1, metavar="N", help="Promote only the rollout groups of wave N."),
]
_AllOption = Annotated[
    bool, typer.Option(ALL, help="Promote all rollout groups together, if the canary and the limits allow it.")
]
_EvidenceOption = Annotated[
    Path | None,
    typer.Option("--evidence", metavar="FILE", help="Output of 'status --format json' when wave N-1 was settled."),
]
_NewestTemplatesOption = Annotated[
    bool,
    typer.Option(
        NEWEST_TEMPLATES, help="Also promote groups whose template revision is older, even if nothing else differs."
    ),
]
_PlanOption = Annotated[bool, typer.Option("--plan", help="Write nothing; show the remaining waves.")]
_DataStoreOption = Annotated[
    str | None,
    typer.Option("--data-store", metavar="NAME", help="New data store of a control plane."),
]


def _complete(context: typer.Context, incomplete: str) -> list[str]:
    """Return the promotable names of the typed environment; empty if its data are invalid."""
    try:
        spec = data.load(context.params["environment"])
    except (Stop, SpecError):
        return []
    names = [cluster.cluster.name for cluster in clusters(spec)] + [pool.key for pool in pools(spec)] + [DPUS]
    names += [charts_key(chart) for chart in clusters_of_charts(spec)]
    return [name for name in names if name.startswith(incomplete)]


def promote(
    environment: arguments.Env,
    pool: Annotated[
        str,
        typer.Argument(
            metavar="TARGET",
            help="Pool such as acme-train/train, cluster for its control plane, charts/CHART, or dpus for all DPUs.",
            autocompletion=_complete,
        ),
    ],
    version: _VersionOption = None,
    *,
    rollback: _RollbackOption = False,
    wave: _WaveOption = None,
    everything: _AllOption = False,
    evidence: _EvidenceOption = None,
    newest_templates: _NewestTemplatesOption = False,
    plan: _PlanOption = False,
    data_store: _DataStoreOption = None,
    today: arguments.TodayOption = None,
    output: arguments.FormatOption = Format.TEXT,
) -> None:
    """Change the pins of a pool, of DPUs, of a chart or of a control plane.

    Pins a pool to the current data: golden image, taints, kubelet settings, registry mirror, restart. This edits a lock
    file; review the change like any other. 'up' then replaces the nodes; other changes of the data do not. Promote wave
    by wave: the canary first, and each wave with evidence that the previous one is settled. The rollout stays open in
    the lock file until the last wave or a rollback. If neither a canary nor a limit of the region requires waves, --all
    promotes all rollout groups together; a single wave needs neither option. --plan shows the changes and their
    reasons. A newer template revision alone is promoted only with --newest-templates, or if the pinned revision does
    not work.
    """
    with data.editing("promote", environment, dry_run=plan) as edit:
        spec = data.load(environment)
        problems = errors(check_promotable(spec), settings.today())
        if problems:
            raise SpecError(environment, problems)
        if "/" not in pool and pool != DPUS:
            options = {"--rollback": rollback, "--plan": plan, "--wave": wave, ALL: everything, "--evidence": evidence}
            _refuse_pool_options(pool, {**options, "--today": today, NEWEST_TEMPLATES: newest_templates})
            _promote_cluster(edit, spec, pool, version=version, data_store=data_store, output=output)
            return
        _refuse_contradictions(pool, version, rollback=rollback, wave=wave, evidence=evidence, data_store=data_store)
        _refuse_newest_templates(pool, rollback=rollback, wanted=newest_templates)
        _refuse_all_with_wave(pool, wave, everything=everything)
        target, now = None if rollback else version or DATA, today.replace(tzinfo=dt.UTC) if today else settings.now()
        promotion = Promotion(spec, pool, target, now.date(), newest_templates=newest_templates)
        if plan:
            show_plan(promotion, output)
        elif wave is None:
            _write(edit, spec, promotion, promotion.all_at_once(requested=everything), now, output)
        else:
            proof = None if evidence is None else data.evidence(evidence)
            _write(edit, spec, promotion, promotion.next_wave(wave, proof), now, output)


def _refuse_contradictions(
    pool: str, version: str | None, *, rollback: bool, wave: int | None, evidence: Path | None, data_store: str | None
) -> None:
    if data_store is not None:
        msg = f"--data-store is only for control planes, such as acme-train (got {pool}); write --to VERSION"
        raise Stop(msg, ExitCode.BAD_DATA)
    if version is not None and rollback:
        msg = f"--to and --rollback exclude each other; write one of them for {pool}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if evidence is not None and (wave or 1) == 1:
        msg = "--evidence requires --wave N with N of at least 2; add --wave"
        raise Stop(msg, ExitCode.BAD_DATA)


def _refuse_newest_templates(pool: str, *, rollback: bool, wanted: bool) -> None:
    if wanted and rollback:
        msg = f"{NEWEST_TEMPLATES} and --rollback exclude each other; write one of them for {pool}"
        raise Stop(msg, ExitCode.BAD_DATA)
    if wanted and refers_to_charts(pool):
        msg = f"{NEWEST_TEMPLATES} is only for pools and {DPUS} (got {pool}); omit it"
        raise Stop(msg, ExitCode.BAD_DATA)


def _refuse_all_with_wave(pool: str, wave: int | None, *, everything: bool) -> None:
    if everything and wave is not None:
        msg = f"{ALL} and --wave exclude each other; write one of them for {pool}"
        raise Stop(msg, ExitCode.BAD_DATA)


def _refuse_pool_options(cluster: str, options: Mapping[str, object]) -> None:
    wrong = [name for name, value in options.items() if value]
    if wrong:
        verb = "is" if len(wrong) == 1 else "are"
        msg = f"{cluster} is a control plane; {', '.join(wrong)} {verb} only for pools, such as {cluster}/POOL"
        raise Stop(msg, ExitCode.BAD_DATA)


def _write(
    edit: Edit, spec: Environment, promotion: Promotion, lock: ImagesLock, now: dt.datetime, output: Format
) -> None:
    pool, image = promotion.pool, promotion.image
    groups = sorted(key for key, name in lock.moved.items() if name != spec.image_pins.moved.get(key))
    diff, is_open = changes(spec, spec.allocations, lock), pool in lock.rollouts
    summary = sentences(spec, spec.model_copy(update={"image_pins": lock}))
    lock_edits.write(edit, spec, *lock_edits.with_locks(spec, spec.allocations, lock), now=now)
    frozen = freezes(spec, groups, settings.now())
    if output is Format.JSON:
        answer = {"environment": spec.name, "pool": pool, "version": image, "intent": promotion.target.name}
        print_json({**answer, "groups": groups, "open": is_open, "summary": summary, "diff": diff, "freezes": frozen})
        return
    if not groups:
        state = "this wave is already promoted" if is_open else is_current(pool, image)
        stdout().print(Text(f"{pool}: {state}, nothing to change{newer(promotion)}"), soft_wrap=True)
        return
    show_diff(stdout(), diff, summary)
    moved = f"{plural(len(groups), group_of(pool))} promoted to {image}"
    rest = f", {len(promotion.remaining) - len(groups)} remaining" if is_open else ""
    stdout().print(Text(f"{pool}: {moved}{rest}; next: jacquard preview {spec.name}"), soft_wrap=True)
    _note(frozen)


def _note(frozen: Iterable[str]) -> None:
    for text in frozen:
        show(text, "note")


def _promote_cluster(
    edit: Edit, spec: Environment, cluster: str, *, version: str | None, data_store: str | None, output: Format
) -> None:
    """Change the Kubernetes version or data store that the control plane of ``cluster`` is pinned to.

    Raises:
        Stop: not exactly one of ``version`` and ``data_store`` is set.
        SpecError: the change is not allowed; contains all reasons.
    """
    if version is not None and data_store is None:
        lock, moved = promote_control_plane(spec, cluster, version), version
    elif data_store is not None and version is None:
        lock, moved = move_data_store(spec, cluster, data_store), f"data store {data_store}"
    else:
        msg = f"{cluster} is a control plane: write either --to VERSION or --data-store NAME"
        raise Stop(msg, ExitCode.BAD_DATA)
    diff = changes(spec, spec.allocations, lock)
    summary = sentences(spec, spec.model_copy(update={"image_pins": lock}))
    lock_edits.write(edit, spec, *lock_edits.with_locks(spec, spec.allocations, lock))
    frozen = freezes(spec, [cluster] if diff else [], settings.now())
    if output is Format.JSON:
        pin = lock.control_planes[cluster].model_dump(mode="json")
        print_json(
            {"environment": spec.name, "cluster": cluster, **pin, "summary": summary, "diff": diff, "freezes": frozen}
        )
        return
    if not diff:
        stdout().print(Text(f"{cluster}: already pinned to {moved}, nothing to change"))
        return
    show_diff(stdout(), diff, summary)
    text = f"{cluster}: control plane promoted to {moved}; next: jacquard preview {spec.name}"
    stdout().print(Text(text), soft_wrap=True)
    _note(frozen)
