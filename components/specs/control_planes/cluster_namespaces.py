"""Namespaces of a tenant's teams inside its cluster: who works in one, what its pods may be, and whom they reach."""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import CheckedSpec, DnsLabel, KubernetesMinor, Label, Misfit, Quantity, Spec, Text

LATEST = "latest"
"""Version of Pod Security Standards that each API server takes for its own."""
_LEVEL = "pod-security.kubernetes.io"


class PodSecurity(StrEnum):
    """A Pod Security Standard of Kubernetes."""

    PRIVILEGED = "privileged"
    """Pods may be anything, root on their node too."""
    BASELINE = "baseline"
    """Pods get nothing of their node: no network, processes, files or devices of it, and no further capabilities."""
    RESTRICTED = "restricted"
    """Pods get nothing of their node, and run as nobody in particular, without capabilities."""

    @property
    def labels(self) -> dict[str, str]:
        """Return the label by which an API server keeps the pods of a namespace to it."""
        return {f"{_LEVEL}/enforce": self.value}

    def told(self, version: str) -> dict[str, str]:
        """Return the labels that keep pods to it as of ``version``, and tell what the strictest level would refuse."""
        tell = {
            key: value
            for way in ("audit", "warn")
            for key, value in ((f"{_LEVEL}/{way}", self.RESTRICTED.value), (f"{_LEVEL}/{way}-version", LATEST))
        }
        return {**self.labels, f"{_LEVEL}/enforce-version": version, **tell}


class NamespaceIsolation(StrEnum):
    """What network policies make of a namespace."""

    DEFAULT_DENY = "default-deny"
    """Pods of the namespace reach nobody outside it and are reached by nobody there, but for what is named."""
    NONE = "none"
    """Pods of the namespace are open to all, and reach what the VPC lets them reach, since there is no policy."""


class NamespaceIngress(StrEnum):
    """Whether pods of a namespace are reached from outside the cluster."""

    PUBLIC = "public"
    """Pods of the namespace are reached by whoever the VPC lets in, at load balancers that keep callers' addresses."""
    NONE = "none"
    """Pods of the namespace are reached by nobody outside the cluster."""


class NamespaceEgress(StrEnum):
    """Whether pods of a namespace reach what is outside the cluster."""

    PUBLIC = "public"
    """Pods of the namespace reach what the VPC reaches outside the cluster, and no node."""
    NONE = "none"
    """Pods of the namespace reach nothing outside the cluster but the cluster's API."""


class NamespaceQuotaSpec(Spec):
    """Upper limits of what a namespace may take. What is not listed has no limit."""

    pods: int | None = Field(default=None, ge=0, le=1_000_000)
    """Most pods that have not ended."""
    cpus: int | None = Field(default=None, ge=0, le=10_000_000)
    """Most CPUs that all pods ask for together. Pods that ask for none are refused then."""
    memory: Quantity | None = None
    """Most memory that all pods ask for together, such as ``4Ti``. Pods that ask for none are refused then."""
    gpus: int | None = Field(default=None, ge=0, le=100_000)
    """Most GPUs, ``nvidia.com/gpu``, of all pods."""
    load_balancers: int | None = Field(default=None, ge=0, le=4096)
    """Most Services of type LoadBalancer."""
    storage: dict[DnsLabel, Quantity] = Field(default_factory=dict)
    """Most bytes that all claims of each storage class ask for, such as ``{shared-vast: 50Ti}``."""


class ContainerRequestsSpec(Spec):
    """What a container asks for that asks for nothing."""

    millicpus: int = Field(ge=1, le=1_000_000)
    """Thousandths of a CPU."""
    memory: Quantity
    """Memory, such as ``512Mi``."""


class NamespaceSpec(CheckedSpec):
    """A namespace of one team of the tenant."""

    name: Label
    """Name of the namespace, unique in its cluster."""
    edit_group: Text | None = None
    """Group of the identity provider, without ``groups_prefix``, whose members may write most objects of the namespace,
    by Kubernetes' role ``edit``."""
    view_group: Text | None = None
    """Group of the identity provider, without ``groups_prefix``, whose members may read most objects of the namespace
    and no Secrets, by Kubernetes' role ``view``."""
    pod_security: PodSecurity = PodSecurity.RESTRICTED
    """Pod Security Standard that pods of the namespace are held to."""
    pod_security_version: KubernetesMinor | None = None
    """Version of the standard, such as ``v1.35``; that of the cluster, which grows stricter with it, when it is left
    out."""
    isolation: NamespaceIsolation = NamespaceIsolation.DEFAULT_DENY
    """What network policies make of the namespace."""
    admits: tuple[Label, ...] = Field(default=(), max_length=64)
    """Other namespaces whose pods reach pods of this one: those of the cluster's list, and the platform's own."""
    ingress: NamespaceIngress = NamespaceIngress.NONE
    """Whether pods of the namespace are reached from outside the cluster."""
    egress: NamespaceEgress = NamespaceEgress.NONE
    """Whether pods of the namespace reach what is outside the cluster."""
    quota: NamespaceQuotaSpec | None = None
    """Upper limits of what the namespace may take; nothing but the nodes bounds it when it is left out."""
    container_requests: ContainerRequestsSpec | None = None
    """What containers ask for that ask for nothing; they ask for nothing when it is left out."""

    @property
    def groups(self) -> dict[str, str]:
        """Return the groups that have a role here, by the key of the role."""
        named = {"edit_group": self.edit_group, "view_group": self.view_group}
        return {key: group for key, group in named.items() if group is not None}

    def misfits(self) -> Iterator[Misfit]:
        """Yield what a namespace without policies says of them, and a word to itself."""
        if self.isolation is NamespaceIsolation.NONE:
            told = (("admits", self.admits), ("ingress", self.ingress), ("egress", self.egress))
            for key, value in told:
                if key in self.model_fields_set and value:
                    text = "has no meaning without policies, which isolation: none leaves out; remove it"
                    yield Misfit(text, (key,), None if key == "admits" else str(value))
        for index, name in enumerate(self.admits):
            if name == self.name:
                text = "is the namespace itself, whose pods reach each other anyway; remove it"
                yield Misfit(text, ("admits", index), name)
