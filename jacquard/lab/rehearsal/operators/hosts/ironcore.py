"""Simulated IronCore: a BMC creates a Server, and a machine claims a free matching Server for its lifetime.

Servers are cluster-scoped. The garbage collector deletes the claim of a deleted machine, because the machine owns the
claim.
"""

import base64
import binascii
import json
import uuid

from jacquard.lab.rehearsal.operators.hosts.claims import CLUSTER, MACHINE, selects
from jacquard.lab.rehearsal.operators.hosts.machines import ServerReport, generic_report
from jacquard.lab.rehearsal.operators.view import LOG, Object, View, conditions, deleting, hold, let_go, owned_by, owner
from jacquard.providers.kube.objects import dig

API = "metal.ironcore.dev/v1alpha1"
PROVIDER = "infrastructure.cluster.x-k8s.io/v1alpha1"
ON, OFF = "On", "Off"
RESERVED = "Reserved"
_MACHINE_FINALIZER = "infrastructure.cluster.x-k8s.io/ironcoremetalmachine"
_CLAIM_FINALIZER = "metal.ironcore.dev/serverclaim"
_BOUND, _UNBOUND = "Bound", "Unbound"


def reconcile(view: View, report: ServerReport = generic_report) -> None:
    """Update all BMCs, machines and claims; ``report`` returns the hardware of a BMC's server as its status."""
    servers = {server["metadata"]["name"]: server for server in view.all(API, "Server")}
    for bmc in view.all(API, "BMC"):
        if not deleting(bmc) and _logged_in(view, bmc):
            _discover(view, bmc, servers, report)
    for machine in view.all(PROVIDER, "IroncoreMetalMachine"):
        if deleting(machine):
            let_go(view, machine, _MACHINE_FINALIZER)
        elif not dig(machine, "status", "ready"):
            _machine(view, machine)
    claimed = {key: server for server in servers.values() if (key := _consumer(server))}
    for claim in view.all(API, "ServerClaim"):
        reserved = claimed.get(_key(claim))
        if deleting(claim):
            _release(view, claim, reserved)
        elif reserved is not None:
            _bind(view, claim, reserved)
        else:
            _choose(view, claim, servers)


def _logged_in(view: View, bmc: Object) -> bool:
    """Return whether the operator can log in to a BMC; the condition Ready reports a missing login."""
    name = dig(bmc, "spec", "bmcSecretRef", "name")
    secret = view.find(API, "BMCSecret", name)
    login = {**(dig(secret, "data") or {}), **(dig(secret, "stringData") or {})}
    lacking = next((key for key in ("username", "password") if not login.get(key)), None)
    if secret is None or lacking:
        problem = f"BMCSecret '{name}' not found" if secret is None else f"BMCSecret '{name}' has no key '{lacking}'"
        unmet = ("False", "UnknownError", f"BMC connection error: {problem}")
        if patch := conditions(bmc, Ready=unmet):
            view.status(bmc, patch)
        return False
    if patch := conditions(bmc, Ready=("True", "Connected", "BMC is connected")):
        answer = {"ip": dig(bmc, "spec", "access", "ip"), "powerState": ON, "state": "Enabled"}
        view.status(bmc, {**answer, **patch})
    return bool(dig(bmc, "status", "state") == "Enabled")


def _discover(view: View, bmc: Object, servers: dict[str, Object], report: ServerReport) -> None:
    """Create the Server of a BMC, report its hardware, and add new labels of the BMC to it, never removing a label."""
    metadata = bmc["metadata"]
    name, labels = f"{metadata['name']}-system-0", metadata.get("labels") or {}
    known = servers.get(name)
    if known is None:
        # The same hardware always reports the same UUID.
        system = uuid.uuid5(uuid.NAMESPACE_URL, str(dig(bmc, "spec", "access", "ip")))
        view.create(
            {
                "apiVersion": API,
                "kind": "Server",
                "metadata": {"name": name, "labels": labels, "ownerReferences": owned_by(bmc)},
                "spec": {"systemUUID": str(system), "bmcRef": {"name": metadata["name"]}},
            }
        )
    elif not labels.items() <= (known["metadata"].get("labels") or {}).items():
        view.patch(known, {"metadata": {"labels": labels}})
    elif dig(known, "status", "state") == "Discovery" and not dig(known, "status", "processors"):
        view.status(known, report(bmc))


def _machine(view: View, machine: Object) -> None:
    metadata = machine["metadata"]
    namespace = metadata["namespace"]
    capi = view.find(*MACHINE, owner(machine, "Machine"), namespace)
    cluster = view.find(*CLUSTER, dig(capi, "spec", "clusterName"), namespace)
    if not dig(cluster, "status", "initialization", "infrastructureProvisioned"):
        return
    data = view.find("v1", "Secret", dig(capi, "spec", "bootstrap", "dataSecretName"), namespace)
    if data is None:
        return
    if hold(view, machine, _MACHINE_FINALIZER):
        return
    claim = view.find(API, "ServerClaim", metadata["name"], namespace)
    if claim is None:
        _order(view, machine, data)
    elif dig(claim, "status", "phase") == _BOUND and not dig(machine, "spec", "providerID"):
        view.patch(machine, {"spec": {"providerID": f"metal://{namespace}/{metadata['name']}"}})
    elif dig(machine, "spec", "providerID"):
        view.status(machine, {"ready": True})


def _order(view: View, machine: Object, data: Object) -> None:
    """Create the claim of a machine, after the Secret with the Ignition of its server."""
    namespace, name = machine["metadata"]["namespace"], machine["metadata"]["name"]
    value = str(dig(data, "data", "value") or "")
    try:
        json.loads(base64.b64decode(value))
    except (binascii.Error, ValueError):
        LOG.warning("IroncoreMetalMachine %s/%s: its bootstrap data is not Ignition", namespace, name)
        return
    ignition = f"ignition-{data['metadata']['name']}"
    view.apply(
        {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": ignition, "namespace": namespace, "ownerReferences": owned_by(data)},
            "data": {"ignition": value},
        }
    )
    spec = machine["spec"]
    view.create(
        {
            "apiVersion": API,
            "kind": "ServerClaim",
            "metadata": {"name": name, "namespace": namespace, "ownerReferences": owned_by(machine)},
            "spec": {
                "power": ON,
                "image": spec["image"],
                "ignitionSecretRef": {"name": ignition},
                **({"serverSelector": spec["serverSelector"]} if "serverSelector" in spec else {}),
            },
        }
    )


def _choose(view: View, claim: Object, servers: dict[str, Object]) -> None:
    """Assign the first free matching server to a claim, and remove it from ``servers`` for this round."""
    if dig(claim, "status", "phase") is None:
        view.status(claim, {"phase": _UNBOUND})
    selector = dig(claim, "spec", "serverSelector") or {}
    for name, server in servers.items():
        if _is_free(server) and selects(selector, server["metadata"].get("labels") or {}):
            namespace, claimant = _key(claim)
            view.patch(server, {"spec": {"serverClaimRef": {"namespace": namespace, "name": claimant}}})
            del servers[name]
            return


def _is_free(server: Object) -> bool:
    spec = server["spec"]
    return (
        not deleting(server)
        and not spec.get("serverClaimRef")
        and dig(server, "status", "state") == "Available"
        and dig(server, "status", "powerState") == OFF
        and not spec.get("unclaimable")
        and not spec.get("serverMaintenanceRef")
        and not spec.get("taints")
    )


def _bind(view: View, claim: Object, server: Object) -> None:
    """Boot the server of a claim after its reservation."""
    metadata, spec = claim["metadata"], claim["spec"]
    if not spec.get("serverRef"):
        finalizers = [*(metadata.get("finalizers") or ()), _CLAIM_FINALIZER]
        reference = {"name": server["metadata"]["name"]}
        view.patch(claim, {"metadata": {"finalizers": finalizers}, "spec": {"serverRef": reference}})
        return
    if dig(server, "status", "state") != RESERVED:
        return
    namespace, name = _key(claim)
    boot = {
        "serverRef": spec["serverRef"],
        "image": spec["image"],
        **({"ignitionSecretRef": spec["ignitionSecretRef"]} if "ignitionSecretRef" in spec else {}),
    }
    if view.find(API, "ServerBootConfiguration", name, namespace) is None:
        place = {"name": name, "namespace": namespace, "ownerReferences": owned_by(claim)}
        view.create({"apiVersion": API, "kind": "ServerBootConfiguration", "metadata": place, "spec": boot})
    if dig(claim, "status", "phase") != _BOUND:
        view.status(claim, {"phase": _BOUND})
    wanted = {"bootConfigurationRef": {"namespace": namespace, "name": name}, "power": spec["power"]}
    if not wanted.items() <= server["spec"].items():
        view.patch(server, {"spec": wanted})


def _release(view: View, claim: Object, server: Object | None) -> None:
    """Power off and release the server of a claim; its disks are not wiped."""
    if server is None:
        let_go(view, claim, _CLAIM_FINALIZER)
        return
    view.patch(server, {"spec": {"serverClaimRef": None, "bootConfigurationRef": None, "power": OFF}})


def _consumer(server: Object) -> tuple[str, str] | None:
    claim = server["spec"].get("serverClaimRef")
    return (claim["namespace"], claim["name"]) if claim else None


def _key(claim: Object) -> tuple[str, str]:
    return claim["metadata"]["namespace"], claim["metadata"]["name"]
