"""Rules about receivers of alerts, the store of metrics, sinks, and the observation of charts in the catalogue."""

from collections.abc import Iterator

from components.lookups.add_ons import gives
from components.lookups.metrics_series import nodes_series
from components.lookups.network.served import METRICS
from components.lookups.observed_components import table
from components.lookups.pools import DataPath, PlacedCluster, clusters, place, problem, tenant_file
from components.render.region.metrics_size import capacity
from components.render.region.stores.store_backups import TOOLS
from components.rules.region import store_pods
from components.rules.region.name_entries import entries, twice
from components.rules.region.served_addresses import not_a_host, not_announced, taken
from components.rules.region.tenant_sinks import unreachable
from components.rules.rule import Rules
from components.rules.tools import missing_tool
from components.specs.add_ons.add_ons import Capability
from components.specs.environment import Environment
from components.specs.reading.loader import REGION, VERSIONS
from components.specs.reading.problems import Problem
from components.specs.region.observability import MAX_STORAGE_PODS, MetricsStoreSpec, ReceiverSpec
from components.specs.region.versions import Chart, ManifestArtefact

_OBSERVABILITY = "observability"
_OF_REGION: DataPath = (_OBSERVABILITY, "receivers")
_OF_TENANT: DataPath = ("notify",)
_METRICS: DataPath = (_OBSERVABILITY, "metrics")
_SINK: DataPath = ("metrics_sink",)
_OPERATORS = "the operators"
_CLUSTER = 40_000
"""Series of the control plane of a cluster and of its etcd, without those that grow with nodes; estimated."""


def receiver_names(environment: Environment) -> Iterator[Problem]:
    """Report duplicate names of receivers in one list."""
    for _, file, path, receivers in _lists(environment):
        yield from twice(environment, "receiver", entries(file, path, "name", receivers))


def mail(environment: Environment) -> Iterator[Problem]:
    """Report receivers of tenants that need a mail server or receivers of the operators, which the region lacks."""
    observability = environment.region.observability
    for tenant in environment.tenants:
        file = tenant_file(tenant)
        if observability is None and tenant.notify:
            text = f"no alert is sent, because {REGION} has no observability; add it with receivers, or remove notify"
            yield problem(environment, file, _OF_TENANT, text)
        for index, receiver in enumerate(tenant.notify):
            if receiver.email and observability and observability.mail is None:
                there = place(environment, REGION, (_OBSERVABILITY,))
                text = f"{receiver.email} requires a mail server; add mail to observability ({there})"
                yield problem(environment, file, (*_OF_TENANT, index, "email"), text)


def secrets(environment: Environment) -> Iterator[Problem]:
    """Report Secrets that receivers of two tenants share, or of a tenant and the operators.

    The second one would get alerts in the channel of the first one.
    """
    first: dict[str, tuple[str, str, DataPath]] = {}
    for owner, file, path, receivers in _lists(environment):
        for index, receiver in enumerate(receivers):
            if receiver.secret is None:
                continue
            field, secret = receiver.secret
            at = (*path, index, field)
            other, of_other, path_of_other = first.setdefault(secret, (owner, file, at))
            if other != owner:
                there = place(environment, of_other, path_of_other)
                text = f"'{secret}' is a Secret of {other} ({there}); use a separate Secret"
                yield problem(environment, file, at, text)


def address(environment: Environment) -> Iterator[Problem]:
    """Report an address of the store of metrics that VPCs have no route to, or that has another owner."""
    store = _store(environment)
    if store is not None and store.address is not None:
        yield from not_announced(environment, METRICS, store.address, "pick an address in it")
        yield from not_a_host(environment, METRICS, store.address)
        yield from taken(environment, METRICS, store.address)


def size(environment: Environment) -> Iterator[Problem]:
    """Report a store that is full before the end of its retention, by the series of all clusters."""
    store = _store(environment)
    if store is None:
        return
    needed, room = stored_series(environment), capacity(store)
    if needed > room:
        pods = -(-store.storage_pods * needed // max(room, 1))
        more = store_pods.more(environment, pods, MAX_STORAGE_PODS)
        text = (
            f"{store.size} on each of {store.storage_pods} storage pods is enough for {room:,} series during"
            f" {store.retention_days} days, but the clusters have {needed:,}; write {more}a shorter retention_days or a"
            " larger size"
        )
        yield problem(environment, REGION, (*_METRICS, "size"), text)


def storage_pods(environment: Environment) -> Iterator[Problem]:
    """Report more storage pods than hosts of the management cluster: a host would have both replicas of samples."""
    store = _store(environment)
    if store is not None:
        yield from store_pods.beyond_hosts(environment, _METRICS, store.storage_pods, "the store does not survive it")


def sinks(environment: Environment) -> Iterator[Problem]:
    """Report sinks of tenants without agents, or that the pods of a cluster do not reach."""
    for tenant in environment.tenants:
        if tenant.metrics_sink is None:
            continue
        if _store(environment) is None:
            text = (
                f"no cluster has agents, because {REGION} has no observability.metrics.address; add"
                " observability.metrics.address, or remove metrics_sink"
            )
            yield problem(environment, tenant_file(tenant), _SINK, text)
        yield from unreachable(environment, tenant, _SINK, tenant.metrics_sink.endpoint, Capability.MONITORING)


def _store(environment: Environment) -> MetricsStoreSpec | None:
    observability = environment.region.observability
    return observability.store if observability else None


def _lists(environment: Environment) -> Iterator[tuple[str, str, DataPath, tuple[ReceiverSpec, ...]]]:
    """Yield the lists of receivers: owner, file, path and entries."""
    if observability := environment.region.observability:
        yield _OPERATORS, REGION, _OF_REGION, observability.receivers
    for tenant in environment.tenants:
        yield f"tenant {tenant.tenant}", tenant_file(tenant), _OF_TENANT, tenant.notify


def backup_tools(environment: Environment) -> Iterator[Problem]:
    """Report backups of stores whose images are not declared."""
    observability = environment.region.observability
    for store in observability.backups if observability else ():
        for name in TOOLS[store]:
            if text := missing_tool(environment, name):
                yield problem(environment, REGION, (_OBSERVABILITY, store, "backup"), f"requires {text}")


def known_charts(environment: Environment) -> Iterator[Problem]:
    """Report the declared observation of charts and artefacts that the library knows, which has no effect."""
    known = {row.name for row in (*table().management, *table().clusters)}
    vector = environment.versions
    lists: dict[str, tuple[Chart | ManifestArtefact, ...]] = {"charts": vector.charts, "manifests": vector.manifests}
    for field, rows in lists.items():
        for index, row in enumerate(rows):
            if row.observed is not None and row.name in known:
                text = (
                    f"has no effect, because the library describes the observation of {row.name} "
                    f"(jacquard show {environment.name} observability); remove it"
                )
                yield problem(environment, VERSIONS, (field, index, "observed"), text)


def stored_series(environment: Environment) -> int:
    """Return the number of series of all clusters, including those that the management cluster collects."""
    return sum(_CLUSTER + cluster_series(environment, placed) for placed in clusters(environment))


def cluster_series(environment: Environment, placed: PlacedCluster) -> int:
    """Return the number of series of the nodes and pods of a cluster; 0 if no add-on collects metrics."""
    if not gives(environment, placed, Capability.MONITORING):
        return 0
    return nodes_series(environment, placed.cluster, gpus=gives(environment, placed, Capability.GPUS))


RULES = Rules(data=(receiver_names, mail, secrets, address, size, storage_pods, backup_tools, sinks, known_charts))
