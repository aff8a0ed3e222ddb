"""Simulated bare-metal operator: logs in to BMCs, and limits the number of busy hosts.

A host progresses only if an operator watches the host's namespace, the operator's Ironic is ready, and the login and
certificate of the host's BMC are valid. An operator inspects, provisions and wipes a limited number of hosts that boot
from the network at a time; hosts with virtual media never wait. ``stages/hosts.yaml`` contains the durations.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from zlib import crc32

from jacquard.lab.rehearsal.operators.hosts import firmware
from jacquard.lab.rehearsal.operators.hosts.machines import BiosSettings, Details, generic_bios, generic_details
from jacquard.lab.rehearsal.operators.releases.installed import installed
from jacquard.lab.rehearsal.operators.view import Object, View, deleting, reported
from jacquard.providers.kube.objects import dig

CHART = "baremetal-operator"
HOST = ("metal3.io/v1alpha1", "BareMetalHost")
IRONIC = ("ironic.metal3.io/v1alpha1", "Ironic")
DELAYED, OK = "delayed", "OK"
REGISTRATION = "registration error"
UNVERIFIED = "Failed to get power state for node: certificate verify failed: unable to get local issuer certificate"
"""Ironic's message for a BMC whose certificate authority is unknown."""
_LOGIN = ("username", "password")
_ARCHITECTURE = "x86_64"
"""Architecture of the operators' host, and of the ramdisk that Ironic downloads by default."""
_DEFAULT_LIMIT = 20
_AT_WORK = {"inspecting", "preparing", "provisioning", "deprovisioning"}
"""States in which Ironic inspects, writes or wipes the host, except after a failure."""
POWER_CYCLE = "reboot.metal3.io"
"""Annotation that requests a reboot; with a name after a slash, it keeps the power off."""


@dataclass(frozen=True, slots=True)
class Operator:
    """A running bare-metal operator, configured by its release."""

    watched: frozenset[str]
    """Namespaces of the operator's hosts; empty: all namespaces."""
    ironic: Object | None
    boots_from_network: bool
    """Whether a provisioning network exists."""
    limit: int
    """Maximum number of simultaneously busy hosts without virtual media."""

    def has(self, host: Object) -> bool:
        """Return whether this operator manages a host."""
        return not self.watched or host["metadata"].get("namespace") in self.watched


def reconcile(view: View, details: Details = generic_details, bios: BiosSettings = generic_bios) -> None:
    """Update the hosts of each operator.

    Args:
        view: The management cluster.
        details: Returns the hardware that inspection of a host reports.
        bios: Returns the first BIOS settings of a host.
    """
    hosts = list(view.all(*HOST))
    for host in hosts:
        firmware.create(view, host)
        firmware.compare(view, host, bios(host))
    for operator in operators(view):
        managed = sorted((host for host in hosts if operator.has(host)), key=_turn)
        at_work = {host["metadata"]["uid"] for host in managed if takes_turn(host)}
        for host in managed:
            _step(view, operator, host, at_work, details)


def _turn(host: Object) -> int:
    """Return the position of a waiting host: any, but always the same.

    Upstream has no queue: a delayed host asks again after a pause with jitter (``actionDelayed`` in
    ``internal/controller/metal3.io/action_result.go``). In the order of the names, all hosts of the last racks would be
    last, such as those of a pool on which others depend.
    """
    return crc32(host["metadata"]["name"].encode())


def operators(view: View) -> Iterator[Operator]:
    """Yield the operators whose releases are installed."""
    for release in installed(view, CHART):
        values: list[Mapping[str, str]] = dig(release, "spec", "values", "envs") or []
        variables = {variable["name"]: variable.get("value", "") for variable in values}
        namespace = dig(release, "spec", "targetNamespace") or release["metadata"]["namespace"]
        yield Operator(
            watched=frozenset(filter(None, variables.get("WATCH_NAMESPACE", "").split(","))),
            ironic=view.find(*IRONIC, variables.get("IRONIC_NAME"), namespace),
            boots_from_network=variables.get("PROVISIONING_NETWORK_DISABLED", "").lower() != "true",
            limit=int(variables.get("PROVISIONING_LIMIT") or _DEFAULT_LIMIT),
        )


def _step(view: View, operator: Operator, host: Object, at_work: set[str], details: Details) -> None:
    status = host.get("status") or {}
    state = _state(host)
    if not state:
        return
    problem = "" if deleting(host) else _no_login(view, host)
    if not problem and not (operator.ironic and reported(operator.ironic, "Ready")):
        return
    if not problem and state == "registering":
        problem = _refused(operator, host)
    if problem:
        _fail(view, host, problem)
        return
    following = _following(host)
    uid = host["metadata"]["uid"]
    if following and _needs_network(host) and uid not in at_work and len(at_work) >= operator.limit:
        if status.get("operationalStatus") != DELAYED:
            view.status(host, {"operationalStatus": DELAYED})
        return
    if following == "provisioning" and not firmware.update(view, host):
        return
    recovered = {"operationalStatus": OK, "errorType": None, "errorMessage": "", "errorCount": 0}
    if following:
        inspected = {"hardware": details(host)} if following == "inspecting" else {}
        view.status(host, {**recovered, **_entered(host, following), **inspected})
        at_work |= {uid} if _boots_from_network(host) else set()
    elif status.get("errorType") == REGISTRATION:
        view.status(host, recovered)


def _state(host: Object) -> str:
    return str(dig(host, "status", "provisioning", "state") or "")


def _following(host: Object) -> str | None:
    """Return the next state of a host that counts towards the limit, or None."""
    state, image = _state(host), dig(host, "spec", "image", "url")
    if state == "registering" and not deleting(host):
        return "inspecting"
    if state == "available" and image and not deleting(host):
        return "provisioning"
    # Ironic failed, and the back-off is over: start again.
    retries = state == "provisioning" and dig(host, "status", "operationalStatus") == DELAYED
    if retries or (state in {"provisioning", "provisioned"} and (deleting(host) or not image)):
        return "deprovisioning"
    return None


def _entered(host: Object, state: str) -> Object:
    """Return the status patch for a host that changes to a state."""
    if state != "inspecting":
        return {"poweredOn": True, "provisioning": {"state": state}}
    login = {"name": dig(host, "spec", "bmc", "credentialsName"), "namespace": host["metadata"]["namespace"]}
    return {
        "poweredOn": True,
        "provisioning": {"state": state, "ID": host["metadata"]["uid"]},
        "triedCredentials": {"credentials": login},
        "goodCredentials": {"credentials": login},
    }


def _fail(view: View, host: Object, problem: str) -> None:
    if dig(host, "status", "errorMessage") != problem:
        count = (dig(host, "status", "errorCount") or 0) + 1
        error = {"errorType": REGISTRATION, "errorMessage": problem, "errorCount": count}
        view.status(host, {"operationalStatus": "error", **error})


def _no_login(view: View, host: Object) -> str:
    """Return the operator's message for an incomplete BMC login; empty if the login is complete."""
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
    """Return the reason why a host with a login is not registered; the platform's CA signs all BMC certificates."""
    driver, _, transport = _scheme(host).partition("+")
    if _needs_network(host) and not operator.boots_from_network:
        return f"BMC driver {_scheme(host)} requires a provisioning network"
    has_certificate = driver not in {"", "ipmi", "libvirt"} and transport != "http"
    authority = dig(operator.ironic, "spec", "tls", "bmcCA")
    trusted = authority or dig(host, "spec", "bmc", "disableCertificateVerification")
    if has_certificate and not trusted:
        return UNVERIFIED
    return _no_ramdisk(operator, dig(host, "spec", "architecture") or _ARCHITECTURE)


def _no_ramdisk(operator: Operator, architecture: str) -> str:
    """Return Ironic's message for an architecture without a ramdisk. By default Ironic downloads one ramdisk."""
    images = dig(operator.ironic, "spec", "overrides", "agentImages")
    have = [_ARCHITECTURE] if images is None else [image.get("architecture", architecture) for image in images]
    return "" if architecture in have else f"Missing 'deploy_kernel' and 'deploy_ramdisk' for {architecture}"


def takes_turn(host: Object) -> bool:
    """Return whether a host counts towards the limit now."""
    failed = _state(host) == "provisioning" and dig(host, "status", "operationalStatus") != OK
    return _state(host) in _AT_WORK and not failed and _boots_from_network(host)


def _boots_from_network(host: Object) -> bool:
    return "virtualmedia" not in _scheme(host)


def _needs_network(host: Object) -> bool:
    """Return whether a host boots in Ironic's network and waits for the limit; HTTP boot counts, but does not wait."""
    return _boots_from_network(host) and "uefihttp" not in _scheme(host)


def _scheme(host: Object) -> str:
    scheme, mark, _ = str(dig(host, "spec", "bmc", "address") or "").partition("://")
    return scheme if mark else ""


def switch_power(view: View) -> None:
    """Switch hosts in a stable state on or off, as ``online`` and the requests for reboots demand.

    As in ``manageHostPower`` (BMO:internal/controller/metal3.io/baremetalhost_controller.go, 0.13.2), the request
    without a name is removed when the power is off, so that it reboots the host once. A request with a name keeps the
    power off until its author removes it. For a host without an image, a request applies only with ``force``.
    """
    for host in view.all(*HOST):
        state, on = _state(host), bool(dig(host, "status", "poweredOn"))
        if deleting(host) or state not in {"available", "provisioned"}:
            continue
        requests = _reboot_requests(host)
        asked = any(state == "provisioned" or _forced(value) for value in requests.values())
        wanted = bool(dig(host, "spec", "online")) and not asked
        if not on and POWER_CYCLE in requests:
            view.patch(host, {"metadata": {"annotations": {POWER_CYCLE: None}}})
        elif on != wanted:
            view.status(host, {"poweredOn": wanted})


def _reboot_requests(host: Object) -> dict[str, str]:
    annotations: dict[str, str] = host["metadata"].get("annotations") or {}
    return {key: value for key, value in annotations.items() if key.partition("/")[0] == POWER_CYCLE}


def _forced(request: str) -> bool:
    try:
        options: Object = json.loads(request)
    except ValueError:
        return False
    return isinstance(options, dict) and bool(options.get("force"))
