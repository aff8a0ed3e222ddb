"""Admission policies of the region's clusters."""

from enum import StrEnum

from components.specs.base import Spec


class AdmissionAction(StrEnum):
    """Effect on an object that violates a mandatory policy; advisory policies only warn."""

    DENY = "deny"
    """The API server rejects the object."""
    WARN = "warn"
    """The API server warns the client and writes the violation into its audit log."""
    NONE = "none"
    """The cluster has no admission policies."""


class AdmissionSpec(Spec):
    """Policies that API servers evaluate for all objects, also for those that bypass Pulumi."""

    management: AdmissionAction = AdmissionAction.DENY
    """Effect in the management cluster. Accounts of operators and of Kubernetes' controllers are exempt there."""
    tenants: AdmissionAction = AdmissionAction.DENY
    """Effect in the clusters of tenants."""
