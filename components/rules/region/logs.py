"""Rules about the store of logs: its size and hosts, accounts that no two tenants share, and sinks of tenants."""

import datetime as dt
from collections.abc import Iterator

from components.lookups.pools import DataPath, clusters, most_nodes, problem, tenant_file
from components.render.program_pods import TOOL
from components.render.region.logs.accounts import account
from components.render.region.logs.forwarder import FORWARDED
from components.render.region.logs.log_monitors import FREE_PERCENT
from components.rules.region import store_pods
from components.rules.region.tenant_sinks import unreachable
from components.rules.rule import AdvisoryPeriod, Rules, advisory
from components.rules.tools import missing_tool
from components.specs.add_ons.add_ons import Capability
from components.specs.base import bytes_of
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem, listed
from components.specs.region.logs import MAX_STORAGE_PODS

_LOGS: DataPath = ("observability", "logs")
_SINK: DataPath = ("log_sink",)
_CURRENT_DAYS = 1
"""Days in addition to the retention: a day is deleted as a whole (VL:docs/victorialogs/README.md Retention)."""


def size(environment: Environment) -> Iterator[Problem]:
    """Report a store that is full before the end of its retention, by the logs of all nodes."""
    store = environment.region.log_store
    if store is None:
        return
    hosts = environment.region.control_planes.hosts
    nodes = (hosts or 0) + sum(
        most_nodes(environment, pool) for placed in clusters(environment) for pool in placed.cluster.pools
    )
    needed = nodes * (store.retention_days + _CURRENT_DAYS) * bytes_of(store.node_day)
    usable = bytes_of(store.size) * (100 - FREE_PERCENT) // 100
    if needed > usable * store.storage_pods:
        pods = -(-needed // usable)
        more = store_pods.more(environment, pods, MAX_STORAGE_PODS)
        text = (
            f"{store.size} on each of {store.storage_pods} storage pods, of which a fifth stays free, is less than the"
            f" {-(-needed >> 30):,} GiB that {nodes:,} nodes write in {store.retention_days} days at {store.node_day} a"
            f" day; write {more}a shorter retention_days or a larger size"
        )
        yield problem(environment, REGION, (*_LOGS, "size"), text)


def storage_pods(environment: Environment) -> Iterator[Problem]:
    """Report more storage pods than hosts of the management cluster, which would lose several at the same time."""
    store = environment.region.log_store
    if store is not None:
        consequence = "an outage of it affects both"
        yield from store_pods.beyond_hosts(environment, _LOGS, store.storage_pods, consequence)


def accounts(environment: Environment) -> Iterator[Problem]:
    """Report two tenants with the same account, which would read the logs of each other."""
    if environment.region.log_store is None:
        return
    first: dict[int, str] = {}
    for tenant in environment.tenants:
        other = first.setdefault(account(tenant.tenant), tenant.tenant)
        if other != tenant.tenant:
            text = f"has the same account of the store of logs as tenant '{other}'; rename the tenant"
            yield problem(environment, tenant_file(tenant), ("tenant",), text)


def sinks(environment: Environment) -> Iterator[Problem]:
    """Report sinks of tenants without collectors, or that the pods of a cluster do not reach."""
    for tenant in environment.tenants:
        if tenant.log_sink is None:
            continue
        file = tenant_file(tenant)
        if environment.region.log_store is None:
            text = (
                f"no cluster has collectors, because {REGION} has no observability.logs; add observability.logs, or"
                " remove log_sink"
            )
            yield problem(environment, file, _SINK, text)
        yield from unreachable(environment, tenant, _SINK, tenant.log_sink.endpoint, Capability.LOGS)


@advisory(AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1)))
def forwarded_records(environment: Environment) -> Iterator[Problem]:
    """Report sinks that get no audit events or logs of control planes, because the image of the program is missing.

    The records are also in the store of the region.
    """
    if environment.region.log_store is None:
        return
    for tenant in environment.tenants:
        chosen = [item.value for item in tenant.log_sink.records if item in FORWARDED] if tenant.log_sink else []
        if chosen and (missing := missing_tool(environment, TOOL, f" for {listed(chosen)}")):
            text = f"requires {missing}, or write records without {listed(chosen)}"
            yield problem(environment, tenant_file(tenant), (*_SINK, "records"), text)


RULES = Rules(data=(size, storage_pods, accounts, sinks, forwarded_records))
