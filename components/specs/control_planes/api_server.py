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
"""Most names a cluster may add to its certificate, the limit of CoreWeave's ``additional_server_sans``."""
DEFAULT_NODE_PORTS = NumberRange(first=30000, last=32767)
"""Range of node ports that Kubernetes itself uses by default."""
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
_RESERVED = "system:"
"""Beginning of the users and groups that Kubernetes itself knows."""
_FIRST_PORT = 1024
_LAST_PORT = 65535
_NODE_SERVICES = {10250: "the kubelet", 10256: "kube-proxy"}
"""Ports that each node serves itself, with who serves them."""


class SigningAlgorithm(StrEnum):
    """How an identity provider signs tokens, by the names of JSON Web Algorithms (RFC 7518)."""

    RS256 = "RS256"
    """RSASSA-PKCS1-v1_5 with SHA-256 signs the token."""
    RS384 = "RS384"
    """RSASSA-PKCS1-v1_5 with SHA-384 signs the token."""
    RS512 = "RS512"
    """RSASSA-PKCS1-v1_5 with SHA-512 signs the token."""
    ES256 = "ES256"
    """ECDSA on curve P-256 with SHA-256 signs the token."""
    ES384 = "ES384"
    """ECDSA on curve P-384 with SHA-384 signs the token."""
    ES512 = "ES512"
    """ECDSA on curve P-521 with SHA-512 signs the token."""
    PS256 = "PS256"
    """RSASSA-PSS with SHA-256 signs the token."""
    PS384 = "PS384"
    """RSASSA-PSS with SHA-384 signs the token."""
    PS512 = "PS512"
    """RSASSA-PSS with SHA-512 signs the token."""


class OidcSpec(CheckedSpec):
    """The identity provider whose users may log in to a cluster's API."""

    issuer_url: HttpsUrl
    """URL of the tenant's identity provider, the ``oidc-issuer-url`` of the API server."""
    client_id: Text
    """Audience that tokens must be made for, the ``oidc-client-id`` of the API server."""
    username_claim: Claim | None = None
    """Claim of a token that holds the user's name; Kubernetes takes ``sub`` when it is left out."""
    username_prefix: Text | None = None
    """Text put before user names, or ``-`` for nothing. Kubernetes puts the issuer's URL and ``#`` when it is left
    out."""
    groups_claim: Claim | None = None
    """Claim of a token that lists the user's groups; tokens put nobody into a group when it is left out."""
    groups_prefix: Text | None = None
    """Text put before names of groups, so that they never equal those of Kubernetes itself."""
    required_claims: dict[Claim, Claim] = Field(default_factory=dict, max_length=1)
    """A claim, with its value, without which a token is refused. The API server's flag takes one claim each time it is
    given, and backends keep a flag once."""
    signing_algorithms: tuple[SigningAlgorithm, ...] = ()
    """Signatures that are accepted; Kubernetes accepts ``RS256`` alone when the list is empty."""
    ca_secret: DnsLabel | None = None
    """Secret with ``ca.crt``, needed when no public authority vouches for the identity provider."""
    admin_group: Text | None = None
    """Group of the identity provider, without ``groups_prefix``, whose members may do everything in the cluster."""

    def misfits(self) -> Iterator[Misfit]:
        """Yield what says something about groups that no token would name, and names of Kubernetes' own groups."""
        for key in ("groups_prefix", "admin_group"):
            got = getattr(self, key)
            if got is not None and self.groups_claim is None:
                yield Misfit("has no meaning without groups_claim; add the claim that lists groups", (key,), got)

        for key in ("groups_prefix", "username_prefix"):
            prefix = getattr(self, key)
            if prefix is not None and (prefix.startswith(_RESERVED) or _RESERVED.startswith(prefix)):
                rule = f"makes names that begin with {_RESERVED}, which are Kubernetes' own, like {_RESERVED}masters"
                yield Misfit(f'{rule}; write a prefix of the tenant, like "oidc:"', (key,), prefix)
        if self.groups_prefix is None and self.is_kubernetes(self.admin_group or ""):
            yield Misfit("is a group of Kubernetes' own; write one of the tenant", ("admin_group",), self.admin_group)

    @property
    def admins(self) -> str | None:
        """Return the name under which Kubernetes sees the admin group; None when there is none."""
        return None if self.admin_group is None else self.seen(self.admin_group)

    def seen(self, group: str) -> str:
        """Return the name under which Kubernetes sees a group of the identity provider."""
        return f"{self.groups_prefix or ''}{group}"

    def is_kubernetes(self, group: str) -> bool:
        """Tell whether a group of the identity provider would be one of Kubernetes' own."""
        return self.seen(group).startswith(_RESERVED)


class AuthenticationWebhookSpec(Spec):
    """A service that is asked whose a token is when no other way of authentication knew."""

    secret: DnsLabel
    """Secret with ``kubeconfig``, which holds the address of the webhook and how to trust it."""
    cache_seconds: int = Field(default=120, ge=0, le=3600)
    """How many seconds an answer is kept; a token that was revoked still works for as long."""


class AuthorizationWebhookSpec(Spec):
    """A service that is asked what a user may do when node authorization and RBAC had no opinion.

    The order is fixed, so that a webhook that does not answer locks nobody out whom RBAC lets in, nodes least of all.
    """

    secret: DnsLabel
    """Secret with ``kubeconfig``, which holds the address of the webhook and how to trust it."""
    cache_authorized_seconds: int = Field(default=300, ge=0, le=3600)
    """How many seconds a yes is kept; a permission that was withdrawn still holds for as long."""
    cache_unauthorized_seconds: int = Field(default=30, ge=0, le=3600)
    """How many seconds a no is kept; a permission that was granted may take as long to work."""


class AuditSpec(Spec):
    """Which requests are written down, and who gets the events besides the log of the API server's pods."""

    policy: DnsLabel
    """ConfigMap with ``policy.yaml``, a Policy of ``audit.k8s.io/v1``."""
    webhook_secret: DnsLabel | None = None
    """Secret with ``kubeconfig`` of a sink that gets events in batches; events only go to the pods' log without one."""


class ApiServerSpec(CheckedSpec):
    """Options of a cluster's API server. A change restarts its pods one after the other; no node notices."""

    authentication_webhook: AuthenticationWebhookSpec | None = None
    """Service that is asked whose a token is; no service is asked when it is left out."""
    authorization_webhook: AuthorizationWebhookSpec | None = None
    """Service that is asked what a user may do; nodes and RBAC alone decide when it is left out."""
    audit: AuditSpec | None = None
    """Which requests are written down; the API server keeps no audit log when it is left out."""
    feature_gates: dict[FeatureGate, bool] = Field(default_factory=dict)
    """Feature gates of API server, controller manager and scheduler by name. Those of kubelets belong to the golden
    image."""
    node_ports: Numbers = DEFAULT_NODE_PORTS
    """Ports that Services of type NodePort may have. The range may only grow, since a Service keeps a port that is no
    longer in it."""
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
