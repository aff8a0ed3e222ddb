"""``jacquard promote`` for a control plane: another Kubernetes version, or another data store."""

from __future__ import annotations

from rich.text import Text

from components.reports.lock_changes import sentences
from components.rollout.upgrades import move_data_store, promote_control_plane
from components.specs.environment import Environment
from components.specs.reading.store import write_locks
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop
from jacquard.cli.views.changes.lock_changes import changes, show_diff
from jacquard.machine import paths


def promote_cluster(
    spec: Environment, cluster: str, *, version: str | None, data_store: str | None, output: Format
) -> None:
    """Move the pin of the control plane of ``cluster``.

    Raises:
        Stop: it is not said where to, or two things at once are.
        SpecError: it may not go there; all reasons are told.
    """
    if version is not None and data_store is None:
        lock, moved = promote_control_plane(spec, cluster, version), version
    elif data_store is not None and version is None:
        lock, moved = move_data_store(spec, cluster, data_store), f"data store {data_store}"
    else:
        msg = f"{cluster} is a control plane: write --to VERSION or --data-store NAME, one of the two"
        raise Stop(msg, ExitCode.BAD_DATA)
    diff = changes(spec, spec.allocations, lock)
    told = sentences(spec, spec.model_copy(update={"image_pins": lock}))
    write_locks(spec, paths.environments(), spec.allocations, lock)
    if output is Format.JSON:
        pin = lock.control_planes[cluster].model_dump(mode="json")
        print_json({"environment": spec.name, "cluster": cluster, **pin, "summary": told, "diff": diff})
        return
    if not diff:
        stdout().print(Text(f"{cluster}: is pinned to {moved} already, nothing to change"))
        return
    show_diff(stdout(), diff, told)
    text = f"{cluster}: control plane moved to {moved}; next: jacquard preview {spec.name}"
    stdout().print(Text(text), soft_wrap=True)
