"""What a tenant may set on the API server of a cluster. What is not here is the platform's, and the same everywhere.

Files come by reference: a Secret or ConfigMap of the management cluster, in the namespace that has the cluster's name.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import CheckedSpec, DnsLabel, Domain, HttpsUrl, Misfit, Spec, Text
from components.specs.ranges import NumberRange, Numbers

MAX_ADDITIONAL_SANS = 10
"""As CoreWeave's ``additional_server_sans``."""
DEFAULT_NODE_PORTS = NumberRange(first=30000, last=32767)
"""Kubernetes' own range."""
FEATURE_GATE = r"^[A-Z][A-Za-z0-9]{2,62}$"
CLAIM = r"^[^\s=,]{1,253}$"
FeatureGate = Annotated[str, StringConstraints(pattern=FEATURE_GATE)]
Claim = Annotated[str, StringConstraints(pattern=CLAIM)]
"""Name of a claim of a token."""
REFUSED_GATES: Mapping[str, str] = {
    "AllAlpha": "turns on what no release has tested together; name the gates one by one",
    "AllBeta": "would turn on other gates with each minor version; name the gates one by one",
}
"""Feature gates that nobody may set, each with what to write instead."""
_FIRST_PORT = 1024
_LAST_PORT = 65535
_NODE_SERVICES = {10250: "the kubelet", 10256: "kube-proxy"}
"""Ports that nodes serve themselves, by whom."""


class SigningAlgorithm(StrEnum):
    """How an identity provider signs tokens."""

    RS256 = "RS256"
    RS384 = "RS384"
    RS512 = "RS512"
    ES256 = "ES256"
    ES384 = "ES384"
    ES512 = "ES512"
    PS256 = "PS256"
    PS384 = "PS384"
    PS512 = "PS512"


class OidcSpec(CheckedSpec):
    """Who may log in to a cluster's API."""

    issuer_url: HttpsUrl
    """Identity provider of the tenant."""
    client_id: Text
    """Audience that tokens must be made for."""
    username_claim: Claim | None = None
    """None given: ``sub``."""
    username_prefix: Text | None = None
    """Put before user names, ``-`` for nothing; none given: the issuer's URL and ``#``."""
    groups_claim: Claim | None = None
    """None given: tokens put nobody into a group."""
    groups_prefix: Text | None = None
    """Put before names of groups, so that they never are those of Kubernetes itself."""
    required_claims: dict[Claim, Claim] = Field(default_factory=dict, max_length=1)
    """A claim, with its value, without which a token is refused; the flag takes one, and backends keep a flag once."""
    signing_algorithms: tuple[SigningAlgorithm, ...] = ()
    """None given: RS256."""
    ca_secret: DnsLabel | None = None
    """Secret with ``ca.crt``, when a public authority does not vouch for the identity provider."""
    admin_group: Text | None = None
    """Group of the identity provider whose members may do everything in the cluster."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield what says something about groups that no token would name."""
        for key in ("groups_prefix", "admin_group"):
            got = getattr(self, key)
            if got is not None and self.groups_claim is None:
                yield Misfit("has no meaning without groups_claim; add the claim that lists groups", (key,), got)

    @property
    def admins(self) -> str | None:
        """Return the name under which Kubernetes sees the admin group; None when there is none."""
        return None if self.admin_group is None else f"{self.groups_prefix or ''}{self.admin_group}"


class AuthenticationWebhookSpec(Spec):
    """Who else is asked whose a token is, after all else failed."""

    secret: DnsLabel
    """Secret with ``kubeconfig``: address of the webhook, and how to trust it."""
    cache_seconds: int = Field(default=120, ge=0, le=3600)
    """How long an answer is kept; a token that was revoked works as long."""


class AuthorizationWebhookSpec(Spec):
    """Who else is asked what a user may do, after node authorization and RBAC had no opinion.

    The order is fixed: a webhook that does not answer locks nobody out whom RBAC lets in, nodes least of all.
    """

    secret: DnsLabel
    """Secret with ``kubeconfig``: address of the webhook, and how to trust it."""
    cache_authorized_seconds: int = Field(default=300, ge=0, le=3600)
    cache_unauthorized_seconds: int = Field(default=30, ge=0, le=3600)


class AuditSpec(Spec):
    """Which requests are written down, and who gets them besides the log of the API server's pods."""

    policy: DnsLabel
    """ConfigMap with ``policy.yaml``, an ``audit.k8s.io/v1`` Policy."""
    webhook_secret: DnsLabel | None = None
    """Secret with ``kubeconfig`` of a sink that gets events in batches."""


class ApiServerSpec(CheckedSpec):
    """Options of a cluster's API server. A change restarts its pods one after the other; no node notices."""

    authentication_webhook: AuthenticationWebhookSpec | None = None
    authorization_webhook: AuthorizationWebhookSpec | None = None
    audit: AuditSpec | None = None
    feature_gates: dict[FeatureGate, bool] = Field(default_factory=dict)
    """Of API server, controller manager and scheduler; those of kubelets belong to the golden image."""
    node_ports: Numbers = DEFAULT_NODE_PORTS
    """Ports of Services of type NodePort; may only grow, since a Service keeps a port that is not in the range."""
    additional_sans: tuple[Domain, ...] = Field(default=(), max_length=MAX_ADDITIONAL_SANS)
    """Further names and addresses, without a port, that the API server's certificate is good for."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield feature gates that nobody may set, and ports that Services cannot have."""
        for name in self.feature_gates.keys() & REFUSED_GATES.keys():
            yield Misfit(REFUSED_GATES[name], ("feature_gates", name), self.feature_gates[name])
        first, last = self.node_ports.first, self.node_ports.last
        if first < _FIRST_PORT or last > _LAST_PORT:
            yield Misfit(
                f"must lie within {_FIRST_PORT}-{_LAST_PORT}; write {DEFAULT_NODE_PORTS} or a range around it",
                ("node_ports",),
                str(self.node_ports),
            )
        for port, owner in _NODE_SERVICES.items():
            if port in self.node_ports:
                yield Misfit(
                    f"holds {port}, which {owner} serves on each node; write a range without it, such as"
                    f" {DEFAULT_NODE_PORTS}",
                    ("node_ports",),
                    str(self.node_ports),
                )
