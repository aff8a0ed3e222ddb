"""unverified-bmc: a BMC whose certificate is not verified.

Why: an on-path attacker can obtain the BMC credentials and take control of the host, its disks and data.

Rejected: `bmc.disableCertificateVerification` of a BareMetalHost. The report includes the reason from
`bare_metal.bmc_certificates` of ``region.yaml``.
Correct: a certificate of the platform on the BMC, and its certificate authority in `bare_metal.bmc_certificates`.
"""

from components.specs.region.policy import RuleId
from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, advisory, undecided, violation

_FIELD = ("spec", "bmc", "disableCertificateVerification")


def find(fact: Fact, context: Context) -> Finding:
    """Report a BMC whose certificate is not verified."""
    value = fact.at(*_FIELD)
    if value is UNKNOWN:
        return undecided(".".join(_FIELD))
    if value is not True:
        return PASS
    reason = context.unverified.get(str(fact.at("metadata", "name")))
    return violation(
        found="the certificate of its BMC is not verified" + (f": {reason}" if reason else "; reason missing"),
        allowed="BMCs with a certificate signed by the authority of bare_metal.bmc_certificates",
        fix="install a certificate of the platform on the BMC, and remove the host from"
        " bare_metal.bmc_certificates.unverified in region.yaml",
    )


RULE = advisory(
    RuleId.UNVERIFIED_BMC,
    description="A BMC authenticates with a verified certificate.",
    why="an on-path attacker can obtain the BMC credentials and take control of the host",
    kinds={"BareMetalHost"},
    find=find,
)
