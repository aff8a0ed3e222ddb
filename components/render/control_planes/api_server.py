"""Flags of an API server and the referenced files, independent of the control-plane backend."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from components.render.control_planes.audit_policy import policy_of
from components.render.control_planes.sizing import in_flight
from components.render.objects import given
from components.specs.control_planes.api_server import DEFAULT_NODE_PORTS, ApiServerSpec, OidcSpec
from components.specs.control_planes.hosted_control_plane import ClusterSpec

_FOLDER = "/etc/jacquard"
_RECONNECT_CHANCE = "0.001"
"""Probability that a request makes the client reconnect (upstream's recommendation for multiple servers)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """Secret or ConfigMap in the cluster's namespace whose keys are files of the API server."""

    volume: str
    secret: str | None = None
    config_map: str | None = None

    @property
    def folder(self) -> str:
        """Return the mount path of the files."""
        return f"{_FOLDER}/{self.volume}"

    @property
    def source(self) -> dict[str, Any]:
        """Return the source of the volume."""
        if self.secret is not None:
            return {"secret": {"secretName": self.secret}}
        return {"configMap": {"name": self.config_map}}


def files(cluster: ClusterSpec) -> tuple[Files, ...]:
    """Return the files that `flags` refers to, in order."""
    return tuple(_files(cluster.oidc, cluster.api_server))


def flags(cluster: ClusterSpec, nodes: int) -> dict[str, str]:
    """Return the flags of the API server, without dashes: the tenant's options and limits for ``nodes`` nodes."""
    options = cluster.api_server
    arguments = {**_oidc(cluster.oidc), **_webhooks(options), **_audit(options), **_load_limits(cluster, nodes)}
    if options.node_ports != DEFAULT_NODE_PORTS:
        arguments["service-node-port-range"] = str(options.node_ports)
    return arguments | feature_gates(cluster)


def feature_gates(cluster: ClusterSpec) -> dict[str, str]:
    """Return the flag for API server, controller manager and scheduler; empty if no gate is set."""
    gates = sorted(cluster.api_server.feature_gates.items())
    return given(**{"feature-gates": ",".join(f"{name}={str(on).lower()}" for name, on in gates) or None})


def _files(oidc: OidcSpec | None, options: ApiServerSpec) -> Iterator[Files]:
    if oidc and oidc.ca_secret:
        yield Files(volume="oidc", secret=oidc.ca_secret)
    if options.authentication_webhook:
        yield Files(volume="authentication-webhook", secret=options.authentication_webhook.secret)
    if options.authorization_webhook:
        yield Files(volume="authorization-webhook", secret=options.authorization_webhook.secret)
    if options.audit:
        yield Files(volume="audit", config_map=policy_of(options.audit))
        if options.audit.webhook_secret:
            yield Files(volume="audit-webhook", secret=options.audit.webhook_secret)


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


def _audit(options: ApiServerSpec) -> dict[str, str]:
    if options.audit is None:
        return {}
    sink = {"audit-webhook-config-file": f"{_FOLDER}/audit-webhook/kubeconfig"} if options.audit.webhook_secret else {}
    return {"audit-policy-file": f"{_FOLDER}/audit/policy.yaml", "audit-log-path": "-", **sink}
