"""``jacquard facts``: jobs on nodes, and states of machines and hosts of a region, as a file with a timestamp."""

import json

from rich.text import Text

from jacquard.cli import arguments, data, outputs
from jacquard.cli.console import plural, stdout, write_text
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.observe.facts import KINDS, Facts, assemble
from jacquard.observe.jobs import Jobs
from jacquard.observe.observation import observe
from jacquard.previews.impacts.occupancy import utc_text

_MARK = '"kind": "jacquard facts"'


def facts(environment: arguments.Env, *, out: arguments.OutOption = None) -> None:
    """Record the jobs on each node of a region, for 'jacquard impact --facts'.

    Reads the clusters and changes nothing. For each node, counts the GPU pods that would end if the node were drained
    or deleted; pods of DaemonSets, static pods and finished pods are not counted. Also records the states of machines
    and hosts. A cluster that does not answer is listed with the reason, and its nodes are omitted. Exits with 7, and
    writes nothing, if no cluster can be read.
    """
    spec = data.load(environment)
    observed = assemble(spec, observe(spec, tenants=KINDS, keep=Jobs(spec).keep, fields={}))
    unread = {item.cluster: item.unreachable for item in observed.clusters if item.unreachable is not None}
    for cluster, reason in unread.items():
        show(f"cluster {cluster} cannot be read and is omitted: {reason}", "warning")
    if len(unread) == len(observed.clusters):
        msg = f"{environment}: no cluster can be read, so there are no facts"
        raise Stop(msg, ExitCode.UNREACHABLE)
    text = json.dumps(observed.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
    if out is None:
        write_text(text)
        return
    outputs.write("--out", out, text, _MARK)
    stdout().print(Text(_summary(observed, len(unread))), soft_wrap=True)


def _summary(observed: Facts, unread: int) -> str:
    busy = [node for node in observed.nodes if node.pods]
    pods, gpus = sum(node.pods for node in busy), sum(node.gpus for node in busy)
    jobs = f" by {plural(pods, 'pod')} on {plural(gpus, 'GPU')}" if busy else ""
    missing = f"; {plural(unread, 'cluster')} not read" if unread else ""
    nodes = f"{len(busy)} of {plural(len(observed.nodes), 'node')} occupied{jobs}"
    return f"{observed.environment}: {nodes}, as of {utc_text(observed.observed_at)}{missing}"
