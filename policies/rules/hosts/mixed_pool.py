"""mixed-pool: a pool whose nodes have different images or settings.

Why: workloads treat the nodes of a pool as identical. Different drivers or kernel settings break collective jobs across
the pool, and the cause is difficult to find. `template-edited-in-place` compares a template with its name only.

Rejected: a MachineDeployment with another image, kubelet version or bootstrap configuration than most
MachineDeployments of its pool (label `jacquard.dev/pool`).
Correct: `jacquard promote`, which changes the groups of a pool in waves, or a pool of its own for other nodes.
Not evaluated: pools with an open rollout, whose groups have different pins until its end.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any

from components.specs.keys import pool_key
from components.specs.region.policy import RuleId
from policies.facts import UNKNOWN, Context, Fact, contains_unknown
from policies.node_image import node_image
from policies.rules.hosts.missing_template import BOOTSTRAP, INFRASTRUCTURE, MACHINES
from policies.stack_objects import pool_of
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, listed, undecided, violation

_DATA = ("spec", "template", "spec", "dataTemplate")


def find(fact: Fact, context: Context) -> Finding:
    """Compare the nodes of a rollout group with those of the other groups of its pool."""
    key = pool_of(fact)
    if key is UNKNOWN:
        return undecided("the pool of the nodes")
    if context.objects is None or not isinstance(key, tuple) or pool_key(*key[2:]) in context.rolling:
        return NOT_APPLICABLE
    nodes = _nodes(fact, context)
    if contains_unknown(nodes):
        return undecided("the image or the settings of the nodes")
    groups = context.objects.by_pool[key]
    usual, count = context.objects.once((RULE.name, key), lambda: _usual(groups, context))
    different = [f"{field} {value}" for field, value in nodes.items() if value != dict(usual)[field]]
    if not different:
        return PASS
    return violation(
        found=listed(different),
        allowed=f"the nodes of {count} other groups: {listed([f'{field} {value}' for field, value in usual])}",
        fix="promote the whole pool, or move the nodes to another pool",
    )


def _usual(groups: Iterable[Fact], context: Context) -> tuple[tuple[tuple[str, Any], ...], int]:
    """Return the properties of the nodes of most ``groups`` of a pool, and the number of groups that have them."""
    nodes = [_nodes(group, context) for group in groups]
    [most] = Counter(tuple(each.items()) for each in nodes if not contains_unknown(each)).most_common(1)
    return most


def _nodes(group: Fact, context: Context) -> dict[str, Any]:
    """Return the properties of the nodes of ``group`` that all nodes of a pool share.

    The name of a bootstrap template ends with the digest of its content.
    """
    references = {path: group.at(*path) for path in (INFRASTRUCTURE, BOOTSTRAP)}
    if contains_unknown(references) or contains_unknown(group.at("metadata", "namespace")) or context.objects is None:
        return {"template": UNKNOWN}
    machine = context.objects.referenced(group, references[INFRASTRUCTURE] or {})
    image = node_image(machine) if machine else None
    return {
        "kubelet": group.at(*MACHINES, "version"),
        "image": UNKNOWN if isinstance(image, Finding) else image and image.sha256,
        "data template": machine and machine.at(*_DATA, "name"),
        "bootstrap": str((references[BOOTSTRAP] or {}).get("name")).rpartition("-")[2],
    }


RULE = Rule(
    name=RuleId.MIXED_POOL,
    description="The nodes of a pool have the same image and settings.",
    why="different drivers or settings break jobs across the nodes of the pool",
    severity=Severity.HIGH,
    kinds=frozenset({"MachineDeployment"}),
    find=find,
    is_stack_wide=True,
)
