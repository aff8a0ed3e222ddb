"""API server options of clusters, with the flags and volumes that every backend renders for them."""

from __future__ import annotations

from typing import Any

from components.render.control_planes.audit_policy import DEFAULT

API_OPTIONS: list[tuple[str, dict[str, Any], dict[str, str], dict[str, dict[str, Any]]]] = [
    ("nothing", {"oidc": None}, {}, {}),
    (
        "a login",
        {"oidc": {"issuer_url": "https://login.acme.example", "client_id": "acme"}},
        {"oidc-issuer-url": "https://login.acme.example", "oidc-client-id": "acme"},
        {},
    ),
    (
        "all of a login",
        {
            "oidc": {
                "issuer_url": "https://login.acme.example",
                "client_id": "acme",
                "username_claim": "email",
                "username_prefix": "-",
                "groups_claim": "groups",
                "groups_prefix": "acme:",
                "required_claims": {"org": "acme"},
                "signing_algorithms": ["RS256", "ES256"],
                "ca_secret": "login-ca",
                "admin_group": "platform",
            }
        },
        {
            "oidc-issuer-url": "https://login.acme.example",
            "oidc-client-id": "acme",
            "oidc-username-claim": "email",
            "oidc-username-prefix": "-",
            "oidc-groups-claim": "groups",
            "oidc-groups-prefix": "acme:",
            "oidc-required-claim": "org=acme",
            "oidc-signing-algs": "RS256,ES256",
            "oidc-ca-file": "/etc/jacquard/oidc/ca.crt",
        },
        {"oidc": {"secret": {"secretName": "login-ca"}}},
    ),
    (
        "an authentication webhook",
        {"oidc": None, "api_server": {"authentication_webhook": {"secret": "authn", "cache_seconds": 30}}},
        {
            "authentication-token-webhook-config-file": "/etc/jacquard/authentication-webhook/kubeconfig",
            "authentication-token-webhook-version": "v1",
            "authentication-token-webhook-cache-ttl": "30s",
        },
        {"authentication-webhook": {"secret": {"secretName": "authn"}}},
    ),
    (
        "an authorization webhook, asked last",
        {"oidc": None, "api_server": {"authorization_webhook": {"secret": "authz"}}},
        {
            "authorization-mode": "Node,RBAC,Webhook",
            "authorization-webhook-config-file": "/etc/jacquard/authorization-webhook/kubeconfig",
            "authorization-webhook-version": "v1",
            "authorization-webhook-cache-authorized-ttl": "300s",
            "authorization-webhook-cache-unauthorized-ttl": "30s",
        },
        {"authorization-webhook": {"secret": {"secretName": "authz"}}},
    ),
    (
        "an audit policy",
        {"oidc": None, "api_server": {"audit": {"policy": "audit-policy"}}},
        {"audit-policy-file": "/etc/jacquard/audit/policy.yaml", "audit-log-path": "-"},
        {"audit": {"configMap": {"name": "audit-policy"}}},
    ),
    (
        "an audit log by the policy of the library",
        {"oidc": None, "api_server": {"audit": {}}},
        {"audit-policy-file": "/etc/jacquard/audit/policy.yaml", "audit-log-path": "-"},
        {"audit": {"configMap": {"name": DEFAULT}}},
    ),
    (
        "an audit policy with a sink",
        {"oidc": None, "api_server": {"audit": {"policy": "audit-policy", "webhook_secret": "sink"}}},
        {
            "audit-policy-file": "/etc/jacquard/audit/policy.yaml",
            "audit-log-path": "-",
            "audit-webhook-config-file": "/etc/jacquard/audit-webhook/kubeconfig",
        },
        {"audit": {"configMap": {"name": "audit-policy"}}, "audit-webhook": {"secret": {"secretName": "sink"}}},
    ),
    (
        "wider node ports",
        {"oidc": None, "api_server": {"node_ports": "20000-32767"}},
        {"service-node-port-range": "20000-32767"},
        {},
    ),
    (
        "feature gates",
        {"oidc": None, "api_server": {"feature_gates": {"MutatingAdmissionPolicy": True, "AnonymousAuth": False}}},
        {"feature-gates": "AnonymousAuth=false,MutatingAdmissionPolicy=true"},
        {},
    ),
]
"""An option, the resulting flags of the API server, and the files that belong to them, by volume."""
