"""Receivers of the alerts of each tenant."""

import re
from collections.abc import Mapping

from components.specs.environment import Environment
from components.specs.region.observability import EMAIL, ReceiverSpec
from components.specs.region.tenant import TenantSpec

CONTACT = "contact"
"""Name of the receiver of a tenant whose contact for alerts is an e-mail address."""


def tenant_receivers(environment: Environment) -> Mapping[str, tuple[ReceiverSpec, ...]]:
    """Return the receivers of each tenant, by tenant: ``notify``, or the contact for alerts if it is an e-mail address.

    Tenants without receivers are included. In a region without receivers of its operators, no tenant has receivers.
    """
    return {tenant.tenant: _receivers(environment, tenant) for tenant in environment.tenants}


def _receivers(environment: Environment, tenant: TenantSpec) -> tuple[ReceiverSpec, ...]:
    observability, contact = environment.region.observability, tenant.contacts.alerts
    if observability is None:
        return ()
    if tenant.notify or observability.mail is None or not re.match(EMAIL, contact):
        return tenant.notify
    return (ReceiverSpec(name=CONTACT, email=contact),)
