"""unpinned-image."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from components.specs.struct import replace
from policies.facts import UNKNOWN, Context, Fact, object_fact
from policies.rules.images.unpinned_image import RULE
from policies.verdict import Verdict

URL = "https://images.cloud.example/gpu-2026.11.1.raw"
SHA256 = "b13f7705e3724cc35993b9e3e3071932539c60ca87404877b8d58949598a02e7"
OTHER_SHA256 = "97e48efb44c0b4d9fe9e4fc38de45ad221078f1082bac897841dbf0f247f7030"
RIGHT = {"url": URL, "checksum": SHA256, "checksumType": "sha256"}
Text = Callable[..., str]
Template = Callable[..., Fact]


def test_passes_an_image_of_the_catalogue_by_its_digest(template: Template, context: Context) -> None:
    assert RULE.judge(template(**RIGHT), context).verdict is Verdict.PASS


def test_passes_pinned_images_after_a_change_of_the_catalogues_mirror(template: Template, context: Context) -> None:
    images = tuple(
        image.model_copy(update={"url": "https://mirror.cloud.example/gpu-2026.11.1.raw"})
        if image.sha256 == SHA256
        else image
        for image in context.images
    )
    moved = replace(context, images=images)

    assert RULE.judge(template(**RIGHT), moved).verdict is Verdict.PASS
    assert RULE.judge(template(**RIGHT), replace(moved, locked=frozenset())).verdict is Verdict.VIOLATION


def test_passes_everything_that_laptop_renders(rendered: Callable[[str], list[Fact]], context: Context) -> None:
    facts = rendered("Metal3MachineTemplate")

    assert len(facts) == 7
    assert {RULE.judge(fact, context).verdict for fact in facts} == {Verdict.PASS}


def test_is_not_applicable_to_other_kinds(context: Context) -> None:
    fact = object_fact({"kind": "ConfigMap", "metadata": {"name": "x"}}, "management")

    assert RULE.judge(fact, context).verdict is Verdict.NOT_APPLICABLE


def test_refuses_a_checksum_that_is_a_url(template: Template, context: Context, text: Text) -> None:
    fact = template(**RIGHT | {"checksum": f"{URL}.sha256sum"})

    assert text(RULE, fact, context) == (
        "unpinned-image: Metal3MachineTemplate acme-train/acme-train-infer-a03-0123456789 in cluster management\n"
        f"  found:   checksum {URL}.sha256sum, which is not the 64 hex digits of a SHA-256\n"
        f"  allowed: sha256 {SHA256} for gpu-2026.11.1 (environments/catalog/images.yaml)\n"
        "  why:     an unpinned image can change, so that two nodes of one pool would boot different software\n"
        "  fix:     set a catalogue version as the pool's image, and run jacquard promote to pin its digest\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject acme-train/infer"
    )


@pytest.mark.parametrize(
    ("image", "found"),
    [
        ({}, "no image"),
        (RIGHT | {"checksumType": "md5"}, f"checksumType md5 (checksum {SHA256})"),
        ({"url": URL, "checksum": SHA256}, f"checksumType missing (checksum {SHA256})"),
        ({"url": URL, "checksumType": "sha256"}, "checksum missing, which is not the 64 hex digits of a SHA-256"),
        (RIGHT | {"checksum": SHA256[:-1]}, f"checksum {SHA256[:-1]}, which is not the 64 hex digits of a SHA-256"),
        (
            RIGHT | {"checksum": SHA256.upper()},
            f"checksum {SHA256.upper()}, which is not the 64 hex digits of a SHA-256",
        ),
        (RIGHT | {"checksum": OTHER_SHA256}, f"{URL} with sha256 {OTHER_SHA256} of gpu-2026.10.2"),
        (RIGHT | {"checksum": "0" * 64}, f"{URL} with sha256 {'0' * 64}, which is not in the catalogue"),
        (
            RIGHT | {"url": "https://evil.example/x.raw"},
            f"https://evil.example/x.raw with sha256 {SHA256} of gpu-2026.11.1",
        ),
    ],
)
def test_refuses_all_other_digests_than_the_catalogues(
    image: dict[str, Any], found: str, template: Template, context: Context
) -> None:
    finding = RULE.judge(template(**image), context)

    assert (finding.verdict, finding.found) == (Verdict.VIOLATION, found)


def test_refuses_everything_without_a_catalogue(template: Template, now: dt.datetime) -> None:
    finding = RULE.judge(template(**RIGHT), Context(stack="nowhere", now=now))

    assert (finding.verdict, finding.allowed) == (
        Verdict.VIOLATION,
        "the images of environments/catalog/images.yaml: none",
    )


@pytest.mark.parametrize("field", ["url", "checksum", "checksumType"])
def test_an_unknown_value_is_refused_as_undecided(field: str, template: Template, context: Context, text: Text) -> None:
    fact = template(**RIGHT | {field: UNKNOWN})

    assert RULE.judge(fact, context).verdict is Verdict.UNDECIDED
    assert text(RULE, fact, context) == (
        "unpinned-image: Metal3MachineTemplate acme-train/acme-train-infer-a03-0123456789 in cluster management\n"
        f"  found:   spec.template.spec.image.{field} is unknown until apply, so the rule cannot decide\n"
        "  allowed: a value from the data of the environment\n"
        "  why:     an unpinned image can change, so that two nodes of one pool would boot different software\n"
        "  fix:     render the value from the data instead of using the output of another resource\n"
        "  waiver:  none: a finding that cannot be evaluated cannot be waived"
    )


SERVER = URL.removeprefix("https://")


def test_passes_a_server_image_of_the_catalogue_by_its_digest(
    server_template: Callable[[Any], Fact], context: Context
) -> None:
    assert RULE.judge(server_template(f"{SERVER}@sha256:{SHA256}"), context).verdict is Verdict.PASS


@pytest.mark.parametrize(
    ("image", "found"),
    [
        (None, "no image"),
        ({"url": URL}, "an image that is not a string"),
        (f"{SERVER}:latest", f"{SERVER}:latest, which does not end with @sha256: and 64 hex digits"),
        (f"{SERVER}@{SHA256}", f"{SERVER}@{SHA256}, which does not end with @sha256: and 64 hex digits"),
        (
            f"{SERVER}@sha256:{SHA256[:-1]}",
            f"{SERVER}@sha256:{SHA256[:-1]}, which does not end with @sha256: and 64 hex digits",
        ),
        (f"{SERVER}@sha256:{OTHER_SHA256}", f"{URL} with sha256 {OTHER_SHA256} of gpu-2026.10.2"),
        (f"{SERVER}:1@sha256:{SHA256}", f"{URL}:1 with sha256 {SHA256} of gpu-2026.11.1"),
    ],
)
def test_refuses_a_server_image_that_is_not_the_catalogues_digest(
    image: Any, found: str, server_template: Callable[[Any], Fact], context: Context
) -> None:
    finding = RULE.judge(server_template(image), context)

    assert (finding.verdict, finding.found) == (Verdict.VIOLATION, found)


def test_an_unknown_server_image_is_refused_as_undecided(
    server_template: Callable[[Any], Fact], context: Context
) -> None:
    finding = RULE.judge(server_template(UNKNOWN), context)

    assert (finding.verdict, finding.found) == (
        Verdict.UNDECIDED,
        "spec.template.spec.image is unknown until apply, so the rule cannot decide",
    )
