"""change-in-freeze: an apply that touches a tenant while a freeze protects it.

Why: a freeze is a promise that nothing about a tenant's nodes moves, such as during a training run that cannot be
interrupted. It holds for whole stacks: a pack sees neither what a resource was before nor what is deleted, so it
cannot tell a harmless change from another. A freeze of some tenants refuses each apply of a stack that holds a slice
of theirs, a freeze that names nobody each apply of the environment. A preview applies nothing and is only told.
``jacquard up`` previews frozen stacks first and leaves out those without changes.

Refused: ``pulumi up -s <environment>.tenant-acme`` during a freeze with ``tenants: [acme]``.
Right: apply once the freeze has ended. For an emergency: a waiver with the tenant as its subject, or ``shared`` for
what all tenants share.
"""

from __future__ import annotations

from components.specs.region.policy import Enforcement, FreezeSpec, RuleId
from policies.facts import STACK, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, Verdict, violation


def find(fact: Fact, context: Context) -> Finding:
    """Ask the freezes whether the stack may be applied now."""
    if context.freezes is None:
        return Finding(
            verdict=Verdict.UNDECIDED,
            found=f"stack {context.stack} belongs to no environment that can be read, and nobody knows what is frozen",
            allowed="a stack called <environment> or <environment>.<slice>",
            fix="call the stack so, and put right what jacquard check finds",
            level=Enforcement.MANDATORY,
        )
    tenant = fact.at("tenant")
    covering = [freeze for freeze in context.freezes if _covers(freeze, tenant, context)]
    if not covering:
        return PASS
    last = max(covering, key=lambda freeze: freeze.to)
    return violation(
        found="; ".join(f"freeze {item.name} until {item.to.isoformat()}: {item.reason}" for item in covering),
        allowed="previews; jacquard up as long as nothing of the stack changes",
        fix=f"apply after {last.to.isoformat()}, or change it in environments/{context.environment}/policy.yaml",
        level=Enforcement.ADVISORY if context.dry_run else None,
    )


def _covers(freeze: FreezeSpec, tenant: str | None, context: Context) -> bool:
    if tenant is None:
        return not freeze.tenants and freeze.from_ <= context.now < freeze.to
    return freeze.covers(context.now, tenant)


RULE = Rule(
    name=RuleId.CHANGE_IN_FREEZE,
    description="Nothing is applied to a tenant while a freeze protects it.",
    why="a freeze is a promise to the tenant that its nodes are left alone",
    severity=Severity.HIGH,
    kinds=frozenset({STACK}),
    find=find,
)
