"""host-beyond-identity: a host entry that says more than who the machine is.

Why: an image, a disk layout or a firmware setting on one host makes it differ from the others of its pool, and no
review of the pool ever sees it. What machines differ in is another instance type or another pool.

Refused: ``spec.image`` of a BareMetalHost, or ``spec.rootDeviceHints`` that its instance type does not have;
``spec.bmcSettingsRef`` of a BMC of IronCore.
Right: BMC address and credentials, boot MAC, whether the host is switched on, what the data say of its instance type,
and what is the same for all hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from components.specs.region.policy import RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, listed, undecided, violation


@dataclass(frozen=True, slots=True, kw_only=True)
class HostForm:
    """Fields that a host of one bare-metal backend has."""

    identity: frozenset[str]
    """Fields that tell which machine it is; the inventory has nothing else to say."""
    uniform: Mapping[str, Any]
    """Fields that the backend wants on each host, with the one value that all hosts have."""
    declared: tuple[str, ...]
    """Fields that hosts have as the data say of their instance type, rack or controller."""
    nested: tuple[str, ...]
    """Mappings whose fields are looked at one by one, outer ones first."""


FORMS: Mapping[str, HostForm] = {
    "BareMetalHost": HostForm(
        identity=frozenset({"spec.bmc.address", "spec.bmc.credentialsName", "spec.bootMACAddress", "spec.online"}),
        uniform={"spec.automatedCleaningMode": "metadata", "spec.bootMode": "UEFI"},
        declared=("spec.bmc.disableCertificateVerification", "spec.rootDeviceHints"),
        nested=("spec", "spec.bmc"),
    ),
    "BMC": HostForm(
        identity=frozenset({"spec.access.ip", "spec.bmcSecretRef.name", "spec.protocol.port", "spec.protocol.scheme"}),
        uniform={"spec.protocol.name": "Redfish"},
        declared=(),
        nested=("spec", "spec.access", "spec.bmcSecretRef", "spec.protocol"),
    ),
}
"""Fields of hosts of each bare-metal backend, by kind."""


def find(fact: Fact, context: Context) -> Finding:
    """Compare the fields of a host with those of an identity."""
    form = FORMS[str(fact.kind)]
    fields = {"spec": fact.at("spec")}
    for path in form.nested:
        value = fields.get(path)
        if value is UNKNOWN:
            return undecided(path)
        if isinstance(value, Mapping):
            del fields[path]
            fields |= {f"{path}.{key}": inner for key, inner in value.items()}
    right = {**form.uniform, **context.declared.get(str(fact.at("metadata", "name")), {})}
    beyond = sorted(
        path
        for path, value in fields.items()
        if path not in form.identity and not (path in right and value == right[path])
    )
    if not beyond:
        return PASS
    if all(fields[path] is UNKNOWN and path in right for path in beyond):
        return undecided(listed(beyond))
    uniform = ", ".join(f"{path} {value}" for path, value in form.uniform.items())
    declared = f", and {listed(form.declared)} as the data say of the host" if form.declared else ""
    return violation(
        found=listed(beyond),
        allowed=f"{', '.join(sorted(form.identity))} from inventory/<hall>.csv, and {uniform} on every host{declared}",
        fix="remove the field; if the machine really differs, give it an instance type of its own in "
        "environments/catalog/instance_types.yaml and a pool of that type",
    )


RULE = Rule(
    name=RuleId.HOST_BEYOND_IDENTITY,
    description="A host entry carries its identity and nothing else.",
    why="a host that differs from its pool is found only when a job fails on it",
    severity=Severity.CRITICAL,
    kinds=frozenset(FORMS),
    find=find,
)
