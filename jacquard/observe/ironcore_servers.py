"""Reads hosts and images from objects of IronCore metal.

The BMC object represents a host and has its name from the inventory; the Server is created after the BMC is queried.
"""

from collections.abc import Iterator

from jacquard.observe.objects import UNKNOWN, Object, Objects, Place, Report, holds, key
from jacquard.providers.kube.objects import dig

_API = "metal.ironcore.dev/v1alpha1"
_BMC, _SERVER, _BOOT = "BMC", "Server", "ServerBootConfiguration"
HOSTS = ((_API, _BMC), (_API, _SERVER))
REPORTS = (*HOSTS, (_API, _BOOT))
_DIGEST = "@sha256:"
_POWER_OFF = "WaitingForPowerOff"


def image(template: Object) -> str | None:
    """Return the SHA-256 of the manifest that an IroncoreMetalMachineTemplate pins; None for an image by tag."""
    return _sha256(dig(template, "spec", "template", "spec", "image"))


def states(of: Objects) -> Iterator[tuple[str, str]]:
    """Yield each host with the state of its Server: ``Available`` is free, ``Reserved`` is claimed and runs a node.

    ``Reserved WaitingForPowerOff`` is a released server whose system does not shut down; no pool can claim it. For a
    host without a Server, yield the state of its BMC: ``BMC Pending`` does not answer.
    """
    servers = {_bmc(server): _state(server) for server in of(_SERVER)}
    for body in of(_BMC):
        yield key(body)[1], servers.get(key(body)[1]) or f"BMC {dig(body, 'status', 'state') or UNKNOWN}"


def report(of: Objects) -> Report:
    """Return a function that finds a host by namespace and name of the ServerClaim in a node's provider ID."""
    servers = {_reference(server, "serverClaimRef"): server for server in of(_SERVER)}
    bmcs = {key(body)[1]: body for body in of(_BMC)}
    boots = {key(body): body for body in of(_BOOT)}

    def values(place: Place) -> tuple[str | None, dict[str, str]]:
        server = servers.get(place)
        if server is None:
            return None, {}
        host = _bmc(server)
        reported = {
            "image_sha256": _sha256(dig(boots.get(_reference(server, "bootConfigurationRef")), "spec", "image")),
            "firmware.bios": dig(server, "status", "biosVersion"),
            "firmware.bmc": dig(bmcs.get(host or ""), "status", "firmwareVersion"),
        }
        return host, {name: value for name, value in reported.items() if value}

    return values


def _bmc(server: Object) -> str | None:
    name: str | None = dig(server, "spec", "bmcRef", "name")
    return name


def _state(server: Object) -> str:
    """Return the state, with the condition of a server whose shutdown metal-operator awaits without a time limit.

    Source: ICM:internal/controller/server_controller.go, ensureServerPoweredOff, v0.7.0.
    """
    state = str(dig(server, "status", "state") or UNKNOWN)
    return f"{state} {_POWER_OFF}" if holds(server, _POWER_OFF) else state


def _reference(server: Object, field: str) -> Place:
    return str(dig(server, "spec", field, "namespace")), str(dig(server, "spec", field, "name"))


def _sha256(reference: str | None) -> str | None:
    """Return the digest of an OCI image, written ``registry/name@sha256:<hex>``; None if there is none."""
    return (reference or "").partition(_DIGEST)[2] or None
