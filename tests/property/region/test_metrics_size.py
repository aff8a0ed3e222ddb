"""The capacity of a store fits its volumes, grows with volumes and shrinks with the retention."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from components.lookups.metrics_series import SERIES_PER_AGENT, agents
from components.render.region.metrics_size import (
    BYTES_PER_SAMPLE,
    SCRAPE_SECONDS,
    bytes_per_series,
    capacity,
    storage_requests,
)
from components.specs.base import Address, bytes_of
from components.specs.region.observability import MAX_STORAGE_PODS, MIN_STORAGE_PODS, MetricsStoreSpec

DAY_SECONDS = 86_400
stores = st.builds(
    MetricsStoreSpec,
    size=st.integers(1, 64).map("{}Ti".format) | st.integers(10, 4000).map("{}Gi".format),
    storage_class=st.just("nvme"),
    retention_days=st.integers(1, 3650),
    address=st.just(Address("10.3.0.249")),
    storage_pods=st.integers(MIN_STORAGE_PODS, MAX_STORAGE_PODS),
)


@given(store=stores)
def test_both_replicas_of_all_samples_fit_the_volumes_with_a_fifth_free(store: MetricsStoreSpec) -> None:
    samples = capacity(store) * store.retention_days * DAY_SECONDS // SCRAPE_SECONDS
    volumes = store.storage_pods * bytes_of(store.size)

    assert 2 * samples * BYTES_PER_SAMPLE * 5 <= 4 * volumes


@given(store=stores)
def test_one_more_series_does_not_fit(store: MetricsStoreSpec) -> None:
    usable = store.storage_pods * bytes_of(store.size) * 4 // 5

    assert (capacity(store) + 1) * bytes_per_series(store.retention_days) > usable


@given(store=stores, days=st.integers(1, 3650))
def test_a_longer_retention_never_fits_more_series(store: MetricsStoreSpec, days: int) -> None:
    longer = store.model_copy(update={"retention_days": store.retention_days + days})

    assert capacity(longer) <= capacity(store)


@given(store=stores)
def test_requests_of_a_storage_pod_cover_its_share_of_both_replicas(store: MetricsStoreSpec) -> None:
    share = 2 * capacity(store) // store.storage_pods
    requests = storage_requests(store)

    assert requests.memory_mebibytes << 20 >= 2 * share * 1024
    assert requests.cpu_millis * 300_000 * SCRAPE_SECONDS >= 1000 * share


@given(series=st.integers(0, 10**9))
def test_no_agent_writes_more_series_than_it_can(series: int) -> None:
    assert agents(series) >= 1
    assert series <= agents(series) * SERIES_PER_AGENT < series + 2 * SERIES_PER_AGENT
