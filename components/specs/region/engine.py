"""Engine of a region: the program that applies its slices, if it is not `jacquard up` itself."""

from collections.abc import Iterator
from enum import StrEnum
from typing import Annotated

from pydantic import StringConstraints

from components.specs.add_ons.flux import GIT_URL
from components.specs.base import (
    NO_SECRET,
    RELATIVE_PATH,
    SERVER,
    CheckedSpec,
    ConstraintViolation,
    DnsLabel,
    Quantity,
)

VARIABLE = r"^[A-Z][A-Z0-9_]*$"
Variable = Annotated[str, StringConstraints(pattern=VARIABLE, max_length=64)]
_SSH = "ssh://"


class EngineKind(StrEnum):
    """Program that applies the slices of a region."""

    OPERATOR = "operator"
    """The Pulumi Kubernetes Operator in the management cluster applies slices, several at the same time."""


class EngineSpec(CheckedSpec):
    """Operator that applies the slices of a region, except its foundation, from commits of a Git repository."""

    kind: EngineKind
    """Program that applies the slices."""
    repository: Annotated[str, StringConstraints(pattern=GIT_URL, max_length=512), NO_SECRET, SERVER]
    """URL of the repository with this environment, such as ``https://git.cloud.example/regions``. Pods of the
    management cluster clone it. A rehearsal uses the clone on its machine instead."""
    repository_secret: DnsLabel | None = None
    """Secret with the login of the repository, in namespace ``pulumi-kubernetes-operator``. It contains
    ``sshPrivateKey`` for SSH, and ``accessToken`` for HTTPS."""
    state_variables: tuple[Variable, ...] = ()
    """Variables with the login of the state backend and of its secrets provider, such as ``AWS_ACCESS_KEY_ID`` and
    ``AWS_SECRET_ACCESS_KEY``: keys of ``state_secret``. By default the pods log in by the identity of their hosts."""
    state_secret: DnsLabel = "state"  # noqa: S105 - a name
    """Secret with the values of ``state_variables``, in namespace ``pulumi-kubernetes-operator``."""
    policy_pack: Annotated[str, StringConstraints(pattern=RELATIVE_PATH, max_length=253)] = "policy-pack"
    """Folder of the policy pack in the repository, which each run of a slice evaluates."""
    memory: Quantity = "1Gi"
    """Memory of the pod that runs a slice. The largest slices of a region with 6,000 hosts use 610 MB."""

    def incompatibilities(self) -> Iterator[ConstraintViolation]:
        """Yield a repository by SSH without a key."""
        if self.repository.startswith(_SSH) and self.repository_secret is None:
            text = "is required for SSH, because it contains the key; add repository_secret: regions-git"
            yield ConstraintViolation(text, ("repository_secret",))
