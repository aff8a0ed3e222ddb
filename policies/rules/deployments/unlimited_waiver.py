"""unlimited-waiver: a waiver that lasts too long, or of a critical policy without a second owner.

Why: a waiver accepts a risk for a limited time. A waiver that lasts for years is never reviewed again, and a single
person should not accept that unreviewed code runs on nodes of tenants.

Reported: in staging and production, a waiver that is valid for more than 90 days from today.
Reported: likewise a waiver of a critical policy without `second_owner`, or with the same contact as `owner`.
Rejected: nothing, unless `policy.yaml` makes the policy mandatory.
Correct: `expires` within 90 days, extended after a review; `second_owner` for waivers of critical policies.
"""

import datetime as dt

from components.specs.base import Stage
from components.specs.region.policy import Enforcement, RuleId
from policies.facts import WAIVER, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, listed, violation

MOST_DAYS = 90


def find(fact: Fact, context: Context) -> Finding:
    """Check the duration and the owners of a waiver."""
    expires, owner, second = (fact.at(key) for key in ("expires", "owner", "second_owner"))
    latest = context.today + dt.timedelta(days=MOST_DAYS)
    found = [f"valid until {expires}, {(expires - context.today).days} days"] if expires > latest else []
    found += ["no second owner"] if fact.at("severity") == Severity.CRITICAL and second in {None, owner} else []
    if not found:
        return PASS
    return violation(
        found=listed(found),
        allowed=f"at most {MOST_DAYS} days, and a second owner for critical policies",
        fix=f"write an expiry until {latest} and second_owner in waivers.yaml, and renew the waiver after a review",
    )


RULE = Rule(
    name=RuleId.UNLIMITED_WAIVER,
    description="A waiver lasts at most 90 days, and a waiver of a critical policy has a second owner.",
    why="an accepted risk would stay without a review, or with one person's review",
    severity=Severity.HIGH,
    kinds=frozenset({WAIVER}),
    find=find,
    levels=dict.fromkeys((Stage.STAGING, Stage.PRODUCTION), Enforcement.ADVISORY),
)
