"""Inputs of a rack that patches the firmware objects of its hosts."""

from __future__ import annotations

from typing import Any

SETTINGS, COMPONENTS = "hostfirmwaresettings", "hostfirmwarecomponents"
BIOS = {"settings": {"Turbo": "On", "Watts": 500}}
UPDATES = {"updates": [{"component": "bios", "url": "https://firmware.example/bios-2.bin"}]}


def patch(*names: str, kind: str = "HostFirmwareSettings", **spec: Any) -> dict[str, Any]:
    place = {"apiVersion": "metal3.io/v1alpha1", "kind": kind, "namespace": "inventory"}
    return {**place, "names": list(names), "fields": {"spec": spec}}


def rack(**patches: dict[str, Any]) -> dict[str, Any]:
    return {"setName": "rack-a01", "namespace": "inventory", "members": {}, "patches": patches}


def spec(kube: Any, name: str, plural: str = SETTINGS) -> Any:
    return kube.objects[plural, "inventory", name]["spec"]
