"""plain-text-bmc: a BMC whose connection is not encrypted.

Why: the login of the BMC is sent with each request. Everyone on the path reads it, and then controls the host, its
disks and data. IPMI sends a hash of the password to anyone who asks for it (CVE-2013-4786).

Rejected: an address such as `redfish+http://10.1.1.1/redfish/v1/Systems/1` or `ipmi://10.1.1.1` of a BareMetalHost, and
`spec.protocol.scheme: http` of an IronCore BMC.
Correct: `redfish+https://`, or a driver without a transport, such as `redfish-virtualmedia://`, which uses HTTPS.
"""

from typing import Any

from components.specs.hosts.bmc import parse_bmc
from components.specs.region.policy import RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, undecided, violation

_FIELDS = {"BareMetalHost": ("spec", "bmc", "address"), "BMC": ("spec", "protocol", "scheme")}


def find(fact: Fact, _context: Context) -> Finding:
    """Check the transport of the BMC's connection."""
    path = _FIELDS[str(fact.kind)]
    value: Any = fact.at(*path)
    if value is UNKNOWN:
        return undecided(".".join(path))
    if value is None:
        return NOT_APPLICABLE
    address = parse_bmc(f"redfish+{value}://bmc" if fact.kind == "BMC" else value)
    if address.has_certificate:
        return PASS
    shown = value if fact.kind == "BMC" else address.without_login
    return violation(
        found=f"{'.'.join(path)} {shown}, without encryption",
        allowed="BMCs with Redfish over HTTPS",
        fix="write redfish+https:// in column bmc of inventory/<hall>.csv, and enable HTTPS on the BMC",
    )


RULE = Rule(
    name=RuleId.PLAIN_TEXT_BMC,
    description="The connection to a BMC is encrypted.",
    why="everyone on the path can read the login of the BMC, and then controls the host",
    severity=Severity.CRITICAL,
    kinds=frozenset(_FIELDS),
    find=find,
)
