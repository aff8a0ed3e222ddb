"""deprecated-image."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

import pytest

from components.specs.base import Stage
from components.specs.region.policy import Enforcement
from components.specs.struct import replace
from policies.facts import UNKNOWN, Context, Fact
from policies.rules.images.deprecated_image import RULE
from policies.verdict import Verdict

HGX = "4fc2b75b5380403940a628eee4db6d56b4927bac6491361e2877cb5f6aefb1de"
URL = "https://images.cloud.example/hgx-2026.11.1.raw"
Template = Callable[..., Fact]


def on(context: Context, day: str, stage: Stage = Stage.PRODUCTION) -> Context:
    return replace(context, now=dt.datetime.fromisoformat(f"{day}T12:00:00Z"), stage=stage)


@pytest.fixture
def fact(template: Template) -> Fact:
    return template(url=URL, checksum=HGX, checksumType="sha256")


def test_passes_an_image_that_is_maintained(fact: Fact, context: Context) -> None:
    assert RULE.judge(fact, on(context, "2027-03-02")).verdict is Verdict.PASS


def test_passes_everything_that_laptop_renders(rendered: Callable[[str], list[Fact]], context: Context) -> None:
    assert {RULE.judge(fact, context).verdict for fact in rendered("Metal3MachineTemplate")} == {Verdict.PASS}


def test_reports_deprecated_images(fact: Fact, context: Context, text: Callable[..., str]) -> None:
    late = on(context, "2027-03-03")

    assert RULE.judge(fact, late).level is None
    assert RULE.level(late) is Enforcement.ADVISORY
    assert text(RULE, fact, late) == (
        "deprecated-image: Metal3MachineTemplate acme-train/acme-train-infer-a03-0123456789 in cluster management\n"
        "  found:   hgx-2026.11.1, deprecated since 2027-03-03 (environments/catalog/images.yaml)\n"
        "  allowed: images of channel stable for h200-ib-8, b200-ib-8: none\n"
        "  why:     the image's kernel and drivers no longer get fixes\n"
        "  fix:     move the pool to another image with jacquard promote before 2027-05-03, when the image expires\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject acme-train/infer"
    )


@pytest.mark.parametrize(
    ("stage", "level"),
    [(Stage.PRODUCTION, Enforcement.MANDATORY), (Stage.DEVELOPMENT, Enforcement.MANDATORY), (Stage.REHEARSAL, None)],
)
def test_refuses_an_expired_image_except_in_a_local_region(
    stage: Stage, level: Enforcement | None, fact: Fact, context: Context
) -> None:
    finding = RULE.judge(fact, on(context, "2027-05-03", stage))

    assert (finding.verdict, finding.level) == (Verdict.VIOLATION, level)
    assert finding.found == "hgx-2026.11.1, expired since 2027-05-03 (environments/catalog/images.yaml)"
    assert finding.fix == "move the pool to another image with jacquard promote"


def test_an_image_that_no_catalogue_has_is_left_to_unpinned_image(template: Template, context: Context) -> None:
    assert RULE.judge(template(url=URL, checksum="0" * 64), context).verdict is Verdict.NOT_APPLICABLE


def test_an_unknown_checksum_is_refused_though_the_rule_is_advisory(template: Template, context: Context) -> None:
    finding = RULE.judge(template(url=URL, checksum=UNKNOWN), context)

    assert (finding.verdict, finding.level) == (Verdict.UNDECIDED, Enforcement.MANDATORY)
