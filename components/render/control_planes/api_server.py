"""Flags of an API server and the referenced files, independent of the control-plane backend.

With a store of logs, audit events are lines of a file in a volume of the pod, which the collector of the host reads
(`collector`). Otherwise they are lines of the output of the pods. A webhook of the API server would lose events while
its receiver is not available, and a collector in the pods would make the readiness of API servers depend on it.
"""

from collections.abc import Iterator
from typing import Any

from components.render.control_planes.audit_policy import policy_of
from components.render.control_planes.control_plane import ControlPlane
from components.render.control_planes.sizing import in_flight
from components.render.objects import given
from components.specs.control_planes.api_server import DEFAULT_NODE_PORTS, ApiServerSpec, OidcSpec
from components.specs.control_planes.hosted_control_plane import ClusterSpec
from components.specs.struct import Struct

_FOLDER = "/etc/jacquard"
_AUDIT_FOLDER = "/var/log/audit"
AUDIT_VOLUME = "var-log-audit"
"""Name of the volume with the audit log, which is a folder of the host. k0smotron derives it from the mount path
(K0SM:internal/controller/k0smotron.io/k0smotroncluster_statefulset.go pathToVolumeName)."""
_AUDIT_ROTATION = {"audit-log-maxsize": "100", "audit-log-maxbackup": "2"}
"""Size of a file in MiB, and the number of older files. Without the number, all files are kept."""
_RECONNECT_CHANCE = "0.001"
"""Probability that a request makes the client reconnect (upstream's recommendation for multiple servers)."""


class Files(Struct):
    """Volume of the API server: a Secret or ConfigMap in the cluster's namespace, or an empty volume for its files."""

    volume: str
    secret: str | None = None
    config_map: str | None = None
    path: str | None = None
    """Mount path; by default a folder with the name of the volume."""

    @property
    def folder(self) -> str:
        """Return the mount path of the files."""
        return self.path or f"{_FOLDER}/{self.volume}"

    @property
    def read_only(self) -> bool:
        """Return whether the API server only reads the files."""
        return self.secret is not None or self.config_map is not None

    @property
    def source(self) -> dict[str, Any]:
        """Return the source of the volume."""
        if self.secret is not None:
            return {"secret": {"secretName": self.secret}}
        return {"configMap": {"name": self.config_map}} if self.config_map is not None else {"emptyDir": {}}


def files(control_plane: ControlPlane) -> tuple[Files, ...]:
    """Return the files that `flags` refers to, in order."""
    return tuple(_files(control_plane))


def flags(control_plane: ControlPlane) -> dict[str, str]:
    """Return the flags of the API server, without dashes: the tenant's options, audit and limits of requests."""
    cluster = control_plane.spec
    options, limits = cluster.api_server, _load_limits(cluster, control_plane.nodes)
    arguments = {**_oidc(cluster.oidc), **_webhooks(options), **_audit(control_plane), **limits}
    if options.node_ports != DEFAULT_NODE_PORTS:
        arguments["service-node-port-range"] = str(options.node_ports)
    return arguments | feature_gates(cluster)


def feature_gates(cluster: ClusterSpec) -> dict[str, str]:
    """Return the flag for API server, controller manager and scheduler; empty if no gate is set."""
    gates = sorted(cluster.api_server.feature_gates.items())
    return given(**{"feature-gates": ",".join(f"{name}={str(on).lower()}" for name, on in gates) or None})


def _files(control_plane: ControlPlane) -> Iterator[Files]:
    oidc, options, audit = control_plane.spec.oidc, control_plane.spec.api_server, control_plane.audit
    if oidc and oidc.ca_secret:
        yield Files(volume="oidc", secret=oidc.ca_secret)
    if options.authentication_webhook:
        yield Files(volume="authentication-webhook", secret=options.authentication_webhook.secret)
    if options.authorization_webhook:
        yield Files(volume="authorization-webhook", secret=options.authorization_webhook.secret)
    if audit:
        yield Files(volume="audit", config_map=policy_of(audit))
        if audit.webhook_secret:
            yield Files(volume="audit-webhook", secret=audit.webhook_secret)
        if control_plane.audited:
            yield Files(volume=AUDIT_VOLUME, path=_AUDIT_FOLDER)


def _oidc(oidc: OidcSpec | None) -> dict[str, str]:
    if oidc is None:
        return {}
    claims = [f"{claim}={value}" for claim, value in oidc.required_claims.items()]
    return given(
        **{
            "oidc-issuer-url": oidc.issuer_url,
            "oidc-client-id": oidc.client_id,
            "oidc-username-claim": oidc.username_claim,
            "oidc-username-prefix": oidc.username_prefix,
            "oidc-groups-claim": oidc.groups_claim,
            "oidc-groups-prefix": oidc.groups_prefix,
            "oidc-required-claim": ",".join(claims) or None,
            "oidc-signing-algs": ",".join(oidc.signing_algorithms) or None,
            "oidc-ca-file": f"{_FOLDER}/oidc/ca.crt" if oidc.ca_secret else None,
        }
    )


def _webhooks(options: ApiServerSpec) -> dict[str, str]:
    arguments: dict[str, str] = {}
    if options.authentication_webhook:
        arguments |= {
            "authentication-token-webhook-config-file": f"{_FOLDER}/authentication-webhook/kubeconfig",
            "authentication-token-webhook-version": "v1",
            "authentication-token-webhook-cache-ttl": f"{options.authentication_webhook.cache_seconds}s",
        }
    if hook := options.authorization_webhook:
        arguments |= {
            "authorization-mode": "Node,RBAC,Webhook",
            "authorization-webhook-config-file": f"{_FOLDER}/authorization-webhook/kubeconfig",
            "authorization-webhook-version": "v1",
            "authorization-webhook-cache-authorized-ttl": f"{hook.cache_authorized_seconds}s",
            "authorization-webhook-cache-unauthorized-ttl": f"{hook.cache_unauthorized_seconds}s",
        }
    return arguments


def _load_limits(cluster: ClusterSpec, nodes: int) -> dict[str, str]:
    """Return the flags that protect servers when all nodes reconnect simultaneously, such as after a server failure."""
    limit = in_flight(nodes)
    several = cluster.control_plane.replicas > 1
    return given(
        **{
            "max-requests-inflight": str(limit.reads) if limit else None,
            "max-mutating-requests-inflight": str(limit.writes) if limit else None,
            # Connections are persistent: after an outage, all nodes would stay on the first recovered replica.
            "goaway-chance": _RECONNECT_CHANCE if several else None,
        }
    )


def _audit(control_plane: ControlPlane) -> dict[str, str]:
    audit = control_plane.audit
    if audit is None:
        return {}
    log = {"audit-log-path": "-"}
    if control_plane.audited:
        # The collector reads tenant and cluster from the path.
        path = f"{_AUDIT_FOLDER}/{control_plane.tenant}/{control_plane.spec.name}/audit.log"
        log = {"audit-log-path": path, **_AUDIT_ROTATION}
    sink = {"audit-webhook-config-file": f"{_FOLDER}/audit-webhook/kubeconfig"} if audit.webhook_secret else {}
    return {"audit-policy-file": f"{_FOLDER}/audit/policy.yaml", **log, **sink}
