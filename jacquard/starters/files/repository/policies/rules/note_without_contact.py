"""note-without-contact: a note in a cluster that does not say whom to call. An example: change it or remove it.

A rule of this repository is a file of `policies/rules/` with a `RULE`. It is judged beside Jacquard's own by check,
preview and up, and `waivers.yaml` of a region gives leave for a subject as for those.
"""

from __future__ import annotations

from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, undecided, violation


def find(fact: Fact, context: Context) -> Finding:
    """Look for an address in the note."""
    del context
    if fact.at("metadata", "name") != "region-note":
        return NOT_APPLICABLE
    contact = fact.at("data", "contact")
    if contact is UNKNOWN:
        return undecided("data.contact")
    if "@" in (contact or ""):
        return PASS
    return violation(
        found=f"contact {contact!r}",
        allowed="an address of whoever is on call",
        fix="write CONTACT in components/region_note.py",
    )


RULE = Rule(
    name="note-without-contact",
    description="The note in each cluster says whom to call.",
    why="who finds a cluster broken at night must not search for its owner",
    severity=Severity.HIGH,
    kinds=frozenset({"ConfigMap"}),
    find=find,
)
