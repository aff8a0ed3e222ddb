"""change-in-freeze: an apply that affects a tenant during a freeze.

Why: a freeze guarantees that a tenant's nodes do not change, for example during a training run that cannot be
interrupted. A freeze covers whole stacks: a policy pack sees neither the previous state of a resource nor deletions,
and cannot identify harmless changes. A freeze with `tenants` blocks every stack with a slice of these tenants; a
freeze without tenants blocks every stack of the environment. A preview only reports the freeze. ``jacquard up``
previews frozen stacks first and skips stacks without changes.

Rejected: ``pulumi up -s <environment>.tenant-acme`` during a freeze with ``tenants: [acme]``.
Correct: apply after the freeze. In an emergency, add a waiver with the tenant as its subject, or ``shared`` for
resources shared by tenants.
"""

from components.specs.region.policy import Enforcement, FreezeSpec, RuleId
from policies.facts import STACK, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, Verdict, violation


def find(fact: Fact, context: Context) -> Finding:
    """Check whether a freeze blocks an apply of the stack now."""
    if context.freezes is None:
        return Finding(
            verdict=Verdict.UNDECIDED,
            found=f"stack {context.stack} belongs to no readable environment, so its freezes are unknown",
            allowed="a stack named <environment> or <environment>.<slice>",
            fix="rename the stack, and fix the errors that jacquard check reports",
            level=Enforcement.MANDATORY,
        )
    tenant = fact.at("tenant")
    covering = [freeze for freeze in context.freezes if _covers(freeze, tenant, context)]
    if not covering:
        return PASS
    last = max(covering, key=lambda freeze: freeze.to)
    return violation(
        found="; ".join(f"freeze {item.name} until {item.to.isoformat()}: {item.reason}" for item in covering),
        allowed="previews; jacquard up if nothing in the stack changes",
        fix=f"apply after {last.to.isoformat()}, or edit the freeze in environments/{context.environment}/policy.yaml",
        level=Enforcement.ADVISORY if context.dry_run else None,
    )


def _covers(freeze: FreezeSpec, tenant: str | None, context: Context) -> bool:
    if tenant is None:
        return not freeze.tenants and freeze.from_ <= context.now < freeze.to
    return freeze.covers(context.now, tenant)


RULE = Rule(
    name=RuleId.CHANGE_IN_FREEZE,
    description="No changes are applied to a tenant during a freeze.",
    why="a freeze guarantees to the tenant that its nodes do not change",
    severity=Severity.HIGH,
    kinds=frozenset({STACK}),
    find=find,
)
