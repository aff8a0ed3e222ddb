"""Preview as JUnit XML, which most CI systems show with a pull request: one suite per environment."""

from collections.abc import Iterable
from xml.etree import ElementTree as ET

from components.specs.reading.problems import visible
from jacquard.cli.views.changes import change as view
from jacquard.cli.views.results import junit
from jacquard.previews.preview import Outcome, Preview, StackPreview

_FAILURES = frozenset({Outcome.FAILED, Outcome.REFUSED})
_SKIPPED = frozenset({Outcome.SAME_OBJECTS, Outcome.WAITING})


def report(previews: Iterable[Preview]) -> str:
    """Return the report: one case per stack, one per violated policy, and one for approvals."""
    root = ET.Element("testsuites", name="jacquard preview")
    for preview in previews:
        suite = ET.SubElement(root, "testsuite", name=preview.environment)
        for stack in preview.stacks:
            _stack(suite, stack)
        for rule in dict.fromkeys(violation.rule for violation in preview.offences):
            refusing = [violation for violation in preview.offences if violation.rule == rule and violation.refuses]
            texts = [f"{violation.subject}: {violation.found}; {violation.fix}" for violation in refusing]
            junit.case(suite, "policies", rule, texts)
        missing = [f"approval of {name} is missing" for name in preview.approvals_missing]
        junit.case(suite, "approvals", "approvals", missing)
        junit.counted(suite)
    return junit.text(root)


def _stack(suite: ET.Element, stack: StackPreview) -> None:
    failed = stack.outcome in _FAILURES or stack.held
    case = junit.case(suite, "stacks", stack.stack, [stack.reason or "", *stack.held] if failed else [])
    if stack.outcome in _SKIPPED:
        ET.SubElement(case, "skipped", message=visible(stack.reason or view.summed_up(stack)))
