"""Objects of Metal3's bare-metal operator, and hosts, for tests of its simulation."""

from __future__ import annotations

from typing import Any

from jacquard.lab.rehearsal.operators.hosts import bare_metal
from jacquard.lab.rehearsal.operators.releases import installed
from tests.support.objects.live_objects import obj

READY = {"conditions": [{"type": "Ready", "status": "True"}]}
LOGIN = obj("v1", "Secret", "bmc-a01", namespace="acme", data={"username": "eA==", "password": "eA=="})
MEDIA, NETWORK, HTTP = "redfish-virtualmedia", "redfish", "redfish-uefihttp"
IMAGE = {"url": "https://x/gpu-1.raw"}


def operator(limit: int | None = None, watched: str = "", name: str = "bmo", **more: str) -> list[Any]:
    """Return the chart source, the release and the Ironic of the operator."""
    variables = {"WATCH_NAMESPACE": watched, "IRONIC_NAME": "ironic", **more}
    variables |= {} if limit is None else {"PROVISIONING_LIMIT": f"{limit}"}
    source = {"kind": "OCIRepository", "name": "chart", "namespace": "ops"}
    envs = [{"name": key, "value": value} for key, value in variables.items()]
    spec = {"chartRef": source, "targetNamespace": name, "values": {"envs": envs}}
    return [
        obj(installed.SOURCE, "OCIRepository", "chart", {"url": "oci://registry.example/baremetal-operator"}, "ops"),
        obj(installed.HELM, "HelmRelease", name, spec, "ops", status=READY),
        obj(*bare_metal.IRONIC, "ironic", {"tls": {"bmcCA": {"kind": "Secret", "name": "ca"}}}, name, status=READY),
    ]


def host(name: str, state: str = "registering", driver: str = MEDIA, *, transport: str = "+https", **spec: Any) -> Any:
    address = f"{driver}{transport}://10.1.0.1/redfish/v1/Systems/1"
    bmc = {"address": address, "credentialsName": "bmc-a01", **spec.pop("bmc", {})}
    status = {"operationalStatus": "OK", "provisioning": {"state": state}, **spec.pop("status", {})}
    return obj(
        *bare_metal.HOST,
        name,
        {"bmc": bmc, **spec},
        spec.pop("namespace", "acme"),
        metadata={"uid": name},
        status=status,
    )


def status(view: Any, name: str = "h1") -> Any:
    return view.get("BareMetalHost", name, "acme")["status"]
