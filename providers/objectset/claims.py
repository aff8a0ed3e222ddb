"""When an object must not be deleted because somebody uses it: a table, one row a kind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from providers.kube.jsonpath import evaluate, parse


@dataclass(frozen=True, slots=True)
class Claim:
    """A value that shows an object to be in use."""

    path: str
    words: str
    """What it means, with ``{}`` for the value."""
    values: frozenset[str] | None = None
    """Values that claim; None: any value does."""


CLAIMS: Mapping[tuple[str, str], tuple[Claim, ...]] = {
    ("metal3.io", "BareMetalHost"): (
        Claim(".spec.consumerRef.name", "is claimed by {}"),
        Claim(
            ".status.provisioning.state",
            "is {}",
            frozenset({"provisioning", "provisioned", "externally provisioned", "deprovisioning"}),
        ),
    ),
}
"""By group and kind. A host is released and wiped before it may leave: deleting it would power off a running node."""


def claimed(body: Mapping[str, Any]) -> str | None:
    """Return why a live object must not be deleted, None when nobody claims it."""
    group = str(body["apiVersion"]).rpartition("/")[0]
    for claim in CLAIMS.get((group, str(body["kind"])), ()):
        for value in evaluate(parse(claim.path), body):
            if value and (claim.values is None or value in claim.values):
                return claim.words.format(value)
    return None
