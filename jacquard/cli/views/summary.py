"""Final summary of ``jacquard up``: status of the region, changes, durations and suggested next commands."""

import os
import shlex
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from components.intents.images import objections
from components.intents.nodes import intents_of
from components.lookups.pools import pools
from components.specs.environment import Environment
from jacquard.cli.console import plural, seconds
from jacquard.cli.views.region import status as status_view
from jacquard.machine import paths
from jacquard.observe.region_status import RegionStatus

_PAST = {
    "create": "created",
    "update": "updated",
    "replace": "replaced",
    "delete": "deleted",
    "retain": "left in the cluster",
    "import": "imported",
}
_REASONS_SHOWN = 12
_STYLES = {"failed": "bold red", "refused": "bold red", "blocked": "bold red", "not started": "dim"}


def counted(changes: Mapping[str, int]) -> str:
    """Return the changes as text, such as ``12 created, 3 updated``, or ``no changes``."""
    words = [f"{changes[operation]} {word}" for operation, word in _PAST.items() if changes.get(operation)]
    words += [
        f"{count} {operation}" for operation, count in sorted(changes.items()) if operation not in _PAST and count
    ]
    return ", ".join(words) or "no changes"


def show(
    console: Console,
    environment: Environment,
    status: RegionStatus,
    changes: Mapping[str, Mapping[str, int]],
    durations: Mapping[str, float],
    monitoring: str = "",
) -> None:
    """Print the summary; ``monitoring`` has a line for each address of the monitoring of a local region."""
    console.print()
    console.print(status_view.tables(status))
    total: Counter[str] = Counter()
    for stack in changes.values():
        total.update(stack)
    console.print(Text.assemble((environment.name, "bold"), f": {counted(total)}, {_size(status)}"), soft_wrap=True)
    for line in status_view.burn_ins(status):
        console.print(line, soft_wrap=True)
    console.print(Text(f"time: {_times(durations)}", "dim"), soft_wrap=True)
    for address in monitoring.splitlines():
        console.print(Text(address), soft_wrap=True)
    if status.settled:
        console.print()
        console.print(_next(environment))


def unsettled(status: RegionStatus, waited_seconds: float) -> str:
    """Return the message of an ``up`` that timed out: the reasons why the region is not settled."""
    shown = status.why[:_REASONS_SHOWN]
    rest = len(status.why) - len(shown)
    lines = [f"{status.environment} is applied, but not settled after {seconds(waited_seconds)}"]
    lines += [f"  {reason}" for reason in shown]
    lines += [f"  and {rest} more"] if rest else []
    return "\n".join([*lines, f"check again with: jacquard status {status.environment}"])


def _size(status: RegionStatus) -> str:
    ready = sum(pool.ready for pool in status.pools)
    total = sum(pool.total for pool in status.pools)
    up = sum(cluster.ready for cluster in status.clusters)
    return f"{up} of {plural(len(status.clusters), 'cluster')} and {ready} of {plural(total, 'node')} ready"


def _times(durations: Mapping[str, float]) -> str:
    parts = [f"{phase} {seconds(duration)}" for phase, duration in durations.items()]
    return f"{seconds(sum(durations.values()))} ({', '.join(parts)})"


def _next(environment: Environment) -> Table:
    table = Table.grid(padding=(0, 3, 0, 0))
    table.add_column(no_wrap=True)  # commands must stay copyable
    table.add_column()
    for command, purpose in _commands(environment):
        table.add_row(Text(f"  {command}", "cyan"), Text(purpose, "dim"))
    table.title, table.title_justify, table.title_style = "Try next", "left", "bold"
    return table


def _commands(environment: Environment) -> Iterator[tuple[str, str]]:
    name = environment.name
    # In a new shell the command is not on PATH; `jacquard env` adds it.
    command = "jacquard" if shutil.which("jacquard") else shlex.quote(os.path.relpath(paths.VENV / "bin" / "jacquard"))
    yield f'eval "$({command} env {name})"', "set up this shell for jacquard, pulumi and kubectl"
    yield f"jacquard status {name}", "current status"
    for placed in pools(environment):
        pinned = {intent.image for intent in intents_of(environment, placed.key).values()}
        newest = max((image.released for image in environment.images.images if image.version in pinned), default=None)
        for image in environment.images.images:
            newer = newest is not None and image.released > newest
            if newer and not objections(environment, image, placed.cluster, placed.pool):
                yield f"jacquard promote {name} {placed.key} --to {image.version}", "pin a newer golden image"
                yield f"jacquard preview {name}", "preview that change"
                yield f"jacquard down {name}", "delete everything"
                return
    yield f"jacquard down {name}", "delete everything"


def show_stacks(console: Console, rows: Iterable[tuple[str, str, str]]) -> None:
    """Print a line per stack of a run in which at least one failed: name, result and detail."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for name in ("stack", "result", ""):
        table.add_column(name, no_wrap=bool(name))
    for stack, result, detail in rows:
        table.add_row(stack, Text(result, _STYLES.get(result, "")), detail)
    console.print()
    console.print(table)
