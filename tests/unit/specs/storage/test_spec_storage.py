"""Every field of every storage driver: the resulting StorageClass, and the error for an invalid value.

A field without a row fails the test, so that errors of new parameters are reviewed.
"""

from __future__ import annotations

import json
from typing import Any, NamedTuple, get_args

import pytest
from pydantic import ValidationError

from components.render.storage.storage import StorageCatalogInput
from components.specs.base import Spec
from components.specs.reading.translate import mistakes
from components.specs.storage.nfs import NfsClassSpec
from components.specs.storage.storage import StorageClassSpec
from components.specs.storage.topolvm import TopolvmClassSpec
from components.specs.storage.vast import VastClassSpec
from jacquard.providers.kube.objects import dig

MODELS = get_args(get_args(StorageClassSpec)[0])
LEAST: dict[type[Spec], dict[str, Any]] = {
    NfsClassSpec: {"name": "class", "driver": "nfs", "server": "10.2.0.10", "share": "/export/<tenant>"},
    VastClassSpec: {
        "name": "class",
        "driver": "vast",
        "endpoint": "vms.cloud.example",
        "vip_pool_fqdn": "<tenant>.vast.cloud.example",
        "view_policy": "<tenant>",
        "root_export": "/tenants/<tenant>",
        "secret": "vast-<tenant>",
    },
    TopolvmClassSpec: {"name": "class", "driver": "topolvm", "device_class": "nvme"},
}
"""Minimal data of each driver."""


class Row(NamedTuple):
    """A valid value of a field with the result in tenant acme's class, and an invalid value with its error."""

    good: Any
    where: tuple[str, ...] | None
    """Path in the StorageClass; None if another object has the value."""
    seen: Any
    bad: Any
    error: str
    without: str = ""
    """Field of the minimal data that this one replaces."""


_LABEL = "must be a name of lower-case letters, digits and '-' that starts with a letter"
COMMON = {
    "name": Row("fast", ("metadata", "name"), "fast", "Fast_1", _LABEL),
    "default": Row(
        good=True,
        where=("metadata", "annotations", "storageclass.kubernetes.io/is-default-class"),
        seen="true",
        bad="maybe",
        error="must be true or false",
    ),
    "reclaim": Row("Retain", ("reclaimPolicy",), "Retain", "retain", "did you mean 'Retain'?"),
}
NFS_OPTIONS = Row(["nfsvers=4.2"], ("mountOptions",), ["nfsvers=4.2"], ["nconect=8"], "write nconnect=8")
TABLE: dict[type[Spec], dict[str, Row]] = {
    NfsClassSpec: {
        **COMMON,
        "driver": Row("nfs", ("provisioner",), "nfs.csi.k8s.io", "nsf", "did you mean 'nfs'?"),
        "mount_options": NFS_OPTIONS,
        "server": Row(
            "nas.cloud.example", ("parameters", "server"), "nas.cloud.example", "nfs://10.2.0.10", "write 10.2.0.10"
        ),
        "share": Row(
            "/srv/<tenant>",
            ("parameters", "share"),
            "/srv/acme",
            "srv",
            "must be a path that starts with / (got 'srv')",
        ),
        "sub_directory": Row(
            "${pv.metadata.name}",
            ("parameters", "subDir"),
            "c1/${pv.metadata.name}",
            "${pv.metadata.nmae}",
            "write ${pv.metadata.name}",
        ),
    },
    VastClassSpec: {
        **COMMON,
        "driver": Row("vast", ("provisioner",), "csi.vastdata.com", "vats", "did you mean 'vast'?"),
        "mount_options": NFS_OPTIONS,
        "endpoint": Row("10.2.0.20:8443", None, None, "https://vms.cloud.example/", "write vms.cloud.example"),
        "vip_pool": Row(
            "pool-1", ("parameters", "vip_pool_name"), "pool-1", "<tenent>", "write <tenant>", "vip_pool_fqdn"
        ),
        "vip_pool_fqdn": Row(
            "v-<tenant>.cloud.example",
            ("parameters", "vip_pool_fqdn"),
            "v-acme.cloud.example",
            "pool",
            "like <tenant>.",
        ),
        "view_policy": Row("p-<tenant>", ("parameters", "view_policy"), "p-acme", "<tenent>", "write <tenant>"),
        "root_export": Row(
            "/r/<tenant>", ("parameters", "root_export"), "/r/acme", "r", "must be a path that starts with /"
        ),
        "qos_policy": Row("gold", ("parameters", "qos_policy"), "gold", "", "must not be empty"),
        "secret": Row(
            "s-<tenant>",
            ("parameters", "csi.storage.k8s.io/provisioner-secret-name"),
            "s-acme",
            "S_1",
            f"{_LABEL}, like vast-<tenant>",
        ),
        "snapshots": Row({"every": "6h", "keep": "3d"}, None, None, {"every": "6h", "keep": "1h"}, "write at least 6h"),
    },
    TopolvmClassSpec: {
        **COMMON,
        "driver": Row("topolvm", ("provisioner",), "topolvm.io", "topolvn", "did you mean 'topolvm'?"),
        "mount_options": Row(["noatime"], ("mountOptions",), ["noatime"], ["nconnect=8"], "on a local disk"),
        "device_class": Row("ssd", ("parameters", "topolvm.io/device-class"), "ssd", "NVMe", _LABEL),
        "durable": Row(
            good=True,
            where=("metadata", "labels", "jacquard.dev/durable"),
            seen="true",
            bad="maybe",
            error="must be true or false",
        ),
        "spare": Row("20Gi", None, None, "20500Mi", "write 21Gi"),
        "encrypted": Row(
            good=True,
            where=("metadata", "labels", "jacquard.dev/encrypted"),
            seen="true",
            bad="maybe",
            error="must be true or false",
        ),
        "management": Row(good=True, where=None, seen=None, bad="maybe", error="must be true or false"),
    },
}
FIELDS = [(model, key) for model, rows in TABLE.items() for key in rows]


class Classes(Spec):
    """A file of storage classes."""

    storage: tuple[StorageClassSpec, ...]


def read(entry: dict[str, Any]) -> Classes:
    """Return a class, parsed like by the loader."""
    return Classes.model_validate_json(json.dumps({"storage": [entry]}), strict=True)


def reported(entry: dict[str, Any]) -> list[str]:
    """Return the errors of a class."""
    data = {"storage": [entry]}
    try:
        read(entry)
    except ValidationError as error:
        return [f"{'.'.join(map(str, one.path))}: {one.text}" for one in mistakes(error, Classes, data)]
    return []


def entry_of(model: type[Spec], key: str, value: Any) -> dict[str, Any]:
    """Return the minimal data of a driver with this value, and without the field that it replaces."""
    least = {name: own for name, own in LEAST[model].items() if name != TABLE[model][key].without}
    return {**least, key: value}


def misspelt(key: str) -> str:
    """Return ``key`` without its third letter."""
    return key[:2] + key[3:]


@pytest.mark.parametrize("model", MODELS)
def test_every_field_of_a_driver_has_a_row(model: type[Spec]) -> None:
    assert set(TABLE[model]) == set(model.model_fields)


@pytest.mark.parametrize(("model", "key"), FIELDS)
def test_a_value_is_rendered_into_the_class_of_a_tenant(model: type[Spec], key: str) -> None:
    row = TABLE[model][key]
    [spec] = read(entry_of(model, key, row.good)).storage
    catalog = StorageCatalogInput(name="c1", cluster="c1", classes=(spec.of_tenant("acme"),))
    [body] = [item.body for item in catalog.render() if item.kind == "StorageClass"]

    assert row.where is None or dig(dict(body), *row.where) == row.seen


@pytest.mark.parametrize(("model", "key"), FIELDS)
def test_an_invalid_value_is_reported_with_a_valid_one(model: type[Spec], key: str) -> None:
    row = TABLE[model][key]
    [text] = reported(entry_of(model, key, row.bad))

    assert text.startswith(f"storage.0.{key}")
    assert row.error in text


@pytest.mark.parametrize(("model", "key"), [(model, key) for model, key in FIELDS if key != "driver"])
def test_an_unknown_key_is_reported_with_the_nearest_one(model: type[Spec], key: str) -> None:
    entry = entry_of(model, key, TABLE[model][key].good)
    value = entry.pop(key)
    [text] = [one for one in reported({**entry, misspelt(key): value}) if misspelt(key) in one]

    assert text.endswith(f"; did you mean '{key}'?")


@pytest.mark.parametrize(
    ("model", "key"), [(model, key) for model, key in FIELDS if model.model_fields[key].is_required()]
)
def test_a_missing_key_is_reported_with_an_example(model: type[Spec], key: str) -> None:
    entry = {name: value for name, value in LEAST[model].items() if name != key}

    assert [text.partition(";")[0] for text in reported(entry)] == [f"storage.0.{key}: is required"]
    assert f"write {key}: " in reported(entry)[0]


@pytest.mark.parametrize("model", MODELS)
def test_a_key_of_another_driver_is_none_of_this_one(model: type[Spec]) -> None:
    others = {key for other in MODELS for key in other.model_fields} - set(model.model_fields)

    for key in others:
        [text] = reported({**LEAST[model], key: "x"})
        assert text.startswith(f"storage.0.{key}: is not a key here (keys: ")
