"""Manually created hosts of a local region with an image to provision."""

from __future__ import annotations

from typing import Any

from jacquard.providers.kube import ApiServer, ObjectRef


def host_with_image(name: str, hints: dict[str, Any] | None, login: str = "bmc-a04") -> dict[str, Any]:
    """Return a host with an image; the default credentials are those of a rack with free hosts."""
    return {
        "apiVersion": "metal3.io/v1alpha1",
        "kind": "BareMetalHost",
        "metadata": {"name": name, "namespace": "inventory"},
        "spec": {
            "online": True,
            "bmc": {
                "address": "redfish-virtualmedia+https://10.1.9.9/redfish/v1/Systems/1",
                "credentialsName": login,
            },
            "bootMACAddress": "02:00:00:09:09:09",
            "image": {"url": "https://x/i.raw", "checksum": "c", "checksumType": "sha256", "format": "raw"},
            **({} if hints is None else {"rootDeviceHints": hints}),
        },
    }


def status_of(api: ApiServer, name: str) -> dict[str, Any]:
    ref = ObjectRef.of(host_with_image(name, None))
    return dict((api.get(ref) or {}).get("status") or {})
