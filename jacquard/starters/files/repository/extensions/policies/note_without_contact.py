"""Example policy note-without-contact: reports a region note without a contact address. Change or remove it.

A policy of this repository is a file of `extensions/policies/` with a `RULE`. Check, preview and up evaluate it with
Jacquard's policies, and `waivers.yaml` of a region can waive it for a subject.
"""

from __future__ import annotations

from policies.facts import UNKNOWN, Context, Fact
from policies.verdict import NOT_APPLICABLE, PASS, Finding, Rule, Severity, undecided, violation


def find(fact: Fact, context: Context) -> Finding:
    """Check for an address in the note."""
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
        allowed="an address of the team on call",
        fix="set CONTACT in extensions/components/region_note.py",
    )


RULE = Rule(
    name="note-without-contact",
    description="The note in each cluster names a contact.",
    why="during an incident, the owner of a cluster must be known immediately",
    severity=Severity.HIGH,
    kinds=frozenset({"ConfigMap"}),
    find=find,
)
