"""Text of the tenant's file with an order: a new file, or an edit of the existing one."""

from collections.abc import Iterable, Iterator
from math import ceil, log2
from typing import Any

from components.placement.fit import Plan, PlannedPool
from components.specs.environment import Environment
from components.specs.fleet.order import OrderSpec
from components.specs.pools.node_pool import PoolRole
from components.specs.reading.edits import edited, loaded
from components.specs.reading.lock_text import entry_text
from components.specs.reading.schema import HEADER
from components.specs.region.tenant import ChangesSpec, TenantSpec

_HOST_ADDRESSES, _POD_ADDRESSES = 8, 256
"""Addresses of a VPC for each node, and for the pods of a node."""
_MARGIN = 4
"""Nodes that a VPC has room for beyond twice the ordered nodes, for spares and growth."""
_SERVICES, _LOAD_BALANCERS = 20, 26
_SMALLEST_HOSTS, _SMALLEST_PODS = 26, 20
_SCHEMA = f"{HEADER}../../../schemas/tenant.schema.json"


def with_order(environment: Environment, order: OrderSpec, plan: Plan, text: str | None) -> str:
    """Return the tenant's file with the pools of ``plan``.

    Args:
        environment: region of the order.
        order: the order.
        plan: pools that fit into the region.
        text: the file before; None for a tenant that the region does not have.
    """
    tenant = next((item for item in environment.tenants if item.tenant == order.tenant), None)
    if text is None or tenant is None:
        return _new(environment, order, plan)
    return edited(text, lambda document: _extended(document, environment, order, plan, tenant))


def _new(environment: Environment, order: OrderSpec, plan: Plan) -> str:
    changes = [f"changes: {_flow(order.changes)}\n"] if order.changes != ChangesSpec() else []
    contract = _contract(plan, {pool.instance_type for pool in plan.pools})
    return "".join(
        [
            f"{_SCHEMA}\n# order {order.order}, needed from {order.from_}\n",
            f"schema_version: {TenantSpec.FORMAT}\ntenant: {order.tenant}\ncontacts: {_flow(order.contacts)}\n",
            "contract:\n",
            *(f"  - {_entry(order, kind, nodes)}\n" for kind, nodes in contract.items()),
            *changes,
            f"\nvpcs:\n  - {entry_text(_vpc(order, plan))}\n\nclusters:\n",
            *_lines(_cluster(environment, order, plan), "  "),
        ]
    )


def _extended(document: Any, environment: Environment, order: OrderSpec, plan: Plan, tenant: TenantSpec) -> Any:
    """Return the document of a tenant's file with the pools in its cluster, or with a new cluster and VPC."""
    for kind, nodes in _contract(plan, {entry.instance_type for entry in tenant.contract} | _ordered(plan)).items():
        entries = document.get("contract") or []
        added = loaded(_entry(order, kind, nodes))
        same = next((entry for entry in entries if {**entry, "nodes": nodes} == added), None)
        if same is not None:
            same["nodes"] += nodes
        elif entries:
            entries.append(added)
    cluster = next((item for item in document["clusters"] if item["name"] == order.cluster), None)
    if cluster is not None:
        taken = [pool["name"] for pool in cluster["pools"]]
        for pool in _pools(plan, taken):
            cluster["pools"].append(loaded(entry_text(pool)))
        return document
    document["vpcs"].append(loaded(entry_text(_vpc(order, plan))))
    document["clusters"].append(loaded("".join(_lines(_cluster(environment, order, plan), "")))[0])
    return document


def _ordered(plan: Plan) -> set[str]:
    return {pool.instance_type for pool in plan.pools}


def _contract(plan: Plan, kinds: Iterable[str]) -> dict[str, int]:
    """Return the nodes that the order adds to a contract with entries for ``kinds``."""
    every = [*plan.pools, *([plan.system] if plan.system else [])]
    sums = {kind: sum(pool.nodes for pool in every if pool.instance_type == kind) for kind in sorted(kinds)}
    return {kind: nodes for kind, nodes in sums.items() if nodes}


def _entry(order: OrderSpec, kind: str, nodes: int) -> str:
    """Return the text of a contract. It begins at once, because the pools get hosts at once."""
    end = f", until: {order.until}" if order.until else ""
    return f"{{instance_type: {kind}, nodes: {nodes}{end}}}"


def _vpc(order: OrderSpec, plan: Plan) -> dict[str, Any]:
    nodes = 2 * sum(pool.nodes for pool in (*plan.pools, *([plan.system] if plan.system else []))) + _MARGIN
    values: dict[str, Any] = {
        "name": order.cluster,
        "isolation": order.isolation.value,
        "hosts": f"/{min(_SMALLEST_HOSTS, _length(nodes * _HOST_ADDRESSES))}",
        "pods": f"/{min(_SMALLEST_PODS, _length(nodes * _POD_ADDRESSES))}",
        "services": f"/{_SERVICES}",
        "load_balancers": f"/{_LOAD_BALANCERS}",
    }
    values |= {"egress": order.egress.value} if "egress" in order.model_fields_set else {}
    return values | ({"fabrics": list(plan.fabrics)} if plan.fabrics else {})


def _length(addresses: int) -> int:
    """Return the length of the smallest prefix with ``addresses``."""
    return 32 - ceil(log2(addresses))


def _cluster(environment: Environment, order: OrderSpec, plan: Plan) -> dict[str, Any]:
    default = [item.name for item in environment.region.storage if item.default]
    cluster = {"name": order.cluster, "version": order.version, "vpc": order.cluster, "pools": [*_pools(plan, [])]}
    return cluster | ({"storage": default} if default else {})


def _pools(plan: Plan, taken: list[str]) -> Iterator[dict[str, Any]]:
    """Yield the entries of the pools, with names that the cluster does not have yet."""
    names = list(taken)
    if plan.system:
        yield {"name": "system", "role": PoolRole.SYSTEM.value, **_size(plan.system)}
        names.append("system")
    for pool in plan.pools:
        name = _free(pool.instance_type.partition("-")[0], names)
        names.append(name)
        yield {"name": name, **_size(pool)}


def _size(pool: PlannedPool) -> dict[str, Any]:
    size = {"nodes": pool.nodes} if pool.racks is None else {"racks": pool.racks}
    return {"instance_type": pool.instance_type, **size}


def _free(name: str, taken: list[str]) -> str:
    """Return ``name``, or with the first number so that it is not ``taken``. A pool name starts with a letter."""
    base = name if name[0].isalpha() else f"pool-{name}"
    names = [base, *(f"{base}-{number}" for number in range(2, len(taken) + 3))]
    return next(candidate for candidate in names if candidate not in taken)


def _lines(cluster: dict[str, Any], indent: str) -> Iterator[str]:
    """Yield the lines of an entry of ``clusters``, with a line for each pool."""
    for index, (key, value) in enumerate(cluster.items()):
        mark = "- " if index == 0 else "  "
        if key == "pools":
            yield f"{indent}{mark}{key}:\n"
            yield from (f"{indent}    - {entry_text(pool)}\n" for pool in value)
        else:
            yield f"{indent}{mark}{key}: {entry_text(value) if isinstance(value, list) else value}\n"


def _flow(spec: Any) -> str:
    return entry_text(spec.model_dump(mode="json", exclude_unset=True, by_alias=True))
