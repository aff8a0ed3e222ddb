"""host-beyond-identity: a host entry that says more than who the machine is.

Why: an image, a disk layout or a firmware setting on one host makes it differ from the others of its pool, and no
review of the pool ever sees it. What machines differ in is another instance type or another pool.

Refused: ``spec.image`` or ``spec.rootDeviceHints`` of a BareMetalHost.
Right: BMC address and credentials, boot MAC, whether the host is switched on, and what is the same for all hosts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, listed, undecided, violation

IDENTITY = frozenset({"spec.bmc.address", "spec.bmc.credentialsName", "spec.bootMACAddress", "spec.online"})
"""Fields of a BareMetalHost that tell which machine it is; the inventory has nothing else to say."""
UNIFORM: Mapping[str, Any] = {"spec.automatedCleaningMode": "metadata", "spec.bootMode": "UEFI"}
"""Fields that Metal3 wants on each host, with the one value that all hosts have."""


def find(fact: Fact, context: Context) -> Finding:
    """Compare the fields of a host with those of an identity."""
    del context
    fields = {"spec": fact.at("spec")}
    for path in ("spec", "spec.bmc"):
        value = fields.get(path)
        if value is UNKNOWN:
            return undecided(path)
        if isinstance(value, Mapping):
            del fields[path]
            fields |= {f"{path}.{key}": inner for key, inner in value.items()}
    beyond = sorted(path for path, value in fields.items() if not _is_allowed(path, value))
    if not beyond:
        return PASS
    if all(fields[path] is UNKNOWN and path in UNIFORM for path in beyond):
        return undecided(listed(beyond))
    return violation(
        found=listed(beyond),
        allowed=f"{', '.join(sorted(IDENTITY))} from inventory/<hall>.csv, "
        f"and {', '.join(f'{path} {value}' for path, value in UNIFORM.items())} on every host",
        fix="remove the field; if the machine really differs, give it an instance type of its own in "
        "environments/catalog/instance_types.yaml and a pool of that type",
    )


def _is_allowed(path: str, value: Any) -> bool:
    return path in IDENTITY or (path in UNIFORM and value == UNIFORM[path])


RULE = Rule(
    name="host-beyond-identity",
    description="A host entry carries its identity and nothing else.",
    why="a host that differs from its pool is found only when a job fails on it",
    severity=Severity.HIGH,
    kinds=frozenset({"BareMetalHost"}),
    find=find,
)
