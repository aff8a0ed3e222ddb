"""``jacquard facts``: jobs and faults of nodes, and states of machines and hosts, as a file with a timestamp."""

import datetime as dt
import json

from rich.text import Text

from components.lookups.pools import clusters
from components.specs.environment import Environment
from jacquard.cli import arguments, data, outputs
from jacquard.cli.console import plural, stdout, write_text
from jacquard.cli.errors import ExitCode, Stop, show
from jacquard.machine import settings
from jacquard.observe.facts import HISTORY_HOURS, KINDS, Facts, FaultHistory, assemble
from jacquard.observe.jobs import Jobs
from jacquard.observe.metrics_store import MetricsError, MetricsStore
from jacquard.observe.nodes.fault_history import fault_history
from jacquard.observe.observation import observe
from jacquard.previews.impacts.occupancy import utc_text

_MARK = '"kind": "jacquard facts"'


def facts(
    environment: arguments.Env, *, metrics: arguments.MetricsOption = None, out: arguments.OutOption = None
) -> None:
    """Record the jobs and faults of each node of a region, for 'jacquard impact --facts'.

    Reads the clusters and changes nothing. For each node, counts the GPU pods that would end if the node were drained
    or deleted; pods of DaemonSets, static pods and finished pods are not counted. Also records faults, and the states
    of machines and hosts; with --metrics, also the faults of the last 7 days. A cluster that does not answer is listed
    with the reason, and its nodes are omitted. Exits with 7, and writes nothing, if no cluster can be read, or if the
    metrics store gives no complete answer.
    """
    spec = data.load(environment)
    observed = assemble(spec, observe(spec, tenants=KINDS, keep=Jobs(spec).keep, fields={}))
    unread = {item.cluster: item.unreachable for item in observed.clusters if item.unreachable is not None}
    for cluster, reason in unread.items():
        show(f"cluster {cluster} cannot be read and is omitted: {reason}", "warning")
    if len(unread) == len(observed.clusters):
        msg = f"{environment}: no cluster can be read, so there are no facts"
        raise Stop(msg, ExitCode.UNREACHABLE)
    if metrics is not None:
        observed = observed.model_copy(update={"history": _history(spec, metrics, observed.observed_at)})
    text = json.dumps(observed.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
    if out is None:
        write_text(text)
        return
    outputs.write("--out", out, text, _MARK)
    stdout().print(Text(_summary(observed, len(unread))), soft_wrap=True)


def _history(environment: Environment, url: str, at: dt.datetime) -> FaultHistory:
    """Return the faults in the metrics store; warn about clusters of which it does not have all hours.

    Raises:
        Stop: the store gave no complete answer.
    """
    try:
        history = fault_history(environment, MetricsStore(url, settings.metrics_login()), at)
    except MetricsError as error:
        msg = f"{environment.name}: {error}"
        raise Stop(msg, ExitCode.UNREACHABLE) from None
    for placed in clusters(environment):
        name = placed.cluster.name
        hours = max((entry.hours for entry in history.coverage if entry.cluster == name), default=0)
        if hours < HISTORY_HOURS:
            known = f"{hours} of the last {HISTORY_HOURS} hours of cluster {name}"
            show(f"the metrics store has {known}; earlier faults are missing in the history", "warning")
    return history


def _summary(observed: Facts, unread: int) -> str:
    busy = [node for node in observed.nodes if node.pods]
    pods, gpus = sum(node.pods for node in busy), sum(node.gpus for node in busy)
    jobs = f" by {plural(pods, 'pod')} on {plural(gpus, 'GPU')}" if busy else ""
    missing = f"; {plural(unread, 'cluster')} not read" if unread else ""
    nodes = f"{len(busy)} of {plural(len(observed.nodes), 'node')} occupied{jobs}"
    faulty = {(fault.cluster, fault.node) for fault in observed.history.faults} if observed.history else None
    history = "" if faulty is None else f"; {plural(len(faulty), 'node')} with faults in {HISTORY_HOURS // 24} days"
    return f"{observed.environment}: {nodes}, as of {utc_text(observed.observed_at)}{history}{missing}"
