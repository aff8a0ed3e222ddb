"""CronJob in a tenant's cluster that sends records of the region's store to the sink of the tenant.

Audit events and logs of control planes are in the store, because only the collectors of the management cluster read
them. The management cluster opens no connection to an address that a tenant chooses. The program therefore runs in the
cluster of the tenant: it reads from the proxy of the store, which restricts it to the records of this tenant, and
writes to the sink by the rules for egress of the VPC. It has the credential of the cluster for the store, and the
Secret of the sink. A sink that is down affects only its tenant.
"""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from components.render import labels as keys
from components.render.add_ons.pod_priorities import SERVICE
from components.render.manifest import Manifest
from components.render.objects import manifest
from components.render.platform_pods import role_for, service_account
from components.render.pod_placement import services
from components.render.program_pods import SECRETS, program
from components.render.region.logs.accounts import AUDIT, CONTROL_PLANE, QUERY
from components.render.region.logs.collector import PASSWORD_KEY, SECRET, LogsWriter
from components.render.region.monitors import Audience, alert, since_success
from components.render.region.stores.store_certificates import AUTHORITY_KEY
from components.specs.region.log_sink import LogRecords, LogSinkSpec

NAME = "log-forwarder"
"""Name of the CronJob, its program and its account."""
STATE = f"{NAME}-state"
"""ConfigMap whose annotations are the progress of the program, which Jacquard does not set."""
PROGRAM = ("log_forwarder.py", "otlp.py", "api.py")
SETTINGS = "settings.json"
_EVERY_MINUTES, _RUN_SECONDS = 2, 600
_LATE_MINUTES = 30
"""Time without success after which the alert fires: some failed runs, or a long run after an outage."""
FORWARDED: Mapping[LogRecords, str] = {LogRecords.AUDIT: AUDIT, LogRecords.CONTROL_PLANE: CONTROL_PLANE}
"""Prefix of the paths of the store, by records."""


def render(writer: LogsWriter | None, cluster: str, namespace: str, *, system_pool: bool) -> Iterator[Manifest]:
    """Yield the CronJob with its program, account and progress; nothing if no record is forwarded."""
    if writer is None or writer.sink is None or writer.image is None or not writer.forwarded:
        return
    place: dict[str, Any] = {"namespace": namespace, "cluster": cluster}
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [STATE], "verbs": ["get", "patch"]}]
    yield manifest("v1", "ServiceAccount", NAME, **place)
    yield manifest("v1", "ConfigMap", STATE, **place)
    yield from role_for(NAME, rules, subject=service_account(namespace, NAME), **place)
    yield from program(
        NAME,
        writer.image,
        PROGRAM,
        settings={SETTINGS: json.dumps(settings(writer, writer.sink, namespace), indent=1) + "\n"},
        every_minutes=_EVERY_MINUTES,
        run_seconds=_RUN_SECONDS,
        labels={},
        secrets=tuple(_secrets(writer.sink)),
        pod_fields={"priorityClassName": SERVICE, **services(system_pool=system_pool)},
        **place,
    )


def settings(writer: LogsWriter, sink: LogSinkSpec, namespace: str) -> dict[str, Any]:
    """Return the settings of the program."""
    return {
        "store": {
            "url": writer.url,
            "username": writer.username,
            "password": f"{SECRETS}/{SECRET}/{PASSWORD_KEY}",
            "authority": f"{SECRETS}/{SECRET}/{AUTHORITY_KEY}",
        },
        "sink": sink.endpoint,
        "headers": {name: f"{SECRETS}/{sink.secret}/{key}" for name, key in sink.headers.items()},
        "resource": {"k8s.cluster.name": writer.username},
        "sources": {item.value: _source(item, writer.username) for item in writer.forwarded},
        "state": {"namespace": namespace, "name": STATE, "prefix": f"{keys.DOMAIN}/"},
    }


def alerts(writer: LogsWriter | None, namespace: str) -> tuple[dict[str, Any], ...]:
    """Return the alert about records that are not forwarded; empty if none are."""
    if writer is None or not writer.forwarded:
        return ()
    of = f'namespace="{namespace}",cronjob="{NAME}"'
    text = "The sink of the tenant lacks audit events or logs of the control plane; the region's store has them."
    late = f"{since_success(of)} > {_LATE_MINUTES * 60}"
    return (alert("LogSinkFails", "warning", late, text, audience=Audience.TENANT),)


def _source(records: LogRecords, cluster: str) -> dict[str, str]:
    """Return path and filter of a query. The proxy adds the tenant, of which audit events of all clusters are read."""
    found = f'{{cluster="{cluster}"}}' if records is LogRecords.AUDIT else "*"
    return {"path": f"{FORWARDED[records]}{QUERY}", "filter": found}


def _secrets(sink: LogSinkSpec) -> Iterator[dict[str, Any]]:
    """Yield the Secrets as sources of a projected volume; the program also runs without that of the sink."""
    files = (PASSWORD_KEY, AUTHORITY_KEY)
    yield {"name": SECRET, "items": [{"key": key, "path": f"{SECRET}/{key}"} for key in files]}
    if sink.secret is not None:
        items = [{"key": key, "path": f"{sink.secret}/{key}"} for key in sorted(set(sink.headers.values()))]
        yield {"name": sink.secret, "optional": True, "items": items}
