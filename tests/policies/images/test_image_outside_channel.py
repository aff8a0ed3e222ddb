"""image-outside-channel."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable

from components.specs.region.catalog import Channel
from components.specs.struct import replace
from policies.facts import UNKNOWN, Context, Fact
from policies.rules.images.image_outside_channel import RULE
from policies.verdict import Verdict

STABLE = "b13f7705e3724cc35993b9e3e3071932539c60ca87404877b8d58949598a02e7"
CANDIDATE = "a0283af6456d23a24bd75582ee2428cfd67a37477179f83fb0575fd08190d5d8"
Text = Callable[..., str]
Template = Callable[..., Fact]


def test_passes_an_image_that_the_channel_offers(template: Template, context: Context) -> None:
    assert RULE.judge(template(checksum=STABLE), context).verdict is Verdict.PASS


def test_passes_everything_that_laptop_renders(rendered: Callable[[str], list[Fact]], context: Context) -> None:
    verdicts = {RULE.judge(fact, context).verdict for fact in rendered("Metal3MachineTemplate")}

    assert verdicts == {Verdict.PASS}


def test_refuses_a_candidate_in_a_stable_environment(template: Template, context: Context, text: Text) -> None:
    assert text(RULE, template(checksum=CANDIDATE), context) == (
        "image-outside-channel: Metal3MachineTemplate acme-train/acme-train-infer-a03-0123456789 "
        "in cluster management\n"
        "  found:   gpu-2026.12.0 (channel candidate)\n"
        "  allowed: channel stable of environments/laptop/region.yaml offers gpu-2026.10.2, gpu-2026.11.1, "
        "cpu-2026.10.2, hgx-2026.11.1, gb-2026.10.2, gb-2026.11.1, eth-2026.11.1, cpu-2026.11.1, cpu-net-2026.11.1,"
        " gpu-2026.11.3 and 4 more (environments/catalog/images.yaml)\n"
        "  why:     an immature or defective image would run on tenants' nodes\n"
        "  fix:     pin an offered image with jacquard promote, or add the channel to the image once it is mature\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject acme-train/infer"
    )


def test_refuses_an_image_that_no_catalogue_has(template: Template, context: Context) -> None:
    finding = RULE.judge(template(checksum="0" * 64), context)

    assert (finding.verdict, finding.found) == (Verdict.VIOLATION, f"checksum {'0' * 64}")


def test_a_channel_that_offers_nothing_refuses_everything(template: Template, context: Context) -> None:
    stable_only = tuple(image for image in context.images if Channel.LATEST not in image.channel)
    empty = replace(context, images=stable_only, channel=Channel.LATEST)

    finding = RULE.judge(template(checksum=STABLE), empty)

    assert finding.verdict is Verdict.VIOLATION
    assert finding.allowed == (
        "channel latest of environments/laptop/region.yaml offers none (environments/catalog/images.yaml)"
    )


def test_a_stack_of_no_environment_allows_nothing(template: Template, text: Text, now: dt.datetime) -> None:
    assert text(RULE, template(checksum=STABLE), Context(stack="scratch", now=now)) == (
        "image-outside-channel: Metal3MachineTemplate acme-train/acme-train-infer-a03-0123456789 "
        "in cluster management\n"
        f"  found:   checksum {STABLE}\n"
        "  allowed: none: stack scratch belongs to no readable environment\n"
        "  why:     an immature or defective image would run on tenants' nodes\n"
        "  fix:     rename the stack to <environment> or <environment>.<slice>, and fix the errors of jacquard check\n"
        "  waiver:  add an entry to environments/scratch/waivers.yaml with subject acme-train/infer"
    )


def test_an_unknown_checksum_is_refused_as_undecided(template: Template, context: Context) -> None:
    finding = RULE.judge(template(checksum=UNKNOWN), context)

    assert finding.verdict is Verdict.UNDECIDED
    assert finding.found == "spec.template.spec.image.checksum is unknown until apply, so the rule cannot decide"


def test_refuses_a_revoked_image_and_does_not_offer_it(template: Template, context: Context) -> None:
    images = tuple(
        image.model_copy(update={"revoked": "its kernel lets pods leave their node"} if image.sha256 == STABLE else {})
        for image in context.images
    )

    finding = RULE.judge(template(checksum=STABLE), replace(context, images=images))

    assert finding.found == "gpu-2026.11.1 (revoked: its kernel lets pods leave their node)"
    assert " gpu-2026.10.2, cpu-2026.10.2, " in finding.allowed
