"""unverified-bmc: a BMC that is believed without a certificate.

Why: whoever stands between the region and the BMC gets its login, and with it the host, its disks and what is on them.

Refused: `bmc.disableCertificateVerification` of a BareMetalHost, told with the reason that
`bare_metal.bmc_certificates` of ``region.yaml`` gives for it.
Right: a certificate of the platform's own on the BMC, and its authority in `bare_metal.bmc_certificates`.
"""

from __future__ import annotations

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, undecided, violation

_FIELD = ("spec", "bmc", "disableCertificateVerification")


def find(fact: Fact, context: Context) -> Finding:
    """Tell a BMC whose certificate nobody verifies."""
    value = fact.at(*_FIELD)
    if value is UNKNOWN:
        return undecided(".".join(_FIELD))
    if value is not True:
        return PASS
    reason = context.unverified.get(str(fact.at("metadata", "name")))
    return violation(
        found="the certificate of its BMC is not verified" + (f": {reason}" if reason else ", and no reason is given"),
        allowed="BMCs with a certificate that the authority of bare_metal.bmc_certificates signed",
        fix="put a certificate of the platform's own on the BMC, and take the host from"
        " bare_metal.bmc_certificates.unverified in region.yaml",
    )


RULE = Rule(
    name=RuleId.UNVERIFIED_BMC,
    description="A BMC proves by a certificate who it is.",
    why="whoever stands between gets the login of the BMC, and with it the host",
    severity=Severity.HIGH,
    kinds=frozenset({"BareMetalHost"}),
    find=find,
    levels=dict.fromkeys(Stage, Enforcement.ADVISORY),
)
