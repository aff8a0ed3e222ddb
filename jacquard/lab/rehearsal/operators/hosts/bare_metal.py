"""What the bare-metal operator does with a host: it logs in to its BMC, and gives it its turn.

A host moves only when an operator watches its namespace, with an Ironic that is ready, a login of its BMC and a
certificate that can be verified. Of hosts that boot from the network an operator lets so many at a time be inspected,
provisioned and wiped; those with virtual media wait for nobody. How long each of that takes: ``stages/hosts.yaml``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from jacquard.lab.rehearsal.operators.releases.installed import installed
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, reported
from jacquard.providers.kube.objects import dig

CHART = "baremetal-operator"
HOST = ("metal3.io/v1alpha1", "BareMetalHost")
IRONIC = ("ironic.metal3.io/v1alpha1", "Ironic")
DELAYED, OK = "delayed", "OK"
REGISTRATION = "registration error"
UNVERIFIED = "Failed to get power state for node: certificate verify failed: unable to get local issuer certificate"
"""What Ironic says of a BMC whose certificate it knows no authority of."""
_LOGIN = ("username", "password")
_DEFAULT_LIMIT = 20
_AT_WORK = {"inspecting", "preparing", "provisioning", "deprovisioning"}
"""States in which Ironic inspects, writes or wipes, unless that has failed."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A bare-metal operator that runs, as its release says."""

    watched: frozenset[str]
    """Namespaces whose hosts it has; all when there are none."""
    ironic: Object | None
    boots_from_network: bool
    """Whether there is a network in which hosts boot."""
    limit: int
    """Hosts without virtual media that may be at work at the same time."""

    def has(self, host: Object) -> bool:
        """Return whether a host is this operator's."""
        return not self.watched or host["metadata"].get("namespace") in self.watched


def reconcile(view: View) -> None:
    """Move the hosts of each operator one step on."""
    hosts = list(view.all(*HOST))
    for operator in operators(view):
        mine = [host for host in hosts if operator.has(host)]
        at_work = {host["metadata"]["uid"] for host in mine if takes_turn(host)}
        for host in mine:
            _step(view, operator, host, at_work)


def operators(view: View) -> Iterator[Operator]:
    """Yield the operators whose releases are installed."""
    for release in installed(view, CHART):
        values: list[Mapping[str, str]] = dig(release, "spec", "values", "envs") or []
        told = {one["name"]: one.get("value", "") for one in values}
        namespace = dig(release, "spec", "targetNamespace") or release["metadata"]["namespace"]
        yield Operator(
            watched=frozenset(filter(None, told.get("WATCH_NAMESPACE", "").split(","))),
            ironic=view.find(*IRONIC, told.get("IRONIC_NAME"), namespace),
            boots_from_network=told.get("PROVISIONING_NETWORK_DISABLED", "").lower() != "true",
            limit=int(told.get("PROVISIONING_LIMIT") or _DEFAULT_LIMIT),
        )


def _step(view: View, operator: Operator, host: Object, at_work: set[str]) -> None:
    status = host.get("status") or {}
    state = _state(host)
    if not state:
        return
    why = "" if deleting(host) else _no_login(view, host)
    if not why and not (operator.ironic and reported(operator.ironic, "Ready")):
        return
    if not why and state == "registering":
        why = _refused(operator, host)
    if why:
        _fail(view, host, why)
        return
    following = _following(host)
    uid = host["metadata"]["uid"]
    if following and _needs_network(host) and uid not in at_work and len(at_work) >= operator.limit:
        if status.get("operationalStatus") != DELAYED:
            view.status(host, {"operationalStatus": DELAYED})
        return
    healed = {"operationalStatus": OK, "errorType": None, "errorMessage": "", "errorCount": 0}
    if following:
        view.status(host, {**healed, **_entered(host, following)})
        at_work |= {uid} if _boots_from_network(host) else set()
    elif status.get("errorType") == REGISTRATION:
        view.status(host, healed)


def _state(host: Object) -> str:
    return str(dig(host, "status", "provisioning", "state") or "")


def _following(host: Object) -> str | None:
    """Return the state that a host should get next and that takes a turn; None when there is none."""
    state, image = _state(host), dig(host, "spec", "image", "url")
    if state == "registering" and not deleting(host):
        return "inspecting"
    if state == "available" and image and not deleting(host):
        return "provisioning"
    # Ironic failed, and the pause after that is over: it begins anew.
    again = state == "provisioning" and dig(host, "status", "operationalStatus") == DELAYED
    if again or (state in {"provisioning", "provisioned"} and (deleting(host) or not image)):
        return "deprovisioning"
    return None


def _entered(host: Object, state: str) -> Object:
    """Return what is written when a host enters a state."""
    if state != "inspecting":
        return {"poweredOn": True, "provisioning": {"state": state}}
    login = {"name": dig(host, "spec", "bmc", "credentialsName"), "namespace": host["metadata"]["namespace"]}
    return {
        "poweredOn": True,
        "provisioning": {"state": state, "ID": host["metadata"]["uid"]},
        "triedCredentials": {"credentials": login},
        "goodCredentials": {"credentials": login},
    }


def _fail(view: View, host: Object, why: str) -> None:
    if dig(host, "status", "errorMessage") != why:
        count = (dig(host, "status", "errorCount") or 0) + 1
        error = {"errorType": REGISTRATION, "errorMessage": why, "errorCount": count}
        view.status(host, {"operationalStatus": "error", **error})


def _no_login(view: View, host: Object) -> str:
    """Return why nobody can log in to the BMC of a host, in the operator's words; nothing when all is there."""
    name, namespace = dig(host, "spec", "bmc", "credentialsName"), host["metadata"]["namespace"]
    if not name:
        return "The BMC secret reference is empty"
    secret = view.find("v1", "Secret", name, namespace)
    if secret is None:
        return f"The BMC secret {namespace}/{name} does not exist"
    lacking = next((key for key in _LOGIN if not dig(secret, "data", key)), None)
    detail = "detail" if lacking == "username" else "details"
    return f"Missing BMC connection {detail} '{lacking}' in credentials" if lacking else ""


def _refused(operator: Operator, host: Object) -> str:
    """Return why a host is not registered whose login is there; simulated BMCs have certificates of the platform's."""
    driver, _, transport = _scheme(host).partition("+")
    if _needs_network(host) and not operator.boots_from_network:
        return f"BMC driver {_scheme(host)} requires a provisioning network"
    has_certificate = driver not in {"", "ipmi", "libvirt"} and transport != "http"
    authority = dig(operator.ironic, "spec", "tls", "bmcCA")
    trusted = authority or dig(host, "spec", "bmc", "disableCertificateVerification")
    return UNVERIFIED if has_certificate and not trusted else ""


def takes_turn(host: Object) -> bool:
    """Return whether a host takes one of the turns now."""
    failed = _state(host) == "provisioning" and dig(host, "status", "operationalStatus") != OK
    return _state(host) in _AT_WORK and not failed and _boots_from_network(host)


def _boots_from_network(host: Object) -> bool:
    return "virtualmedia" not in _scheme(host)


def _needs_network(host: Object) -> bool:
    """Return whether a host boots in Ironic's network and waits for its turn; what boots by HTTP only takes turns."""
    return _boots_from_network(host) and "uefihttp" not in _scheme(host)


def _scheme(host: Object) -> str:
    scheme, mark, _ = str(dig(host, "spec", "bmc", "address") or "").partition("://")
    return scheme if mark else ""
