"""``jacquard promote`` for a control plane: change of its Kubernetes version or data store."""

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
    """Change the pin of the control plane of ``cluster``.

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
    write_locks(spec, paths.environments(), spec.allocations, lock)
    if output is Format.JSON:
        pin = lock.control_planes[cluster].model_dump(mode="json")
        print_json({"environment": spec.name, "cluster": cluster, **pin, "summary": summary, "diff": diff})
        return
    if not diff:
        stdout().print(Text(f"{cluster}: already pinned to {moved}, nothing to change"))
        return
    show_diff(stdout(), diff, summary)
    text = f"{cluster}: control plane promoted to {moved}; next: jacquard preview {spec.name}"
    stdout().print(Text(text), soft_wrap=True)
