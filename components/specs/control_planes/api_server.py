"""API server settings of a cluster that tenants may change. All other settings are defined by the platform.

Files are references: a Secret or ConfigMap of the management cluster, in the namespace with the cluster's name.
"""

from collections.abc import Iterator, Mapping
from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import CheckedSpec, ConstraintViolation, DnsLabel, Domain, HttpsUrl, Spec, Text
from components.specs.ranges import NumberRange, Numbers

MAX_ADDITIONAL_SANS = 10
"""Maximum number of additional names in a cluster's certificate, the limit of CoreWeave's
``additional_server_sans``."""
DEFAULT_NODE_PORTS = NumberRange(first=30000, last=32767)
"""Default range of node ports in Kubernetes."""
FEATURE_GATE = r"^[A-Z][A-Za-z0-9]{2,62}$"
CLAIM = r"^[^\s=,]{1,253}$"
FeatureGate = Annotated[str, StringConstraints(pattern=FEATURE_GATE)]
Claim = Annotated[str, StringConstraints(pattern=CLAIM)]
"""Name of a token claim."""
REFUSED_GATES: Mapping[str, str] = {
    "AllAlpha": "enables features that were never tested together; list the gates individually",
    "AllBeta": "would enable other gates with each minor version; list the gates individually",
}
"""Feature gates that must not be set, each with the alternative."""
_RESERVED = "system:"
"""Prefix of the users and groups that Kubernetes defines."""
_FIRST_PORT = 1024
_LAST_PORT = 65535
_NODE_SERVICES = {10250: "the kubelet", 10256: "kube-proxy"}
"""Ports that components of a node listen on: port to component."""


class SigningAlgorithm(StrEnum):
    """Signature algorithm of tokens, by the names of JSON Web Algorithms (RFC 7518)."""

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


_DISCOVERY = "/.well-known/"
"""Path that the API server appends to the URL of an issuer (OpenID Connect Discovery 1.0, section 4)."""


class OidcSpec(CheckedSpec):
    """Identity provider whose users may log in to a cluster's API."""

    issuer_url: HttpsUrl
    """URL of the tenant's identity provider, the ``oidc-issuer-url`` of the API server."""
    client_id: Text
    """Audience that tokens must have, the ``oidc-client-id`` of the API server."""
    username_claim: Claim | None = None
    """Token claim with the user's name; ``sub`` by default, as in Kubernetes."""
    username_prefix: Text | None = None
    """Prefix of user names, or ``-`` for no prefix. By default Kubernetes uses the issuer's URL and ``#``."""
    groups_claim: Claim | None = None
    """Token claim with the user's groups; by default tokens assign no groups."""
    groups_prefix: Text | None = None
    """Prefix of group names. It prevents conflicts with the groups that Kubernetes defines."""
    required_claims: dict[Claim, Claim] = Field(default_factory=dict, max_length=1)
    """Mandatory claim of tokens and its value; other tokens are rejected. At most one entry is allowed: the flag of the
    API server accepts one claim, and backends pass each flag only once."""
    signing_algorithms: tuple[SigningAlgorithm, ...] = ()
    """Accepted signature algorithms; ``RS256`` only when the list is empty, as in Kubernetes."""
    ca_secret: DnsLabel | None = None
    """Secret with ``ca.crt``, required when the identity provider's certificate is not signed by a public authority."""
    admin_group: Text | None = None
    """Group of the identity provider, without ``groups_prefix``, whose members are administrators of the cluster."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield settings without a groups claim, names of groups of Kubernetes, and the URL of another document."""
        issuer, document, _ = self.issuer_url.partition(_DISCOVERY)
        if document:
            text = f"is the document in which the API server finds the keys of the issuer; write {issuer}"
            yield ConstraintViolation(text, ("issuer_url",), self.issuer_url)
        unused = [key for key in ("admin_group", "groups_prefix") if getattr(self, key) is not None]
        if unused and self.groups_claim is None:
            also = "".join(f", nor has {key}" for key in unused[1:])
            text = f"has no effect without groups_claim{also}; add the claim that lists groups"
            yield ConstraintViolation(text, (unused[0],), getattr(self, unused[0]))
        for key in ("groups_prefix", "username_prefix"):
            prefix = getattr(self, key)
            if prefix is not None and (prefix.startswith(_RESERVED) or _RESERVED.startswith(prefix)):
                rule = (
                    f"creates names that start with {_RESERVED}, which are reserved for Kubernetes,"
                    f" like {_RESERVED}masters"
                )
                yield ConstraintViolation(f'{rule}; write a prefix of the tenant, like "oidc:"', (key,), prefix)
        if self.groups_prefix is None and self.is_kubernetes(self.admin_group or ""):
            yield ConstraintViolation(
                "is a group of Kubernetes itself; write a group of the tenant", ("admin_group",), self.admin_group
            )

    @property
    def admins(self) -> str | None:
        """Return the name of the admin group in Kubernetes; None if there is none."""
        return None if self.admin_group is None else self.kubernetes_group(self.admin_group)

    def kubernetes_group(self, group: str) -> str:
        """Return the Kubernetes name of a group of the identity provider."""
        return f"{self.groups_prefix or ''}{group}"

    def is_kubernetes(self, group: str) -> bool:
        """Return whether a group of the identity provider would get the name of a group that Kubernetes defines."""
        return self.kubernetes_group(group).startswith(_RESERVED)


class AuthenticationWebhookSpec(Spec):
    """Webhook that authenticates tokens when no other authentication method accepts them."""

    secret: DnsLabel
    """Secret with ``kubeconfig``, which contains the address and the certificate authority of the webhook."""
    cache_seconds: int = Field(default=120, ge=0, le=3600)
    """Cache time of an answer in seconds. A revoked token is accepted for up to this time."""


class AuthorizationWebhookSpec(Spec):
    """Webhook that authorizes requests when node authorization and RBAC have no opinion.

    The order is fixed, so that a webhook that is down does not affect users and nodes that RBAC authorizes.
    """

    secret: DnsLabel
    """Secret with ``kubeconfig``, which contains the address and the certificate authority of the webhook."""
    cache_authorized_seconds: int = Field(default=300, ge=0, le=3600)
    """Cache time of positive answers in seconds. A revoked permission remains valid for up to this time."""
    cache_unauthorized_seconds: int = Field(default=30, ge=0, le=3600)
    """Cache time of negative answers in seconds. A new permission may take up to this time to be valid."""


class AuditSpec(Spec):
    """Audit log: the recorded requests, and a sink for events in addition to the region's store of logs."""

    policy: DnsLabel | None = None
    """ConfigMap with ``policy.yaml``, a Policy of ``audit.k8s.io/v1``. By default a policy that records all changes,
    reads of Secrets, ConfigMaps and tokens, and access to pods, without bodies of requests except for RBAC objects."""
    webhook_secret: DnsLabel | None = None
    """Secret with the ``kubeconfig`` of a sink that receives events in batches. By default events are written only to
    the region's store of logs or, without such a store, to the log of the pods."""


class ApiServerSpec(CheckedSpec):
    """Options of a cluster's API server. A change restarts its pods one by one and does not affect nodes."""

    authentication_webhook: AuthenticationWebhookSpec | None = None
    """Webhook that authenticates tokens; none by default."""
    authorization_webhook: AuthorizationWebhookSpec | None = None
    """Webhook that authorizes requests; by default only node authorization and RBAC are used."""
    audit: AuditSpec | None = None
    """Audit log of requests. By default requests are recorded by the library's policy if the region has a store of
    logs, and otherwise not at all."""
    feature_gates: dict[FeatureGate, bool] = Field(default_factory=dict)
    """Feature gates of API server, controller manager and scheduler by name. Feature gates of kubelets belong to the
    golden image."""
    node_ports: Numbers = DEFAULT_NODE_PORTS
    """Port range for Services of type NodePort. The range can only grow, because a Service keeps its port even outside
    the range."""
    additional_sans: tuple[Domain, ...] = Field(default=(), max_length=MAX_ADDITIONAL_SANS)
    """Additional names and addresses in the API server's certificate, without ports."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield forbidden feature gates, and node port ranges with ports that Services cannot use."""
        for name in self.feature_gates.keys() & REFUSED_GATES.keys():
            yield ConstraintViolation(REFUSED_GATES[name], ("feature_gates", name), self.feature_gates[name])
        first, last = self.node_ports.first, self.node_ports.last
        if first < _FIRST_PORT or last > _LAST_PORT:
            yield ConstraintViolation(
                f"must be within {_FIRST_PORT}-{_LAST_PORT}; write {DEFAULT_NODE_PORTS} or a range around it",
                ("node_ports",),
                str(self.node_ports),
            )
        for port, owner in _NODE_SERVICES.items():
            if port in self.node_ports:
                yield ConstraintViolation(
                    f"contains {port}, which {owner} uses on each node; write a range without it, such as"
                    f" {DEFAULT_NODE_PORTS}",
                    ("node_ports",),
                    str(self.node_ports),
                )
