"""Pods for which Flux waits after the installation of a simulated release, by the criteria of Helm's wait.

Helm waits until Deployments are available (helm/helm:pkg/kube/ready.go), unless ``disableWait`` is set. A simulated
chart has no Deployment. Its pods are assumed to run as soon as the scheduler would place them: a node of the cluster
has the labels that they require, and only taints that they tolerate. A DaemonSet without nodes delays no release.
"""

from components.lookups.scheduling import unscheduled
from jacquard.lab.rehearsal.operators.releases import chart_pods
from jacquard.lab.rehearsal.operators.releases.helm import RELEASE, is_real
from jacquard.lab.rehearsal.operators.view import Object, View
from jacquard.lab.rehearsal.operators.vms.placement import scheduling_node
from jacquard.providers.kube.objects import dig

_DEPLOYED = ("services", "anywhere")
"""Pods of Deployments, by what they serve in the table."""


def unplaced(obj: Object, target: View | None) -> str:
    """Return the first Deployment of a simulated release that fits no node of ``target``, with the reasons; or empty.

    Real releases, charts that are not in the table and releases in the management cluster (None) are not checked.
    """
    if obj["kind"] != RELEASE[1] or target is None or is_real(obj):
        return ""
    spec = obj["spec"]
    action = "upgrade" if dig(obj, "status", "history") else "install"
    rows = [] if dig(spec, action, "disableWait") else chart_pods.rows().get(dig(spec, "chartRef", "name") or "", ())
    values = spec.get("values") or {}
    for row in rows:
        if row["serves"] in _DEPLOYED and row.get("by") != "operator" and chart_pods.exists(row, values):
            refused = _refusals(chart_pods.pod_spec(row, obj, values), target)
            if refused is not None:
                return f"Running '{action}' action: Deployment {row['pod']} fits no node{refused}"
    return ""


def _refusals(pod: Object, target: View) -> str | None:
    """Return why no node takes ``pod``, each reason once; None if a node takes it."""
    reasons: dict[str, None] = {}
    for node in target.all("v1", "Node"):
        reason = unscheduled(pod, scheduling_node(node))
        if not reason:
            return None
        reasons[reason] = None
    return f": {', '.join(reasons)}" if reasons else ""
