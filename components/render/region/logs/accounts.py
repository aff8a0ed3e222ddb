"""Accounts of tenants in the store of logs, and requests that a cluster may send to the store.

An account is a number, by which VictoriaLogs separates all data of tenants. A request selects the account with the
headers ``AccountID`` and ``ProjectID`` (VL:lib/logstorage/tenant_id.go GetTenantIDFromRequest). The proxy sets both and
thereby replaces those of a client (VM:app/vmauth/main.go updateHeadersByConfig). Labels could not separate tenants in
this way: VictoriaLogs adds ``extra_fields`` to the fields of a record and keeps fields of the same name
(VL:lib/logstorage/log_rows.go mustAddInternal).
"""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

NAME = "logs"
"""Name of the store, in the namespace of the store of metrics."""
OPERATORS = 0
"""Account of the management cluster, and of requests without headers."""
WRITE_PATH = "/insert/opentelemetry/v1/logs"
"""Path for OTLP over HTTP in binary form. The native protocol is not available, because its rows contain accounts."""
_QUERIES = (
    "facets field_names field_values hits query stats_query stats_query_range stream_field_names stream_field_values"
    " stream_ids streams tail"
)
READ_PATHS = tuple(f"/select/logsql/{query}" for query in _QUERIES.split())
"""Queries. ``/select/tenant_ids`` is not available, because it lists the accounts of all tenants."""
AUDIT, CONTROL_PLANE = "/audit", "/control-plane"
"""Prefixes of the paths for audit events and for logs of control planes, which the proxy removes."""
QUERY = "/select/logsql/query"
LOGS, AUDIT_EVENTS = 0, 1
"""Projects of an account. Audit events of all clusters are in the second project of the operators, which only the
collectors of the management cluster write."""
_AUDIT_STREAM = ("region", "tenant", "cluster", "stream", "k8s.node.name")
_STREAM = ("region", "tenant", "cluster", "k8s.node.name", "k8s.namespace.name", "k8s.pod.name", "k8s.container.name")
"""Fields that identify a stream, which is stored together. By default all attributes of a resource identify it."""


def account(tenant: str) -> int:
    """Return the account of ``tenant``: 32 bits of the hash of its name, never that of the operators."""
    number = int.from_bytes(sha256(tenant.encode()).digest()[:4], "big")
    return number or 1


def targets(region: str, tenant: str, cluster: str, namespace: str, records: str) -> tuple[dict[str, Any], ...]:
    """Return the targets of the user of ``cluster`` at the proxy: writes, and queries of the records of its tenant.

    Args:
        region: the region.
        tenant: the tenant of the cluster.
        cluster: the cluster.
        namespace: the namespace of the store.
        records: filter for the records of API server, controller manager and scheduler among those of a control plane.
    """
    number = account(tenant)
    written = _writes({"region": region, "tenant": tenant, "cluster": cluster}, number, namespace)
    read = _target("vlselect", READ_PATHS, number, namespace)
    return written, read, _audit_reads(tenant, namespace), _control_plane_reads(cluster, namespace, records)


def operators_targets(region: str, namespace: str) -> tuple[dict[str, Any], ...]:
    """Return the targets of the collectors of the management cluster: writes of logs and of audit events."""
    audit = {
        **_audit("vlinsert", (WRITE_PATH,), namespace),
        "query_args": _arguments({"region": region, "stream": "audit"}, _AUDIT_STREAM),
    }
    return _writes({"region": region}, OPERATORS, namespace), audit


def _writes(fields: Mapping[str, str], number: int, namespace: str) -> dict[str, Any]:
    target = _target("vlinsert", (WRITE_PATH,), number, namespace)
    return {**target, "query_args": _arguments(fields, _STREAM)}


def _audit_reads(tenant: str, namespace: str) -> dict[str, Any]:
    """Return the target for queries of the audit events of ``tenant``.

    The filter is added to the query and to all queries in it, combined with "and" with filters of the client
    (VL:lib/logstorage/parser.go AddExtraFilters). It separates tenants here, unlike for logs, because no tenant writes
    audit events.
    """
    arguments = [{"name": "extra_filters", "values": [f'{{tenant="{tenant}"}}']}]
    return {**_audit("vlselect", READ_PATHS, namespace), "query_args": arguments}


def _control_plane_reads(cluster: str, namespace: str, records: str) -> dict[str, Any]:
    """Return the target for queries of the logs of the control plane of ``cluster``.

    They are among the logs of the operators, which only the collectors of the management cluster write. The namespace
    of a record is the folder of the file that a collector reads, and each cluster has a namespace of its own.
    """
    restriction = f'{{k8s.namespace.name="{cluster}"}} {records}'
    return {
        **_prefixed(CONTROL_PLANE, "vlselect", READ_PATHS, namespace, LOGS),
        "query_args": [{"name": "extra_filters", "values": [restriction]}],
    }


def _audit(component: str, paths: tuple[str, ...], namespace: str) -> dict[str, Any]:
    return _prefixed(AUDIT, component, paths, namespace, AUDIT_EVENTS)


def _prefixed(prefix: str, component: str, paths: tuple[str, ...], namespace: str, project: int) -> dict[str, Any]:
    """Return the target for records of the operators at paths with a prefix that the proxy removes."""
    prefixed = tuple(f"{prefix}{path}" for path in paths)
    return {**_target(component, prefixed, OPERATORS, namespace, project=project), "drop_src_path_prefix_parts": 1}


def _arguments(fields: Mapping[str, str], stream: tuple[str, ...]) -> list[dict[str, Any]]:
    return [
        {"name": "extra_fields", "values": [",".join(f"{name}={value}" for name, value in fields.items())]},
        {"name": "_stream_fields", "values": [",".join(stream)]},
    ]


def _target(
    component: str, paths: tuple[str, ...], number: int, namespace: str, *, project: int = LOGS
) -> dict[str, Any]:
    return {
        "crd": {"kind": f"VLCluster/{component}", "name": NAME, "namespace": namespace},
        "paths": list(paths),
        "headers": [f"AccountID: {number}", f"ProjectID: {project}"],
    }
