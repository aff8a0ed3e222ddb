"""Policy that an API server can evaluate, as a CEL expression."""

from enum import StrEnum
from typing import Annotated

from pydantic import Field, StringConstraints

from components.specs.base import Label, Spec, Text
from components.specs.region.policy import Enforcement

Expression = Annotated[str, StringConstraints(min_length=1, max_length=2000)]
"""CEL expression."""


class ClusterKind(StrEnum):
    """Kind of the clusters in which objects are evaluated."""

    MANAGEMENT = "management"
    TENANT = "tenant"


class Resources(Spec):
    """Resources of an API group."""

    group: str
    """API group; empty for the core group."""
    names: tuple[Text, ...] = Field(min_length=1)
    """Plural names."""


class AdmissionRule(Spec):
    """CEL equivalent of a policy for objects that are created or updated."""

    policy: Label
    """Name of the policy in ``policies/rules``."""
    level: Enforcement
    """Level of the policy in each stage; ``policy.yaml`` overrides it."""
    clusters: tuple[ClusterKind, ...] = Field(min_length=1)
    """Kinds of clusters where only persons and the platform create these objects."""
    resources: tuple[Resources, ...] = Field(min_length=1)
    values: tuple[Text, ...] = ()
    """Data of the environment that the expressions use as ``variables.NAME``."""
    variables: dict[str, Expression] = Field(default_factory=dict)
    """Further variables, in order; an expression can use earlier variables."""
    allowed: Expression
    """Expression that is true for an accepted object."""
    message: Text
    """Text for rejected objects."""
