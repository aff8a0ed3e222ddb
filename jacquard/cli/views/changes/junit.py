"""Preview as JUnit XML, which most CI systems show with a pull request: one suite per environment."""

from collections.abc import Iterable, Sequence
from xml.etree import ElementTree as ET

from components.specs.reading.problems import visible
from jacquard.cli.views.changes import change as view
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
            _case(suite, "policies", rule, texts)
        _case(suite, "approvals", "approvals", [f"approval of {name} is missing" for name in preview.approvals_missing])
        suite.set("tests", str(len(suite)))
        suite.set("failures", str(len(suite.findall("testcase/failure"))))
        suite.set("skipped", str(len(suite.findall("testcase/skipped"))))
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _stack(suite: ET.Element, stack: StackPreview) -> None:
    failed = stack.outcome in _FAILURES or stack.held
    case = _case(suite, "stacks", stack.stack, [stack.reason or "", *stack.held] if failed else [])
    if stack.outcome in _SKIPPED:
        ET.SubElement(case, "skipped", message=visible(stack.reason or view.summed_up(stack)))


def _case(suite: ET.Element, group: str, name: str, failures: Sequence[str]) -> ET.Element:
    case = ET.SubElement(suite, "testcase", classname=visible(f"{suite.get('name')}.{group}"), name=visible(name))
    if failures:
        shown = [visible(line) for text in failures for line in text.splitlines()]
        ET.SubElement(case, "failure", message=shown[0] if shown else "").text = "\n".join(shown)
    return case
