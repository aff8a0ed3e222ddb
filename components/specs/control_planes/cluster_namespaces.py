"""Namespaces for teams of a tenant in its cluster: access, Pod Security and network isolation."""

from collections.abc import Iterator
from enum import StrEnum

from pydantic import Field

from components.specs.base import (
    CheckedSpec,
    ConstraintViolation,
    DnsLabel,
    KubernetesMinor,
    Label,
    Quantity,
    Spec,
    Text,
)

LATEST = "latest"
"""Version of the Pod Security Standards that stands for the version of the API server."""
_LEVEL = "pod-security.kubernetes.io"


class PodSecurity(StrEnum):
    """Pod Security Standard of Kubernetes."""

    PRIVILEGED = "privileged"
    """Pods are unrestricted and may be root on their node."""
    BASELINE = "baseline"
    """Pods have no access to the network, processes, files and devices of their node, and no additional
    capabilities."""
    RESTRICTED = "restricted"
    """Pods have no access to their node, run as a non-root user and have no capabilities."""

    @property
    def labels(self) -> dict[str, str]:
        """Return the label by which an API server enforces the standard in a namespace."""
        return {f"{_LEVEL}/enforce": self.value}

    def enforcing_labels(self, version: str) -> dict[str, str]:
        """Return labels that enforce the standard in ``version`` and report violations of the strictest standard."""
        tell = {
            key: value
            for way in ("audit", "warn")
            for key, value in ((f"{_LEVEL}/{way}", self.RESTRICTED.value), (f"{_LEVEL}/{way}-version", LATEST))
        }
        return {**self.labels, f"{_LEVEL}/enforce-version": version, **tell}


class NamespaceIsolation(StrEnum):
    """Network policies of a namespace."""

    DEFAULT_DENY = "default-deny"
    """Traffic between pods of the namespace and pods outside it is denied, except for listed namespaces."""
    NONE = "none"
    """Pods of the namespace have no network policies: all traffic that the VPC allows is allowed."""


class NamespaceIngress(StrEnum):
    """Access to pods of a namespace from outside the cluster."""

    PUBLIC = "public"
    """Traffic that the VPC allows reaches pods of the namespace, through load balancers that preserve source
    addresses."""
    NONE = "none"
    """Pods of the namespace are not reachable from outside the cluster."""


class NamespaceEgress(StrEnum):
    """Access of pods of a namespace to destinations outside the cluster."""

    PUBLIC = "public"
    """Pods of the namespace reach all destinations outside the cluster that the VPC reaches, except nodes."""
    NONE = "none"
    """Pods of the namespace reach nothing outside the cluster except the cluster's API."""


class NamespaceQuotaSpec(Spec):
    """Resource limits of a namespace. A resource without a limit is not limited."""

    pods: int | None = Field(default=None, ge=0, le=1_000_000)
    """Maximum number of pods that have not finished."""
    cpus: int | None = Field(default=None, ge=0, le=10_000_000)
    """Maximum of the CPU requests of all pods. Pods without CPU requests are then rejected."""
    memory: Quantity | None = None
    """Maximum of the memory requests of all pods, such as ``4Ti``. Pods without memory requests are then rejected."""
    gpus: int | None = Field(default=None, ge=0, le=100_000)
    """Maximum number of GPUs, ``nvidia.com/gpu``, of all pods."""
    load_balancers: int | None = Field(default=None, ge=0, le=4096)
    """Maximum number of Services of type LoadBalancer."""
    storage: dict[DnsLabel, Quantity] = Field(default_factory=dict)
    """Maximum size of all claims by storage class, such as ``{shared-vast: 50Ti}``."""


class ContainerRequestsSpec(Spec):
    """Default resource requests of containers."""

    millicpus: int = Field(ge=1, le=1_000_000)
    """Thousandths of a CPU."""
    memory: Quantity
    """Memory, such as ``512Mi``."""


class NamespaceSpec(CheckedSpec):
    """Namespace of one team of the tenant."""

    name: Label
    """Name of the namespace, unique in its cluster."""
    edit_group: Text | None = None
    """Group of the identity provider, without ``groups_prefix``, whose members may write most objects of the namespace
    (Kubernetes' role ``edit``)."""
    view_group: Text | None = None
    """Group of the identity provider, without ``groups_prefix``, whose members may read most objects of the namespace
    except Secrets (Kubernetes' role ``view``)."""
    pod_security: PodSecurity = PodSecurity.RESTRICTED
    """Pod Security Standard that is enforced in the namespace."""
    pod_security_version: KubernetesMinor | None = None
    """Version of the standard, such as ``v1.35``. The default is the version of the cluster, so that upgrades may make
    the standard stricter."""
    isolation: NamespaceIsolation = NamespaceIsolation.DEFAULT_DENY
    """Network policies of the namespace."""
    admits: tuple[Label, ...] = Field(default=(), max_length=64)
    """Other namespaces whose pods may reach pods of this one: namespaces of the cluster's list, and those of the
    platform."""
    ingress: NamespaceIngress = NamespaceIngress.NONE
    """Access to pods of the namespace from outside the cluster."""
    egress: NamespaceEgress = NamespaceEgress.NONE
    """Access of pods of the namespace to destinations outside the cluster."""
    quota: NamespaceQuotaSpec | None = None
    """Resource limits of the namespace; by default only the capacity of the nodes limits it."""
    container_requests: ContainerRequestsSpec | None = None
    """Default resource requests of containers; none by default."""

    @property
    def groups(self) -> dict[str, str]:
        """Return the groups with a role in the namespace, by the key of the role."""
        named = {"edit_group": self.edit_group, "view_group": self.view_group}
        return {key: group for key, group in named.items() if group is not None}

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield network settings of a namespace without network policies, and a namespace that lists itself."""
        if self.isolation is NamespaceIsolation.NONE:
            settings = (("admits", self.admits), ("ingress", self.ingress), ("egress", self.egress))
            for key, value in settings:
                if key in self.model_fields_set and value:
                    text = "has no effect with isolation: none, which creates no policies; remove it"
                    yield ConstraintViolation(text, (key,), None if key == "admits" else str(value))
        for index, name in enumerate(self.admits):
            if name == self.name:
                text = "is the namespace itself, whose pods can always reach each other; remove it"
                yield ConstraintViolation(text, ("admits", index), name)
