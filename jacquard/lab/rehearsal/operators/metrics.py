"""Simulated operator of VictoriaMetrics: reports its objects, and creates the Secret of each user.

No metrics and logs are stored. The operator creates a Secret with a generated password once a proxy selects the user
and the user's targets exist (VictoriaMetrics/operator v0.74.0, internal/controller/operator/factory/vmauth).
"""

from collections.abc import Iterator

from jacquard.lab.rehearsal.operators.releases.installed import installed
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, simulated_secret
from jacquard.providers.kube.objects import dig

API = "operator.victoriametrics.com/v1beta1"
LOGS_API = "operator.victoriametrics.com/v1"
CHART = "victoria-metrics-operator"
_LOGS = "VLCluster"
_OPERATIONAL, _FAILED = "operational", "failed"


def reconcile(view: View) -> None:
    """Report all objects of the operator, and create the missing Secrets of users."""
    if next(installed(view, CHART), None) is None:
        return
    for api, kind in ((LOGS_API, _LOGS), (API, "VMCluster"), (API, "VMAuth"), (API, "VMAlert")):
        for item in _alive(view, kind, api):
            _report(view, item, "")
    proxied = any(dig(proxy, "spec", "selectAllByDefault") for proxy in _alive(view, "VMAuth"))
    for user in _alive(view, "VMUser") if proxied else ():
        lacking = _missing_target(view, user)
        name, namespace = f"vmuser-{user['metadata']['name']}", user["metadata"]["namespace"]
        if not lacking and view.find("v1", "Secret", name, namespace) is None:
            view.create(simulated_secret(name, namespace, ("username", "password")))
        _report(view, user, lacking)


def _alive(view: View, kind: str, api: str = API) -> Iterator[Object]:
    return (item for item in view.all(api, kind) if not deleting(item))


def _missing_target(view: View, user: Object) -> str:
    """Return a message for the first target of ``user`` that does not exist; empty if all exist."""
    for target in user["spec"]["targetRefs"]:
        crd = target["crd"]
        kind = crd["kind"].partition("/")[0]
        if view.find(LOGS_API if kind == _LOGS else API, kind, crd["name"], crd["namespace"]) is None:
            return f'cannot find CRD link for kind="{crd["kind"]}"'
    return ""


def _report(view: View, obj: Object, reason: str) -> None:
    status = {
        "updateStatus": _FAILED if reason else _OPERATIONAL,
        "observedGeneration": obj["metadata"].get("generation", 1),
        **({"reason": reason} if reason else {}),
    }
    if any(dig(obj, "status", key) != value for key, value in status.items()):
        view.status(obj, status)
