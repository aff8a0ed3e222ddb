"""Buckets of tenants in SeaweedFS: which keys reach which bucket, and what stays when an object is deleted.

The API server and the store are real; a stand-in executes what the store's operator does (``seaweed_operator``).
"""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Collection, Iterator

import pytest
import yaml

from components.inputs.buckets import of_cluster
from components.inputs.deliveries import deliveries
from components.lookups.pools import clusters
from components.render.manifest import Manifest
from components.render.region.external_secrets import external_secrets
from components.specs.environment import Environment
from jacquard.lab.rehearsal import crds
from jacquard.providers.kube import ApiError, ObjectRef
from tests.support.api_servers.api_server import LocalApiServer
from tests.support.objects.published_crds import RECORDED_HERE
from tests.support.storage.s3_requests import KeyPair
from tests.support.storage.seaweed_example import laptop, renamed, rendered
from tests.support.storage.seaweed_operator import SeaweedOperator
from tests.support.storage.seaweed_store import ADMINISTRATOR, SeaweedStore

pytestmark = [pytest.mark.e2e, pytest.mark.nightly]

OK, NO_CONTENT, FORBIDDEN = 200, 204, 403
RUNS = {"acme": "/acme-runs", "globex": "/globex-runs"}
"""Path of each tenant's bucket."""
CLUSTERS = {"acme": "acme-train", "globex": "globex-lab"}
SETTINGS = ("versioning=", "policy=", "lifecycle=", "acl=", "object-lock=")


class Region:
    """Objects of an environment at an API server, and the store behind them."""

    def __init__(self, server: LocalApiServer, store: SeaweedStore) -> None:
        self.api, self.store = server.api, store
        self.operator = SeaweedOperator(server.api, store)
        self._applied: dict[str, Manifest] = {}
        for name in (*CLUSTERS.values(), *(f"tenant-{tenant}" for tenant in CLUSTERS)):
            server.namespace(name)

    def up(self, environment: Environment, *, without: Collection[str] = ()) -> None:
        """Apply the objects of tenants, delete those that are not rendered any more, and reconcile."""
        places = {place for tenant in without for place in (f"tenant-{tenant}", CLUSTERS[tenant])}
        wanted = {item.key: item for item in rendered(environment) if item.namespace not in places}
        if wanted == self._applied:
            return
        for item in wanted.values():
            self.api.apply(item.body, field_manager="jacquard", force=True)
        for key in self._applied.keys() - wanted.keys():
            self.api.delete(ObjectRef.of(self._applied[key].body))
        self._applied = wanted
        self.operator.reconcile()

    def keys(self, tenant: str) -> KeyPair:
        """Return the keys in the Secret that is pushed into each namespace of the tenant's cluster."""
        [placed] = (one for one in clusters(laptop()) if one.cluster.name == CLUSTERS[tenant])
        maps = [item for one in of_cluster(laptop(), placed) for item in one.render()]
        pushed = [item for item in external_secrets("", deliveries(laptop(), maps)) if item.kind == "PushSecret"]
        assert len(pushed) == len(maps)
        [name] = {item.body["spec"]["selector"]["secret"]["name"] for item in pushed}
        secret = self.api.get(ObjectRef("v1", "Secret", name, CLUSTERS[tenant]))
        assert secret is not None
        return KeyPair(
            *(b64decode(secret["data"][f"AWS_{key}"]).decode() for key in ("ACCESS_KEY_ID", "SECRET_ACCESS_KEY"))
        )

    def status(self, keys: KeyPair | None, method: str, path: str, body: bytes = b"", query: str = "") -> int:
        """Return the status of a request."""
        return self.store.send(keys, method, path, body=body, query=query).status


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[LocalApiServer, SeaweedStore]]:
    folder = tmp_path_factory.mktemp("seaweedfs")
    store = SeaweedStore(folder / "store")
    try:
        server = LocalApiServer(folder / "server", kinds=())
        try:
            file = RECORDED_HERE / "seaweed.seaweedfs.com_buckets.yaml"
            crds.install(server.api, list(yaml.safe_load_all(file.read_text(encoding="utf-8"))))
            yield server, store
        finally:
            server.stop()
    finally:
        store.stop()


@pytest.fixture(scope="module")
def region(running: tuple[LocalApiServer, SeaweedStore]) -> Region:
    return Region(*running)


@pytest.fixture
def ordered(region: Region) -> Region:
    """Return the region with the buckets of both tenants, whose keys the gateway knows."""
    region.up(laptop())
    for tenant, path in RUNS.items():
        region.store.until(OK, region.keys(tenant), "PUT", f"{path}/model", body=tenant.encode())
    return region


@pytest.mark.parametrize(("tenant", "other"), [("acme", "globex"), ("globex", "acme")])
def test_keys_read_and_write_the_bucket_of_their_tenant_and_no_other(ordered: Region, tenant: str, other: str) -> None:
    keys, own, foreign = ordered.keys(tenant), RUNS[tenant], RUNS[other]

    assert ordered.store.send(keys, "GET", f"{own}/model").body == tenant
    assert "<Key>model</Key>" in ordered.store.send(keys, "GET", own, query="list-type=2").body
    assert ordered.status(keys, "PUT", f"{own}/spare", b"spare") == OK
    assert ordered.status(keys, "DELETE", f"{own}/spare") == NO_CONTENT
    requests = [("GET", "/model"), ("HEAD", "/model"), ("PUT", "/model"), ("DELETE", "/model"), ("GET", "")]
    assert {ordered.status(keys, method, foreign + path, b"x") for method, path in requests} == {FORBIDDEN}
    assert ordered.store.send(ADMINISTRATOR, "GET", f"{foreign}/model").body == other


def test_keys_list_and_create_no_other_buckets(ordered: Region) -> None:
    keys = ordered.keys("acme")

    assert "globex" not in ordered.store.send(keys, "GET", "/").body
    assert ordered.status(keys, "PUT", "/acme-further") == FORBIDDEN
    assert ordered.status(keys, "DELETE", RUNS["acme"]) == FORBIDDEN


@pytest.mark.parametrize("setting", SETTINGS)
def test_keys_do_not_change_settings_of_their_bucket(ordered: Region, setting: str) -> None:
    assert ordered.status(ordered.keys("acme"), "PUT", RUNS["acme"], b"<x/>", setting) == FORBIDDEN


def test_requests_without_keys_and_with_a_wrong_secret_are_rejected(ordered: Region) -> None:
    wrong = KeyPair(ordered.keys("acme").access, "wrong")

    assert [ordered.status(keys, "GET", f"{RUNS['acme']}/model") for keys in (None, wrong)] == [FORBIDDEN] * 2


def test_the_store_has_the_settings_of_the_data(ordered: Region) -> None:
    path = RUNS["acme"]

    lifecycle = ordered.store.send(ADMINISTRATOR, "GET", path, query="lifecycle=").body
    ages = ("<Days>30</Days>", "<NoncurrentDays>9</NoncurrentDays>", "<DaysAfterInitiation>2</DaysAfterInitiation>")
    assert [age for age in ages if age not in lifecycle] == []
    assert "<Status>Enabled</Status>" in ordered.store.send(ADMINISTRATOR, "GET", path, query="versioning=").body
    assert f"quota:{8 << 20}" in ordered.store.shell("s3.bucket.list")


def test_keys_that_read_do_not_write_any_more(ordered: Region) -> None:
    keys, model = ordered.keys("acme"), f"{RUNS['acme']}/model"

    ordered.up(laptop("read"))

    ordered.store.until(FORBIDDEN, keys, "PUT", model, body=b"x")
    assert ordered.store.send(keys, "GET", model).body == "acme"
    assert ordered.status(keys, "DELETE", model) == FORBIDDEN


def test_a_deleted_secret_gets_other_keys_and_the_previous_ones_are_revoked(ordered: Region) -> None:
    before, model = ordered.keys("acme"), f"{RUNS['acme']}/model"

    ordered.api.delete(ObjectRef("v1", "Secret", "bucket.runs", CLUSTERS["acme"]))
    ordered.operator.reconcile()

    after = ordered.keys("acme")
    ordered.store.until(OK, after, "GET", model)
    ordered.store.until(FORBIDDEN, before, "GET", model)
    assert ordered.status(ordered.keys("globex"), "GET", f"{RUNS['globex']}/model") == OK


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({"bucket": "acme-other"}, "bucket name is immutable once set"),
        ({"versioning": False}, "cannot disable versioning"),
    ],
    ids=["name", "versioning"],
)
def test_the_api_server_rejects_what_the_table_of_effects_calls_refused(
    ordered: Region, fields: dict[str, object], reason: str
) -> None:
    with pytest.raises(ApiError, match=reason):
        ordered.up(renamed(laptop(), "acme", **{"lifecycle": None, **fields}))


def test_a_full_bucket_is_read_only_and_others_are_not(ordered: Region) -> None:
    keys = ordered.keys("globex")
    for part in range(3):
        ordered.store.until(OK, keys, "PUT", f"{RUNS['globex']}/part-{part}", body=bytes(4 << 20))

    ordered.store.until(FORBIDDEN, keys, "PUT", f"{RUNS['globex']}/more", body=b"x")

    assert ordered.status(keys, "GET", f"{RUNS['globex']}/model") == OK
    assert ordered.status(ordered.keys("acme"), "PUT", f"{RUNS['acme']}/more", b"x") == OK


def test_a_removed_bucket_keeps_its_content_and_neither_old_nor_new_keys_reach_it(region: Region) -> None:
    """Another tenant declares the name of a bucket that was left behind: its keys exist, without rights."""
    region.up(laptop())
    before, model = region.keys("acme"), f"{RUNS['acme']}/model"
    region.store.until(OK, before, "PUT", model, body=b"acme")

    region.up(laptop(), without=("acme", "globex"))

    region.store.until(FORBIDDEN, before, "GET", model)
    assert region.store.send(ADMINISTRATOR, "GET", model).body == "acme"
    assert region.api.get(ObjectRef("v1", "Secret", "bucket.runs", CLUSTERS["acme"])) is None

    region.up(renamed(laptop(), "globex", bucket="acme-runs"), without=("acme",))

    assert ("tenant-globex", "bucket-runs") in region.operator.refused
    after = region.keys("globex")
    region.store.until(OK, after, "GET", "/")  # the gateway knows the keys
    assert {region.status(after, method, model, b"x") for method in ("GET", "PUT", "DELETE")} == {FORBIDDEN}
    assert region.store.send(ADMINISTRATOR, "GET", model).body == "acme"
