"""host-beyond-identity: a host entry with settings beyond the identity of the machine.

Why: an image, a disk layout or a firmware setting on a single host makes the host differ from the other hosts of its
pool, and a review of the pool does not show the difference. Use another instance type or pool for different machines.

Rejected: ``spec.image`` of a BareMetalHost, or another ``spec.rootDeviceHints`` than its instance type declares;
``spec.bmcSettingsRef`` of an IronCore BMC.
Correct: BMC address and credentials, boot MAC, power state, the settings of its instance type, and settings that are
the same for all hosts.
"""

from collections.abc import Mapping
from typing import Any

from components.specs.region.policy import RuleId
from components.specs.struct import Struct
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, listed, undecided, violation


class HostForm(Struct):
    """Permitted fields of a host in one bare-metal backend."""

    identity: frozenset[str]
    """Fields that identify the machine, from the inventory."""
    uniform: Mapping[str, Any]
    """Fields that the backend requires on each host, with the value that is the same for all hosts."""
    declared: tuple[str, ...]
    """Fields whose values come from the host's instance type, rack or controller in the data."""
    nested: tuple[str, ...]
    """Mappings whose fields are checked individually, outer mappings first."""


FORMS: Mapping[str, HostForm] = {
    "BareMetalHost": HostForm(
        identity=frozenset({"spec.bmc.address", "spec.bmc.credentialsName", "spec.bootMACAddress", "spec.online"}),
        uniform={"spec.automatedCleaningMode": "metadata", "spec.bootMode": "UEFI"},
        declared=("spec.architecture", "spec.bmc.disableCertificateVerification", "spec.rootDeviceHints"),
        nested=("spec", "spec.bmc"),
    ),
    "BMC": HostForm(
        identity=frozenset({"spec.access.ip", "spec.bmcSecretRef.name", "spec.protocol.port", "spec.protocol.scheme"}),
        uniform={"spec.protocol.name": "Redfish"},
        declared=(),
        nested=("spec", "spec.access", "spec.bmcSecretRef", "spec.protocol"),
    ),
}
"""Permitted host fields of each bare-metal backend, by kind."""


def find(fact: Fact, context: Context) -> Finding:
    """Compare the fields of a host with the permitted fields."""
    form, name, fields = FORMS[str(fact.kind)], fact.at("metadata", "name"), {"spec": fact.at("spec")}
    if name is UNKNOWN:
        return undecided("metadata.name")
    for path in form.nested:
        value = fields.get(path)
        if value is UNKNOWN:
            return undecided(path)
        if isinstance(value, Mapping):
            del fields[path]
            fields |= {f"{path}.{key}": inner for key, inner in value.items()}
    right = {**form.uniform, **context.declared.get(str(name), {})}
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
    declared = f", and {listed(form.declared)} with the values from the data" if form.declared else ""
    return violation(
        found=listed(beyond),
        allowed=f"{', '.join(sorted(form.identity))} from inventory/<hall>.csv, and {uniform} on every host{declared}",
        fix="remove the field; if the machine really differs, add an instance type for it to "
        "environments/catalog/instance_types.yaml and create a pool of that type",
    )


RULE = Rule(
    name=RuleId.HOST_BEYOND_IDENTITY,
    description="A host entry contains only the identity of the host.",
    why="a host that differs from its pool is only noticed when a job fails on it",
    severity=Severity.CRITICAL,
    kinds=frozenset(FORMS),
    find=find,
)
