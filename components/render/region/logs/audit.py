"""Audit events of API servers, which the collectors of the management cluster read from files of their hosts.

Control planes of tenants write events into a volume of their pods (`api_server`), in a folder for the tenant and the
cluster. API servers of the management cluster, which Jacquard does not create, write them to `MANAGEMENT_FILES`.
Tenants reach neither the hosts nor the credential of the collectors, so that no tenant can write audit events.
"""

import json
from collections.abc import Mapping
from typing import Any

from components.render.control_planes.api_server import AUDIT_VOLUME
from components.render.control_planes.audit_policy import POLICY, POLICY_KEY
from components.render.manifest import Manifest
from components.render.objects import manifest

MANAGEMENT_FILES = "/var/log/kubernetes/audit/*.log"
"""Audit logs of the API servers of the management cluster, on their hosts."""
TENANT_FILES = f"/var/lib/kubelet/pods/*/volumes/kubernetes.io~empty-dir/{AUDIT_VOLUME}/*/*/*.log"
"""Audit logs of control planes, with the tenant and the cluster as folders, on the hosts of their pods."""
POLICY_NAME = "audit-policy"
"""ConfigMap with the policy for the API servers of the management cluster."""
_MANAGEMENT = "management"
"""Value of the field ``cluster`` for the management cluster."""
_PATH, _EVENT = 'attributes["log.file.path"]', "attributes.event"
_FIELDS: Mapping[str, str] = {
    "verb": "verb",
    "user": "user.username",
    "code": "responseStatus.code",
    "resource": "objectRef.resource",
    "subresource": "objectRef.subresource",
    "namespace": "objectRef.namespace",
    "name": "objectRef.name",
}
"""Fields of a record, each with the field of the event. The message of the record is the whole event in JSON."""
_TIME = {"parse_from": f"{_EVENT}.requestReceivedTimestamp", "layout_type": "gotime", "layout": "2006-01-02T15:04:05Z"}
"""Time of a record. Layouts of Go accept fractions of a second after the seconds."""
_MAX_EVENT = "2MiB"
"""Maximum size of an event; longer lines are split (OTELCC:receiver/filelogreceiver/README.md ``max_log_size``)."""


def policy(namespace: str) -> Manifest:
    """Return the ConfigMap with the policy for the API servers of the management cluster."""
    data = {POLICY_KEY: json.dumps(POLICY, indent=2) + "\n"}
    return manifest("v1", "ConfigMap", POLICY_NAME, namespace=namespace, data=data)


def receivers(host: str, storage: str) -> dict[str, dict[str, Any]]:
    """Return the receivers by name. ``host`` is the path of the host's file system, ``storage`` an extension."""
    place = [
        {"type": "regex_parser", "parse_from": _PATH, "regex": r"/(?P<tenant>[^/]+)/(?P<cluster>[^/]+)/[^/]+\.log$"},
        {"type": "remove", "field": _PATH},
    ]
    tenants = {**_files(host + TENANT_FILES, storage), "include_file_path": True, "operators": [*place, *_parsed()]}
    management = {
        **_files(host + MANAGEMENT_FILES, storage),
        "attributes": {"cluster": _MANAGEMENT},
        "operators": _parsed(),
    }
    return {"file_log/audit": tenants, "file_log/management_audit": management}


def _files(path: str, storage: str) -> dict[str, Any]:
    return {
        "include": [path],
        "include_file_name": False,
        "start_at": "beginning",
        "max_log_size": _MAX_EVENT,
        "storage": storage,
        "retry_on_failure": {"enabled": True, "max_elapsed_time": "0s"},
    }


def _parsed() -> list[dict[str, Any]]:
    """Return the operators that set time and fields of a record; the message stays the event."""
    moved = (
        {"type": "move", "from": f"{_EVENT}.{path}", "to": f"attributes.{name}", "if": f"{_optional(path)} != nil"}
        for name, path in _FIELDS.items()
    )
    read = {"type": "json_parser", "parse_to": _EVENT, "timestamp": _TIME}
    return [read, *moved, {"type": "remove", "field": _EVENT}]


def _optional(path: str) -> str:
    """Return the expression for a field of the event that may be absent."""
    return f"{_EVENT}?.{path.replace('.', '?.')}"
