"""The page about the rules, made from their docstrings: ``docs/reference/policies.md``."""

from __future__ import annotations

import sys
from inspect import cleandoc

from components.specs.base import Stage
from policies.rules import RULES
from policies.verdict import Rule

FILE = "docs/reference/policies.md"
"""Page of the rules, beside the folder of all environments."""
_MARK = "<!-- written by jacquard schema --write from the docstrings in policies/rules; do not edit -->\n"
_INTRODUCTION = """# Policies

Rules that every deploy keeps: pure functions over rendered objects, one module an offence in `policies/rules/`.
`jacquard check` judges all objects of an environment by them without an engine, `jacquard up` before it begins, and
the engine each resource before it is made (`--policy-pack policies`, also for plain `pulumi up`). A value that is
unknown before apply, a rule that breaks, and settings that cannot be read refuse: nothing fails open.

## Settings

Levels are data of the environment, reviewed like any other; the command line has none.

- `policy.yaml`, `rules:` a rule is `mandatory` (it stops the deploy) or `advisory` (it is told). Not listed: as in
  the table, by stage. A rule without a level is not judged there. In `production` a critical rule stays mandatory;
  what has to offend is named in a waiver, one by one.
- `policy.yaml`, `freezes:` see `change-in-freeze`.
- `waivers.yaml`: leave for one rule and one subject until the day `expires`, with a reason, an owner and a ticket. A
  rule is one of this page, a cross-check that is [listed to be waived](rules.md#what-may-be-waived), or `uniformity`,
  of which [rollouts](../pools/rollouts.md) tells. A subject is a host (`a01-u01`), a pool (`acme-train/infer`), a
  tenant (for
  `change-in-freeze`) or an object (`ConfigMap acme-train/settings`), as the report names it. What is waived is told
  and counted, in SARIF as suppressed. A waiver that has expired waives nothing, and the violation says so. One that
  matches nothing is told, unless only a deploy or a look at nodes can know (`provider-without-cluster-identifier`,
  `change-in-freeze`, `uniformity`). An unknown value cannot be waived.

The day is that of the command's beginning, in UTC; `JACQUARD_NOW=2026-12-24T12:00:00Z` rehearses another, `jacquard
check --today` too.

"""


def text() -> str:
    """Return the page."""
    head = f"| rule | severity | {' | '.join(Stage)} |\n|---|---|{'---|' * len(Stage)}\n"
    rows = "".join(_row(rule) for rule in RULES)
    return f"{_MARK}{_INTRODUCTION}## Rules\n\n{head}{rows}\n" + "\n".join(_section(rule) for rule in RULES)


def _row(rule: Rule) -> str:
    levels = " | ".join(rule.levels.get(stage, "-") for stage in Stage)
    return f"| [{rule.name}](#{rule.name}) | {rule.severity} | {levels} |\n"


def _section(rule: Rule) -> str:
    _, _, page = cleandoc(sys.modules[rule.find.__module__].__doc__ or "").partition("\n")
    paragraphs = page.strip().replace("``", "`").replace("\nRefused:", "\n- Refused:").replace("\nTold:", "\n- Told:")
    listed = paragraphs.replace("\nRight:", "\n- Right:")
    return f"### {rule.name}\n\n{rule.description}\n\n{listed}\n"
