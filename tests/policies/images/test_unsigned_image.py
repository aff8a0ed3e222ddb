"""unsigned-image."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from components.specs.base import Stage
from components.specs.region.policy import Enforcement
from components.specs.struct import replace
from policies.facts import UNKNOWN, Context, Fact
from policies.rules.images.unsigned_image import RULE
from policies.verdict import Verdict

SIGNED = "4fc2b75b5380403940a628eee4db6d56b4927bac6491361e2877cb5f6aefb1de"
UNSIGNED = "97e48efb44c0b4d9fe9e4fc38de45ad221078f1082bac897841dbf0f247f7030"
URL = "https://images.cloud.example/gpu-2026.10.2.raw"
Template = Callable[..., Fact]


@pytest.fixture
def production(context: Context) -> Context:
    return replace(context, stage=Stage.PRODUCTION)


def test_passes_an_image_with_a_signature(template: Template, production: Context) -> None:
    fact = template(url=URL, checksum=SIGNED, checksumType="sha256")

    assert RULE.judge(fact, production).verdict is Verdict.PASS


def test_refuses_an_image_without_a_signature(
    template: Template, production: Context, text: Callable[..., str]
) -> None:
    signed = tuple(image for image in production.images if image.version in {"gpu-2026.10.2", "hgx-2026.11.1"})
    context = replace(production, images=signed)

    assert text(RULE, template(url=URL, checksum=UNSIGNED, checksumType="sha256"), context) == (
        "unsigned-image: Metal3MachineTemplate acme-train/acme-train-infer-a03-0123456789 in cluster management\n"
        "  found:   gpu-2026.10.2, without a signature in environments/catalog/images.yaml\n"
        "  allowed: signed images of channel stable: hgx-2026.11.1\n"
        "  why:     a digest does not prove who built the image\n"
        "  fix:     sign it and add its signature to the catalogue, or pin a signed image with jacquard promote\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject acme-train/infer"
    )


def test_reports_a_signed_image_without_provenance(
    template: Template, production: Context, text: Callable[..., str]
) -> None:
    images = tuple(
        image.model_copy(
            update={"signature": image.signature and image.signature.model_copy(update={"provenance": None})}
        )
        for image in production.images
    )
    context = replace(production, images=images)
    fact = template(url=URL, checksum=SIGNED, checksumType="sha256")

    assert RULE.judge(fact, context).level is Enforcement.ADVISORY
    assert text(RULE, fact, context) == (
        "unsigned-image: Metal3MachineTemplate acme-train/acme-train-infer-a03-0123456789 in cluster management\n"
        "  found:   hgx-2026.11.1, without provenance in environments/catalog/images.yaml\n"
        "  allowed: signed images with a SLSA provenance of their builder\n"
        "  why:     a digest does not prove who built the image\n"
        "  fix:     let the builder sign a provenance, and add its URL to the signature in the catalogue\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject acme-train/infer"
    )


def test_finds_the_pools_of_laptop_that_run_one(rendered: Callable[[str], list[Fact]], production: Context) -> None:
    facts = rendered("Metal3MachineTemplate")

    found = {
        fact.at("metadata", "labels", "jacquard.dev/image"): RULE.judge(fact, production).verdict for fact in facts
    }
    assert found == {
        "cpu-2026.10.2": Verdict.VIOLATION,
        "gpu-2026.10.2": Verdict.VIOLATION,
        "gpu-2026.11.1": Verdict.PASS,
    }


def test_an_image_that_no_catalogue_has_is_left_to_unpinned_image(template: Template, production: Context) -> None:
    assert RULE.judge(template(url=URL, checksum="0" * 64), production).verdict is Verdict.NOT_APPLICABLE


def test_an_unknown_checksum_is_refused_as_undecided(template: Template, production: Context) -> None:
    finding = RULE.judge(template(url=URL, checksum=UNKNOWN), production)

    assert (finding.verdict, finding.level) == (Verdict.UNDECIDED, Enforcement.MANDATORY)
    assert finding.found == "spec.template.spec.image.checksum is unknown until apply, so the rule cannot decide"


@pytest.mark.parametrize("stage", [Stage.REHEARSAL, Stage.DEVELOPMENT, Stage.STAGING])
def test_other_stages_are_evaluated_only_if_enabled(stage: Stage, context: Context) -> None:
    other = replace(context, stage=stage)

    assert RULE.level(other) is None
    assert RULE.level(replace(other, levels={"unsigned-image": Enforcement.ADVISORY})) is Enforcement.ADVISORY
