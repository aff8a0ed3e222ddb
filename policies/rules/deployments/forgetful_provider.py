"""forgetful-provider: a provider that drops objects of an unreachable cluster.

Why: with `deleteUnreachable`, the provider deletes all objects of a cluster from the state when its API server does not
answer. The next deployment creates them again, and nothing protects them in between. With `skipUpdateUnreachable`,
changes are reported as applied that were never sent.

Rejected: `pulumi_kubernetes.Provider("acme", delete_unreachable=True, ...)`
Rejected: `pulumi_kubernetes.Provider("acme", skip_update_unreachable=True, ...)`
Correct: a provider without these arguments. `jacquard` also removes the variables `PULUMI_K8S_DELETE_UNREACHABLE` and
`PULUMI_OPTION_*`, such as `PULUMI_OPTION_IGNORE_PROTECT`, from the environment of the engine.
"""

from components.specs.region.policy import RuleId
from policies.facts import PROVIDER, UNKNOWN, Context, Fact
from policies.verdict import PASS, Finding, Rule, Severity, listed, undecided, violation

_FIELDS = ("deleteUnreachable", "skipUpdateUnreachable")


def find(fact: Fact, _context: Context) -> Finding:
    """Check the inputs of a provider for its handling of unreachable clusters."""
    values = {name: fact.at(name) for name in _FIELDS}
    if UNKNOWN in values.values():
        return undecided(next(name for name, value in values.items() if value is UNKNOWN))
    enabled = [name for name, value in values.items() if str(value or "false").lower() != "false"]
    if not enabled:
        return PASS
    return violation(
        found=listed(enabled),
        allowed="providers that fail if their cluster does not answer",
        fix="remove the argument; to delete a cluster for good, use pulumi state delete after a review",
    )


RULE = Rule(
    name=RuleId.FORGETFUL_PROVIDER,
    description="A provider keeps the objects of an unreachable cluster.",
    why="all objects of a cluster would leave the state while its API server does not answer",
    severity=Severity.CRITICAL,
    kinds=frozenset({PROVIDER}),
    find=find,
)
