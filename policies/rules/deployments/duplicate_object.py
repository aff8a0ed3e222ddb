"""duplicate-object: an object that two resources render.

Why: both resources apply the object. Each apply overwrites the fields of the other one, or is rejected as a conflict,
and the deletion of one resource deletes the object of the other one.

Rejected: a ConfigMap `acme-train/settings` of an extension, if a component renders an object with the same kind, name
and namespace in the same cluster; the version of its API is not compared.
Correct: one resource for each object. Change an object of Jacquard by a patch of its component.
Not evaluated: objects with `generateName`, and objects of different stacks, except in `jacquard check`.
"""

from components.specs.region.policy import RuleId
from policies.facts import ANY_KIND, UNKNOWN, Context, Fact
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, listed, undecided, violation


def find(fact: Fact, context: Context) -> Finding:
    """Look for an earlier object of the stack with the same key."""
    if context.objects is None:
        return NOT_APPLICABLE
    key = context.objects.key(fact)
    if key is UNKNOWN:
        return undecided("the kind, name or namespace of the object")
    if not isinstance(key, tuple):
        return NOT_APPLICABLE
    same = context.objects.by_key[key]
    if same[0] is fact or len(same) == 1:
        return PASS
    sources = list(dict.fromkeys(item.source for item in same))
    return violation(
        found=f"rendered {len(same)} times, by {listed(sources)}",
        allowed="one resource for each object of a cluster",
        fix="remove the object from one of them, or give it another name",
    )


RULE = Rule(
    name=RuleId.DUPLICATE_OBJECT,
    description="An object is rendered by one resource.",
    why="the resources overwrite the fields of each other, and the deletion of one deletes the object of the other",
    severity=Severity.HIGH,
    kinds=frozenset({ANY_KIND}),
    find=find,
    is_stack_wide=True,
)
