"""Secrets that an external store delivers: all that are otherwise prerequisites, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from functools import cache

import pytest

from components.inputs.manifests import everything, manifests
from components.inputs.slice_inputs import inputs
from components.lookups.references.table import references_table
from components.lookups.references.walk import missing_targets
from components.lookups.slices import SliceKind, slices
from components.render.manifest import Manifest, objects
from components.render.region.external_secrets import ExternalSecretsInput
from components.render.storage.storage import StorageCatalogInput
from components.reports.prerequisites import prerequisites
from components.specs.environment import Environment
from components.specs.region.external_secrets import SecretsSpec
from tests.support.data.environment_data import REFERENCES, reference
from tests.support.data.external_store import MADE, STORE, with_store
from tests.support.data.small_region import changed

NAMES = REFERENCES


def without_store(environment: Environment) -> Environment:
    return changed(environment, region=changed(environment.region, secrets=SecretsSpec()))


Secrets = dict[tuple[str, str], set[str]]
"""Keys of each required Secret, by cluster and place."""


def secrets(every: Iterable[Manifest]) -> Secrets:
    """Return the Secrets that users who apply ``every`` must create."""
    found = missing_targets(every, references_table()).values()
    return {(one.target.cluster, str(one.target)): one.keys for one in found if one.target.kind == "Secret"}


def delivered(every: Iterable[Manifest]) -> Counter[str]:
    """Return the number of rendered objects that copy or push each Secret."""
    return Counter(item.key for item in every if item.kind in {"ExternalSecret", "PushSecret", "SecretStore"})


def generated(environment: Environment) -> set[str]:
    """Return the places inside clusters of Secrets whose keys an object store's operator creates."""
    stores = {store.name for store in environment.region.object_stores if store.seaweedfs}
    return {
        f"{namespace}/{bucket.found_as}"
        for tenant in environment.tenants
        for bucket in tenant.buckets
        for access in (bucket.access if bucket.store in stores else ())
        for namespace in access.namespaces
    }


@cache
def wanted_without_store(name: str) -> Secrets:
    """Return the Secrets of an environment without an external store and copies."""
    every = tuple(everything(without_store(reference(name))))
    assert delivered(every) == {}
    return secrets(every)


@pytest.mark.parametrize("store", [STORE, MADE], ids=["given", "made"])
@pytest.mark.parametrize("name", NAMES)
def test_with_a_store_no_secret_is_a_prerequisite_and_each_is_copied_once(name: str, store: SecretsSpec) -> None:
    wanted = wanted_without_store(name)

    every = tuple(everything(with_store(reference(name), store)))
    made = delivered(every)

    inside = [place for cluster, place in wanted if cluster != "management"]
    assert secrets(every) == {}
    assert set(made.values()) == {1}
    assert sum("/ExternalSecret/" in key for key in made) == len(wanted) - len(generated(reference(name))) > 0
    assert sum("/PushSecret/" in key for key in made) == len(inside)


@pytest.mark.parametrize("name", NAMES)
def test_entries_of_the_store_are_on_the_list_with_the_keys_that_are_read(name: str) -> None:
    wanted = wanted_without_store(name)

    forms = {form.name: form for form in prerequisites(with_store(reference(name))).forms}

    entries = {item.name.rpartition("/")[2]: set(item.keys) for item in forms["store-entry"].items}
    assert entries == {
        place.rpartition("/")[2]: keys for (_, place), keys in wanted.items() if place not in generated(reference(name))
    }
    [store] = forms["secret-store"].items
    assert (store.kind, store.name) == ("external-secrets.io/ClusterSecretStore", "vault")


@pytest.mark.parametrize("name", NAMES)
def test_a_created_store_adds_the_vault_its_role_and_its_ca_to_the_list(name: str) -> None:
    environment = reference(name)
    about = {"secret-store", "vault", "vault-role", "vault-authority"}

    def listed(secrets: SecretsSpec) -> dict[str, list[tuple[str, str, str | None]]]:
        forms = prerequisites(with_store(environment, secrets)).forms
        return {
            form.name: [(item.kind, item.name, item.namespace) for item in form.items]
            for form in forms
            if form.name in about
        }

    assert listed(STORE) == {"secret-store": [("external-secrets.io/ClusterSecretStore", "vault", None)]}
    assert listed(MADE) == {
        "vault": [("address", "https://vault.example:8200 with mount regions", None)],
        "vault-role": [("action", "here of auth/kubernetes/here at https://vault.example:8200", None)],
        "vault-authority": [("ConfigMap", "vault-ca", "external-secrets")],
    }


@pytest.mark.parametrize("name", NAMES)
def test_no_value_is_in_any_object(name: str) -> None:
    environment = with_store(reference(name), MADE)
    every = tuple(everything(environment))
    copying = [item for item in every if item.kind in {"ExternalSecret", "PushSecret"}]

    assert {item.kind for item in every} & {"Secret", "BMCSecret"} == set()
    assert copying
    specs = [item.body["spec"] for item in copying]
    assert {key for spec in specs for key in spec.get("target", {}).get("template", {})} <= {"type"}
    assert [spec for spec in specs if "dataFrom" in spec or "template" in spec] == []


def test_a_secret_that_is_read_by_its_type_is_delivered_with_it() -> None:
    region = with_store(reference("us-east-04a"))
    [foundation] = [part for part in slices(region) if part.kind is SliceKind.FOUNDATION]

    made = {
        item.name: item.body["spec"] for item in objects(manifests(region, foundation)) if item.kind == "ExternalSecret"
    }

    assert made["bgp-leaf"]["target"]["template"] == {"type": "kubernetes.io/basic-auth"}


def test_one_login_of_a_rack_is_one_entry_for_all_namespaces() -> None:
    laptop = with_store(reference("laptop"))
    found = [
        (one.namespace, one.entry)
        for part in slices(laptop)
        for concept in inputs(laptop, part)
        if isinstance(concept, ExternalSecretsInput)
        for one in concept.deliveries
        if one.name == "bmc-a01"
    ]

    assert len(found) > 1
    assert {entry for _, entry in found} == {"laptop/bmc-a01"}


def test_user_data_of_a_vm_is_an_entry_of_its_cluster() -> None:
    environment = reference("us-east-04a")
    objects_of = [item for item in everything(environment) if item.name == "virtual-machines-bastion-user-data"]
    [copied] = [item for item in objects_of if item.kind == "ExternalSecret"]

    assert copied.body["spec"]["data"] == [
        {
            "secretKey": "userdata",
            "remoteRef": {"key": "us-east-04a/cobalt-one/bastion-user-data", "property": "userdata"},
        }
    ]


def test_a_login_that_two_halls_share_is_brought_by_the_first() -> None:
    east = reference("us-east-04a")
    shared = changed(east, hosts=tuple(changed(host, bmc_secret="bmc") for host in east.hosts))

    every = tuple(everything(shared))

    assert set(delivered(every).values()) == {1}
    assert secrets(every) == {}


def test_the_foundation_creates_its_secrets_before_objects_that_wait_for_them() -> None:
    lab = with_store(reference("lab"))
    kinds = [item.kind for item in objects(manifests(lab, slices(lab)[0]))]

    assert kinds.index("Namespace") < kinds.index("ExternalSecret") < kinds.index("HelmRelease")
    assert kinds.index("ExternalSecret") < kinds.index("DataStore")


def test_a_set_of_secrets_is_one_resource_of_its_slice() -> None:
    east = reference("us-east-04a")
    for part in slices(east)[1:]:
        concepts = inputs(east, part)
        places = [place for place, one in enumerate(concepts) if isinstance(one, ExternalSecretsInput)]
        assert places in ([], [0])
        assert all(len(concepts[place].render()) == 1 for place in places)
        assert places or part.kind is SliceKind.TENANT


def test_objects_that_reference_secrets_are_rendered_once(monkeypatch: pytest.MonkeyPatch) -> None:
    environment = with_store(reference("laptop"))
    rendered: list[str] = []
    render = StorageCatalogInput.render

    def counted(one: StorageCatalogInput) -> tuple[Manifest, ...]:
        rendered.append(one.name)
        return render(one)

    monkeypatch.setattr(StorageCatalogInput, "render", counted)
    every = [items for part in slices(environment) for items in manifests(environment, part)]

    assert [item.name for item in every if item.name.startswith("secrets-cluster-")]
    assert rendered == ["acme-train", "globex-lab"]
