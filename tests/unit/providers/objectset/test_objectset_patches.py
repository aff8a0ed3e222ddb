"""Objects of other controllers: patched when they exist, never created, never deleted."""

from __future__ import annotations

from typing import Any

import grpc
import pytest

from jacquard.providers.objectset import patching
from jacquard.providers.rpc.stubs import provider_pb2
from jacquard.providers.rpc.values import UNKNOWN, encode
from tests.support.api_servers.field_ownership import Owned
from tests.support.engine.patched_rack import BIOS, SETTINGS, patch, rack, spec


def is_changed(provider: Any, old: Any, new: Any, outputs: Any) -> bool:
    request = provider_pb2.DiffRequest(old_inputs=encode(old), news=encode(new), olds=encode(outputs))
    return bool(provider.stub.Diff(request).changes == provider_pb2.DiffResponse.DIFF_SOME)


def test_only_existing_objects_are_patched_and_the_next_run_patches_the_rest(provider: Any, kube: Any) -> None:
    kube.firmware(SETTINGS, "u01", settings={})
    inputs = rack(bios=patch("u01", "u02", **BIOS))

    outputs = provider.create(inputs)

    assert spec(kube, "u01") == BIOS
    assert (SETTINGS, "inventory", "u02") not in kube.objects
    assert "labels" not in kube.objects[SETTINGS, "inventory", "u01"]["metadata"]
    assert (outputs["uids"], outputs["waiting"]) == ({}, ["HostFirmwareSettings inventory/u02"])
    assert is_changed(provider, inputs, inputs, outputs)

    kube.firmware(SETTINGS, "u02", settings={})
    kube.log.clear()
    outputs = provider.update(inputs, inputs, outputs)

    assert spec(kube, "u02") == BIOS
    assert [line.partition("?")[0].rpartition("/")[2] for line in kube.writes()] == ["u02"]
    assert "waiting" not in outputs
    assert not is_changed(provider, inputs, inputs, outputs)
    [line] = provider.engine.lines
    assert line == (
        "1 objects of other controllers cannot be patched yet; the next up patches them: "
        "HostFirmwareSettings inventory/u02"
    )


@pytest.mark.parametrize("comes", [True, False])
def test_an_object_that_is_to_be_there_soon_is_waited_for(
    provider: Any, kube: Any, monkeypatch: Any, *, comes: bool
) -> None:
    look, looks = kube._one, []

    def late(method: str, key: Any, query: Any, body: Any) -> Any:
        looks.append(key)
        if comes and len([one for one in looks if one[0] == SETTINGS]) == 3:
            kube.firmware(SETTINGS, "u01", settings={})
        return look(method, key, query, body)

    monkeypatch.setattr(kube, "_one", late)
    monkeypatch.setattr(patching, "POLL_SECONDS", 0.01)
    inputs = rack(bios={**patch("u01", **BIOS), "waitSeconds": 30 if comes else 0.02})

    outputs = provider.create(inputs, preview=True)
    assert outputs["waiting"] == ["HostFirmwareSettings inventory/u01"], "a preview waits for nobody"
    outputs = provider.create(inputs)

    assert outputs.get("waiting") == (None if comes else ["HostFirmwareSettings inventory/u01"])
    assert not comes or spec(kube, "u01") == BIOS


def test_an_object_of_no_namespace_is_patched(provider: Any, kube: Any) -> None:
    kube.store(("servers", "", "s1"), {"metadata": {"name": "s1"}})
    server = {"apiVersion": "metal.ironcore.dev/v1alpha1", "kind": "Server", "names": ["s1"]}

    outputs = provider.create(rack(power={**server, "fields": {"spec": {"power": "On"}}}))

    live = kube.objects["servers", "", "s1"]
    assert ("waiting" in outputs, live["spec"], "namespace" in live["metadata"]) == (False, {"power": "On"}, False)


def test_recreated_objects_of_another_source_are_patched_again(provider: Any, kube: Any) -> None:
    kube.firmware(SETTINGS, "u01", settings={})
    old, new = (rack(bios={**patch("u01", **BIOS), "madeOf": word}) for word in ("one", "two"))
    outputs = provider.create(old)
    kube.firmware(SETTINGS, "u01", settings={})

    provider.update(old, old, outputs)
    assert spec(kube, "u01") == {"settings": {}}, "nothing says that it is another"
    provider.update(old, new, outputs)

    assert spec(kube, "u01") == BIOS


@pytest.mark.parametrize("kinds", [{}, {SETTINGS: "HostFirmwareSettings"}])
def test_a_preview_counts_missing_objects_and_changes_nothing(provider: Any, kube: Any, kinds: Any) -> None:
    kube.kinds = kinds
    names = [f"u{number:03}" for number in range(80)]

    outputs = provider.create(rack(bios=patch(*names, **BIOS)), preview=True)

    [line] = provider.engine.lines
    assert line == (
        "80 objects of other controllers cannot be patched yet; the next up patches them:"
        " HostFirmwareSettings inventory/u000, HostFirmwareSettings inventory/u001, HostFirmwareSettings inventory/u002"
        " and 77 more"
    )
    assert len(outputs["waiting"]) == 80
    assert len([line for line in kube.log if "firmware" in line]) <= 1
    assert kube.writes() == []


def test_a_preview_reports_rejections_of_the_server(provider: Any, kube: Any) -> None:
    kube.firmware(SETTINGS, "u01", settings={})
    kube.refused["u01"] = (422, {"reason": "Invalid", "message": "spec.settings: too many"})

    with pytest.raises(grpc.RpcError) as error:
        provider.create(rack(bios=patch("u01", **BIOS)), preview=True)

    assert provider.failure(error.value).text == (
        "ObjectSet inventory/rack-a01: rejected, nothing was changed:\n"
        "  HostFirmwareSettings inventory/u01: spec.settings: too many (422 Invalid)"
    )
    assert kube.writes() == []


def test_patches_with_unknown_values_are_not_sent(provider: Any, kube: Any) -> None:
    kube.firmware(SETTINGS, "u01", settings={})

    provider.create(rack(a=patch("u01", settings={"Turbo": UNKNOWN}), b=UNKNOWN), preview=True)

    assert not any("firmware" in line for line in kube.log)


@pytest.mark.parametrize("how", ["gone", "made anew", "being deleted"])
def test_an_object_deleted_during_its_patch_is_not_recreated(
    provider: Any, kube: Any, monkeypatch: Any, how: str
) -> None:
    live, fill = kube.firmware(SETTINGS, "u01", settings={}), kube._filled
    if how == "being deleted":
        live["metadata"]["deletionTimestamp"] = "now"

    def late(key: Any, query: Any, body: Any) -> Any:
        if how == "gone":
            del kube.objects[key]
        else:
            kube.objects[key]["metadata"]["uid"] = "another"
        return fill(key, query, body)

    monkeypatch.setattr(kube, "_filled", late)
    outputs = provider.create(rack(bios=patch("u01", **BIOS)))

    assert outputs["waiting"] == ["HostFirmwareSettings inventory/u01"]
    assert (SETTINGS, "inventory", "u01") in kube.objects or how == "gone"
    assert how == "gone" or spec(kube, "u01") == {"settings": {}}


def test_refresh_shows_drift_in_our_fields_and_missing_objects(provider: Any, kube: Any) -> None:
    names = ("u01", "u02", "u03")
    for name in names:
        kube.firmware(SETTINGS, name, settings={})
    inputs = rack(bios=patch(*names, **BIOS))
    outputs = provider.create(inputs)
    for key, value in (("Watts", 400), ("Fan", "Low")):
        spec(kube, "u02")["settings"][key] = value
    spec(kube, "u01")["settings"]["Fan"] = "Low"
    del kube.objects[SETTINGS, "inventory", "u03"]

    _, found, read_outputs = provider.read(inputs, outputs=outputs)

    drifted = patch("u02", settings={"Turbo": "On", "Watts": 400})
    seen = {**inputs, "patches": {"bios": patch("u01", **BIOS), "bios/u02": drifted}}
    assert (found.plain, read_outputs) == (seen, outputs)
    kube.fields[SETTINGS, "inventory", "u02"] = Owned(spec(kube, "u02"))
    again = provider.update(found.plain, inputs, read_outputs)
    assert spec(kube, "u02")["settings"] == {"Turbo": "On", "Watts": 500, "Fan": "Low"}
    assert again["waiting"] == ["HostFirmwareSettings inventory/u03"]


def test_a_value_that_the_server_writes_in_its_own_way_is_no_drift(provider: Any, kube: Any, monkeypatch: Any) -> None:
    kube.firmware(SETTINGS, "u01", settings={})
    inputs = rack(bios=patch("u01", **BIOS))
    outputs = provider.create(inputs)
    applied = Owned.applied

    def rewritten(self: Owned, given: Any, manager: str) -> Owned:
        after = applied(self, given, manager)
        after.spec["settings"]["Watts"] = "500 W"
        return after

    monkeypatch.setattr(Owned, "applied", rewritten)
    spec(kube, "u01")["settings"]["Watts"] = "500 W"

    _, found, _ = provider.read(inputs, outputs=outputs)

    assert found.plain == inputs


def test_every_problem_of_a_patch_is_named(provider: Any) -> None:
    member = {"apiVersion": "metal3.io/v1alpha1", "kind": "HostFirmwareSettings", "metadata": {"name": "u09"}}
    inputs = rack(
        a="x",
        b={"kind": "HostFirmwareSettings"},
        c={
            **patch("u01", **BIOS),
            "kind": "",
            "names": [],
            "fields": {"metadata": {}},
            "waitSeconds": "5",
            "unless": [],
        },
        d=patch("u02", **BIOS),
        e=patch("u02", "u09", **BIOS),
        f={**patch("u03"), "fields": {"spec": {"password": "hunter2"}}},
    )
    inputs["members"] = {"u09": member}
    check = provider_pb2.CheckRequest(news=encode(inputs))

    form = "a patch is apiVersion, kind, names, fields, and may have namespace, waitSeconds, unless, madeOf"
    assert [(failure.property, failure.reason) for failure in provider.stub.Check(check).failures] == [
        ("patches.a", f"is a str but {form}"),
        ("patches.b", f"is kind but {form}"),
        ("patches.c.kind", "kind is '' but must be a text"),
        ("patches.c.waitSeconds", "waitSeconds is '5' but must be a number of seconds"),
        ("patches.c.unless", "unless is a list but must map at least one field, such as status"),
        ("patches.c.names", "must be a list with the name of at least one object"),
        (
            "patches.c.fields",
            "must map at least one field, such as spec; not apiVersion, kind, metadata, status",
        ),
        (
            "patches.e",
            (
                "has HostFirmwareSettings inventory/u02, which is already patches['d']; an object can be in a set only "
                "once"
            ),
        ),
        (
            "patches.e",
            (
                "has HostFirmwareSettings inventory/u09, which is already members['u09']; an object can be in a set "
                "only once"
            ),
        ),
        (
            "patches.f.fields.spec.password",
            "is a credential in clear text; let a secret store write it into the cluster and reference it here by name",
        ),
    ]
    [failure] = provider.stub.Check(provider_pb2.CheckRequest(news=encode({**rack(), "patches": 5}))).failures
    assert (failure.property, failure.reason) == ("patches", "patches is 5 but must map a stable key to each patch")
