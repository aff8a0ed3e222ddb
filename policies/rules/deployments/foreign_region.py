"""foreign-region: a provider or a stack reference of another region.

Why: regions are independent, so that a failure or a change of one region does not affect another one. With a provider
of another region, an apply changes its clusters outside its stacks, freezes and waivers. With a stack reference, an
apply depends on its state, and its outputs can contain credentials.

Rejected: in a stack of one region, a provider with the `clusterIdentifier` of another one.
Rejected: a `pulumi.StackReference` to a stack of another environment, by `pulumi policy analyze`; a preview does not
send resources that the engine only reads to policy packs.
Correct: data that several regions need, in the shared catalogue of the environments.
Not evaluated: identifiers without an environment, such as those of providers for other systems.
"""

from typing import Any

from components.specs.region.policy import RuleId
from policies.facts import PROVIDER, REFERENCE, UNKNOWN, Context, Fact
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, undecided, violation

_FIELDS = {PROVIDER: "clusterIdentifier", REFERENCE: "name"}


def find(fact: Fact, context: Context) -> Finding:
    """Compare the region of a provider or of a referenced stack with the region of the stack."""
    field = _FIELDS[str(fact.kind)]
    value: Any = fact.at(field)
    if value is UNKNOWN:
        return undecided(field)
    region = _stack_region(str(value)) if fact.kind == REFERENCE else str(value or "").rpartition("/")[0]
    if not region:
        return NOT_APPLICABLE
    if region == context.environment:
        return PASS
    return violation(
        found=f"{field} {value}, of region {region}",
        allowed=f"clusters and stacks of {context.environment}",
        fix="apply the object in a stack of its own region, or move shared data to environments/catalog",
    )


def _stack_region(name: str) -> str:
    """Return the environment of a stack, ``organization/project/environment.slice`` or a part of this name."""
    return name.rpartition("/")[2].partition(".")[0]


RULE = Rule(
    name=RuleId.FOREIGN_REGION,
    description="A stack uses no provider and no stack of another region.",
    why="a change or a failure of one region would affect another one, outside its freezes and waivers",
    severity=Severity.HIGH,
    kinds=frozenset(_FIELDS),
    find=find,
)
