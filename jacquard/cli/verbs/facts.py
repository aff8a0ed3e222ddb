"""``jacquard facts``: who works on which node of a region, and how its machines and hosts are, as a dated file."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from jacquard.cli import arguments, data, outputs
from jacquard.cli.console import plural, stdout
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.observe.facts import KINDS, Facts, assemble
from jacquard.observe.jobs import Jobs
from jacquard.observe.observation import observe
from jacquard.previews.impacts.occupancy import told

_MARK = '"kind": "jacquard facts"'
_OutOption = Annotated[
    Path | None,
    typer.Option("--out", metavar="FILE", help="File to write. Default: standard output.", show_default=False),
]


def facts(environment: arguments.Env, *, out: _OutOption = None) -> None:
    """Write down who works on which node of a region now, for 'jacquard impact --facts'.

    Reads the clusters and changes nothing. Counts of each node the pods that hold GPUs and end when it is drained or
    goes: no pods of DaemonSets, no static ones, none that are finished. Says how machines and hosts are, too. A cluster
    that does not answer is named with the reason, and nothing is said of its nodes. Ends with 7, and writes nothing,
    when no cluster could be read.
    """
    spec = data.load(environment)
    found = assemble(spec, observe(spec, tenants=KINDS, keep=Jobs(spec).keep))
    unread = {one.cluster: one.unreachable for one in found.clusters if one.unreachable is not None}
    for cluster, reason in unread.items():
        show(f"cluster {cluster} cannot be read, so that nothing is known of it: {reason}", "warning")
    if len(unread) == len(found.clusters):
        msg = f"{environment}: no cluster can be read, so that there are no facts"
        raise Stop(msg, ExitCode.UNREAD)
    text = json.dumps(found.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
    if out is None:
        sys.stdout.write(text)
        return
    outputs.write("--out", out, text, _MARK)
    stdout().print(Text(_summary(found, len(unread))), soft_wrap=True)


def _summary(found: Facts, unread: int) -> str:
    busy = [node for node in found.nodes if node.pods]
    pods, gpus = sum(node.pods for node in busy), sum(node.gpus for node in busy)
    jobs = f" by {plural(pods, 'pod')} on {plural(gpus, 'GPU')}" if busy else ""
    missing = f"; {plural(unread, 'cluster')} not read" if unread else ""
    nodes = f"{len(busy)} of {plural(len(found.nodes), 'node')} occupied{jobs}"
    return f"{found.environment}: {nodes}, as of {told(found.observed_at)}{missing}"
