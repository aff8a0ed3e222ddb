"""template-edited-in-place."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import pytest

from policies.facts import UNKNOWN, Context, Fact, object_fact
from policies.rules.hosts.template_edited_in_place import RULE
from policies.verdict import Verdict

Rendered = Callable[[str], list[Fact]]


def edited(fact: Fact, **spec: Any) -> Fact:
    body = copy.deepcopy(dict(fact.body))
    body["spec"] |= spec
    return object_fact(body, "management")


@pytest.mark.parametrize(("kind", "count"), [("Metal3MachineTemplate", 7), ("KubeadmConfigTemplate", 7)])
def test_passes_every_template_of_laptop(kind: str, count: int, rendered: Rendered, context: Context) -> None:
    facts = rendered(kind)

    assert len(facts) == count
    assert {RULE.judge(fact, context).verdict for fact in facts} == {Verdict.PASS}


def test_refuses_a_rendered_template_that_was_edited_under_its_name(context: Context, text: Callable[..., str]) -> None:
    fact = object_fact(
        {
            "kind": "Metal3MachineTemplate",
            "metadata": {"name": "acme-train-infer-a03-0123456789", "namespace": "acme-train"},
            "spec": {"nodeReuse": True},
        },
        "management",
    )

    assert text(RULE, fact, context) == (
        "template-edited-in-place: Metal3MachineTemplate acme-train/acme-train-infer-a03-0123456789 in cluster "
        "management\n"
        "  found:   a spec with digest 366cf9f4c0 but a name that ends with 0123456789\n"
        "  allowed: acme-train-infer-a03-366cf9f4c0: a template's name ends with the digest of its spec\n"
        "  why:     machines of one pool would differ without a rollout, and no check would detect it\n"
        "  fix:     change the pool's data and let the library render a new template; never edit a rendered template\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject "
        "Metal3MachineTemplate acme-train/acme-train-infer-a03-0123456789"
    )


def test_refuses_any_edit_of_a_rendered_template(rendered: Rendered, context: Context) -> None:
    verdicts = {RULE.judge(edited(fact, nodeReuse=None), context).verdict for fact in rendered("Metal3MachineTemplate")}

    assert verdicts == {Verdict.VIOLATION}


def test_an_unknown_value_anywhere_in_the_spec_is_refused_as_undecided(rendered: Rendered, context: Context) -> None:
    fact = edited(rendered("Metal3MachineTemplate")[0], extra=[{"deep": UNKNOWN}])

    finding = RULE.judge(fact, context)

    assert (finding.verdict, finding.found) == (
        Verdict.UNDECIDED,
        "spec is unknown until apply, so the rule cannot decide",
    )


@pytest.mark.parametrize("kind", ["IroncoreMetalMachineTemplate", "K0sWorkerConfigTemplate"])
def test_judges_the_templates_of_the_other_backends(
    kind: str, rendered_by_ironcore: Rendered, context: Context
) -> None:
    facts = rendered_by_ironcore(kind)

    assert facts
    assert {RULE.judge(fact, context).verdict for fact in facts} == {Verdict.PASS}
    assert {RULE.judge(edited(fact, more=1), context).verdict for fact in facts} == {Verdict.VIOLATION}
