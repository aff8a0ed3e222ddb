"""Prerequisites of simulated controllers: ready with all of them, and not ready without any single one.

The rows are those of the table in docs/lab/rehearsal.md.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest

from jacquard.lab.rehearsal.operators import certificates, control_planes, data_stores, external_secrets, references
from jacquard.lab.rehearsal.operators.hosts import bare_metal, claims, ironcore
from jacquard.lab.rehearsal.operators.view import reported
from jacquard.machine import paths
from tests.support.objects.live_objects import obj
from tests.support.objects.whole_region import NS, READY, whole_region

PAGE = paths.ROOT / "docs/lab/rehearsal.md"
ROUNDS = 6
"""More rounds than the longest chain of dependencies."""


def played(view: Any, there: Any) -> None:
    """Run all controllers until nothing changes; ``there`` is the tenant's cluster, or None."""
    for _ in range(ROUNDS):
        external_secrets.reconcile(view, lambda _: there)
        certificates.reconcile(view)
        data_stores.reconcile(view)
        control_planes.reconcile(view, lambda _: None)
        bare_metal.reconcile(view)
        claims.reconcile(view)
        ironcore.reconcile(view)
        references.report(view, lambda _: None)


def is_so(condition: str, *reasons: str) -> Callable[[Any], bool]:
    def judged(found: Any) -> bool:
        known = {one["type"]: one["reason"] for one in found.get("status", {}).get("conditions", ())}
        return reported(found, condition) or known.get(condition) in reasons

    return judged


READINESS: dict[str, Callable[[Any], bool]] = {
    "BareMetalHost": lambda found: found["status"]["provisioning"]["state"] == "inspecting",
    "BMC": lambda found: found["status"]["state"] == "Enabled",
    "Certificate": is_so("Ready"),
    "DataStore": lambda found: found["status"]["ready"],
    "DPUCluster": is_so("Created"),
    "ExternalSecret": is_so("Ready"),
    "Ironic": is_so("Ready"),
    "K0smotronControlPlane": is_so("Available", "NoReadyReplicas"),
    "KamajiControlPlane": is_so("TenantControlPlaneCreated"),
    "KubeadmConfig": lambda found: "dataSecretName" in found.get("status", {}),
    "Metal3Machine": lambda found: "annotations" in found["metadata"],
    "PushSecret": is_so("Ready"),
}
"""Condition under which the simulated controller of each kind reports ready."""


@dataclass(frozen=True)
class Row:
    """One prerequisite of one kind."""

    kind: str
    thing: str
    """Its name on the page."""
    take: Callable[[Any], Any]
    """Removes it from the objects."""
    says: str = ""
    """Part of the resulting status message; empty if the real controller reports none either."""


def gone(kind: str, name: str, namespace: str = NS) -> Callable[[Any], Any]:
    return lambda view: view.store.pop((kind, namespace, name))


def without_key(secret: str, key: str) -> Callable[[Any], Any]:
    return lambda view: view.get("Secret", secret, NS)["data"].pop(key)


def operator_with(name: str, value: str) -> Callable[[Any], Any]:
    def tell(view: Any) -> None:
        view.get("HelmRelease", "bmo", NS)["spec"]["values"]["envs"].append({"name": name, "value": value})

    return tell


ROWS = [
    Row("BareMetalHost", "an installed operator", gone("HelmRelease", "bmo")),
    Row("BareMetalHost", "an operator that watches its namespace", operator_with("WATCH_NAMESPACE", "other")),
    Row("BareMetalHost", "a ready Ironic", gone("Ironic", "ironic")),
    Row("BareMetalHost", "the Secret of its BMC", gone("Secret", "bmc"), "The BMC secret acme/bmc does not exist"),
    Row("BareMetalHost", "`username`", without_key("bmc", "username"), "connection detail 'username' in credentials"),
    Row("BareMetalHost", "`password`", without_key("bmc", "password"), "connection details 'password' in credentials"),
    Row(
        "BareMetalHost",
        "the CA of its BMC's certificate",
        lambda view: view.get("Ironic", "ironic", NS)["spec"]["tls"].pop("bmcCA"),
        bare_metal.UNVERIFIED,
    ),
    Row(
        "BareMetalHost",
        "a boot network",
        operator_with("PROVISIONING_NETWORK_DISABLED", "true"),
        "BMC driver redfish+https requires a provisioning network",
    ),
    Row("BareMetalHost", "a free slot for provisioning", operator_with("PROVISIONING_LIMIT", "0"), "delayed"),
    Row("BMC", "its BMCSecret", gone("BMCSecret", "bmc", ""), "BMCSecret 'bmc' not found"),
    Row(
        "BMC",
        "`username` and `password`",
        lambda view: view.get("BMCSecret", "bmc")["data"].pop("password"),
        "has no key 'password'",
    ),
    Row("Certificate", "its issuer", gone("Issuer", "ironic"), "Issuer 'ironic' not found"),
    Row("DataStore", "each Secret that it references", gone("Secret", "etcd"), "Secret 'etcd' not found"),
    Row("DataStore", "each key of these Secrets", without_key("etcd", "tls.crt"), "Secret 'etcd' has no key 'tls.crt'"),
    Row("DPUCluster", "a ready data store of DPUs", gone("Secret", "etcd"), "DataStore 'default' is not ready"),
    Row("ExternalSecret", "its store", gone("ClusterSecretStore", "vault", ""), "ClusterSecretStore 'vault' not found"),
    Row("Ironic", "the Secret of its certificate", gone("Certificate", "ironic"), "Secret 'ironic-tls' not found"),
    Row("Ironic", "the Secret with the CA of BMCs", gone("Secret", "ca"), "Secret 'ca' not found"),
    Row("K0smotronControlPlane", "the Secret of its database", gone("Secret", "kine"), "Secret 'kine' not found"),
    Row(
        "K0smotronControlPlane",
        "the address of the database in this Secret",
        without_key("kine", "K0SMOTRON_KINE_DATASOURCE_URL"),
        "Secret 'kine' has no key",
    ),
    Row("KamajiControlPlane", "a ready data store", gone("Secret", "etcd"), "DataStore 'default' is not ready"),
    Row(
        "KubeadmConfig",
        "an initialized control plane",
        lambda view: view.get("Cluster", "acme", NS)["status"]["initialization"].pop("controlPlaneInitialized"),
        "the control plane is not up",
    ),
    Row(
        "Metal3Machine",
        "its bootstrap data",
        lambda view: view.get("Machine", "m1", NS)["spec"]["bootstrap"].pop("dataSecretName"),
    ),
    Row("Metal3Machine", "its data template", gone("Metal3DataTemplate", "data"), "'data' not found"),
    Row("Metal3Machine", "the IPPool of its addresses", gone("IPPool", "links"), "IPPool 'links' not found"),
    Row(
        "Metal3Machine",
        "an address for its host",
        lambda view: view.get("IPPool", "links", NS)["spec"]["preAllocations"].pop("free-links"),
        "Exhausted IP Pools",
    ),
    Row(
        "Metal3Machine",
        "the network port of its data template",
        lambda view: view.get("BareMetalHost", "free", NS)["status"]["hardware"]["nics"].clear(),
        "NIC name not found port",
    ),
    Row("Metal3Machine", "a free host", gone("BareMetalHost", "free"), "no available host matches"),
    Row("PushSecret", "its store", gone("SecretStore", "csi"), "SecretStore 'csi' is not ready"),
    Row("PushSecret", "the Secret that it pushes", gone("ExternalSecret", "copied"), "Secret 'copied' not found"),
    Row(
        "PushSecret",
        "the target namespace",
        lambda view: view.get("SecretStore", "csi", NS)["spec"]["provider"]["kubernetes"].update(remoteNamespace="x"),
        "namespace 'x' of cluster 'acme' not found",
    ),
]
ASKED_OF = {"BareMetalHost": "h1", "BMC": "b1", "Certificate": "ironic", "DataStore": "default", "DPUCluster": "dpus"}
ASKED_OF |= {"ExternalSecret": "copied", "Ironic": "ironic", "K0smotronControlPlane": "acme"}
ASKED_OF |= {"KamajiControlPlane": "acme", "KubeadmConfig": "m1", "Metal3Machine": "m1", "PushSecret": "pushed"}


def seen(view: Any, kind: str) -> Any:
    name = ASKED_OF[kind]
    return view.store.get((kind, NS, name)) or view.get(kind, name)


def test_with_everything_there_all_go_on(objects: Any) -> None:
    view, there = objects(*whole_region()), objects(obj("v1", "Namespace", "csi", namespace=""))

    played(view, there)

    assert list(there.get("Secret", "login", "csi")["data"]) == ["password"]
    assert {kind: goes_on(seen(view, kind)) for kind, goes_on in READINESS.items()} == dict.fromkeys(READINESS, True)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.kind} without {row.thing}")
def test_without_one_thing_nothing_gets_ready(objects: Any, row: Row) -> None:
    view = objects(*whole_region())
    row.take(view)

    played(view, objects(obj("v1", "Namespace", "csi", namespace="")))

    found = seen(view, row.kind)
    assert not READINESS[row.kind](found)
    assert row.says in json.dumps(found.get("status", {}), ensure_ascii=False)


REFERENCES = [(subject, one) for subject in references.SUBJECTS for one in subject.references]


@pytest.mark.parametrize(("subject", "lacking"), REFERENCES, ids=lambda one: getattr(one, "path", one.kind))
def test_objects_wait_for_each_of_their_references(
    objects: Any, subject: references.Subject, lacking: references.Reference
) -> None:
    there = objects(obj("v1", "Namespace", NS, namespace=""))
    referring = obj(subject.api_version, subject.kind, "it", {}, NS)
    named = {one: f"x{number}" for number, one in enumerate(subject.references)}
    for one, name in named.items():
        place(referring, one.path, {"name": name, "kind": one.kind, "namespace": NS})
    targets = {one: obj(one.api_version, one.kind, name, {}, NS, **READY) for one, name in named.items()}

    whole = objects(referring, *targets.values())
    references.report(whole, lambda _: there)
    short = objects(referring, *(target for one, target in targets.items() if one is not lacking))
    references.report(short, lambda _: there)

    assert reported(whole.get(subject.kind, "it", NS), subject.met[0])
    unmet = short.get(subject.kind, "it", NS)
    assert not reported(unmet, subject.unmet[0])
    assert f"{lacking.kind} '{named[lacking]}' not found" in json.dumps(unmet["status"])


def place(body: Any, path: str, value: Any) -> None:
    """Write ``value`` at a path of a reference."""
    *way, last = path.split(".")
    for key in way:
        name = key.removesuffix("[]")
        body = body.setdefault(name, [{}])[0] if key.endswith("[]") else body.setdefault(name, {})
    body[last.removesuffix("[]")] = [value] if last.endswith("[]") else value


def test_the_page_has_a_row_for_each_kind_with_all_prerequisites() -> None:
    rows: dict[str, list[str]] = {}
    for row in ROWS:
        rows.setdefault(row.kind, []).append(row.thing)
    lines = PAGE.read_text().splitlines()

    assert [line for line in lines if line.startswith("| `")] == [
        *(
            f"| `{kind}` | {'; '.join(things)} |"
            for kind, things in sorted(rows.items(), key=lambda row: row[0].lower())
        ),
        *(
            f"| `{subject.kind}` | {'; '.join(dict.fromkeys(named(one) for one in subject.references))} |"
            for subject in sorted(references.SUBJECTS, key=lambda one: one.kind.lower())
            if subject.kind not in rows
        ),
    ]


def named(reference: references.Reference) -> str:
    return f"a ready {reference.kind}" if reference.ready else reference.kind
