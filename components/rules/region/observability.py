"""Rules about the receivers of alerts: names, mail server, and Secrets that no two tenants share."""

from collections.abc import Iterator

from components.lookups.pools import DataPath, place, problem, tenant_file
from components.rules.region.name_entries import entries, twice
from components.rules.rule import Rules
from components.specs.environment import Environment
from components.specs.reading.loader import REGION
from components.specs.reading.problems import Problem
from components.specs.region.observability import ReceiverSpec

_OBSERVABILITY = "observability"
_OF_REGION: DataPath = (_OBSERVABILITY, "receivers")
_OF_TENANT: DataPath = ("notify",)
_OPERATORS = "the operators"


def receiver_names(environment: Environment) -> Iterator[Problem]:
    """Report duplicate names of receivers in one list."""
    for _, file, path, receivers in _lists(environment):
        yield from twice(environment, "receiver", entries(file, path, "name", receivers))


def mail(environment: Environment) -> Iterator[Problem]:
    """Report receivers of tenants that need a mail server or receivers of the operators, which the region lacks."""
    observability = environment.region.observability
    for tenant in environment.tenants:
        file = tenant_file(tenant)
        if observability is None and tenant.notify:
            text = f"no alert is sent, because {REGION} has no observability; add it with receivers, or remove notify"
            yield problem(environment, file, _OF_TENANT, text)
        for index, receiver in enumerate(tenant.notify):
            if receiver.email and observability and observability.mail is None:
                there = place(environment, REGION, (_OBSERVABILITY,))
                text = f"{receiver.email} requires a mail server; add mail to observability ({there})"
                yield problem(environment, file, (*_OF_TENANT, index, "email"), text)


def secrets(environment: Environment) -> Iterator[Problem]:
    """Report Secrets that receivers of two tenants share, or of a tenant and the operators.

    The second one would get alerts in the channel of the first one.
    """
    first: dict[str, tuple[str, str, DataPath]] = {}
    for owner, file, path, receivers in _lists(environment):
        for index, receiver in enumerate(receivers):
            if receiver.secret is None:
                continue
            field, secret = receiver.secret
            at = (*path, index, field)
            other, of_other, path_of_other = first.setdefault(secret, (owner, file, at))
            if other != owner:
                there = place(environment, of_other, path_of_other)
                text = f"'{secret}' is a Secret of {other} ({there}); use a separate Secret"
                yield problem(environment, file, at, text)


def _lists(environment: Environment) -> Iterator[tuple[str, str, DataPath, tuple[ReceiverSpec, ...]]]:
    """Yield the lists of receivers: owner, file, path and entries."""
    if observability := environment.region.observability:
        yield _OPERATORS, REGION, _OF_REGION, observability.receivers
    for tenant in environment.tenants:
        yield f"tenant {tenant.tenant}", tenant_file(tenant), _OF_TENANT, tenant.notify


RULES = Rules(data=(receiver_names, mail, secrets))
