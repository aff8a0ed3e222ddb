"""chart-outside-channel."""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from components.specs.region.catalog import Channel
from components.specs.struct import replace
from policies.facts import UNKNOWN, Context, Fact, object_fact
from policies.rules.images.chart_outside_channel import RULE
from policies.verdict import Verdict


def source(context: Context, digest: Any = None) -> Fact:
    """Return the source of Cilium in a cluster."""
    digest = digest or next(one.digest for one in context.charts if one.name == "cilium")
    body = {
        "kind": "OCIRepository",
        "metadata": {"namespace": "acme-train", "name": "cilium"},
        "spec": {"ref": {"digest": digest}},
    }
    return object_fact(body, "management")


def _folder(fact: Fact) -> str:
    """Return the registry folder of a source."""
    return str(fact.at("spec", "url")).split("/")[-2]


def with_cilium(context: Context, **changes: Any) -> Context:
    """Return ``context`` with another row of Cilium."""
    charts = (one.model_copy(update=changes) if one.name == "cilium" else one for one in context.charts)
    return replace(context, charts=tuple(charts))


def test_passes_every_chart_that_laptop_renders(rendered: Callable[[str], list[Fact]], context: Context) -> None:
    judged = {(_folder(fact), RULE.judge(fact, context).verdict) for fact in rendered("OCIRepository")}

    assert judged == {("charts", Verdict.PASS), ("manifests", Verdict.NOT_APPLICABLE)}


def test_refuses_a_release_that_was_revoked(context: Context, text: Callable[..., str]) -> None:
    assert text(RULE, source(context), with_cilium(context, revoked="loses packets")) == (
        "chart-outside-channel: OCIRepository acme-train/cilium in cluster management\n"
        "  found:   cilium 1.20.0 (revoked: loses packets)\n"
        "  allowed: channel stable of environments/laptop/region.yaml offers none"
        " (environments/catalog/versions.yaml)\n"
        "  why:     an immature or defective release would run on tenants' nodes\n"
        "  fix:     move clusters to an offered release with jacquard promote laptop charts/cilium\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject OCIRepository"
        " acme-train/cilium"
    )


@pytest.mark.parametrize(
    ("channel", "verdict"),
    [((Channel.CANDIDATE,), Verdict.VIOLATION), ((Channel.STABLE, Channel.CANDIDATE), Verdict.PASS)],
)
def test_uses_the_channel_of_the_environment(context: Context, channel: Any, verdict: Verdict) -> None:
    assert RULE.judge(source(context), with_cilium(context, channel=channel)).verdict is verdict


def test_a_source_that_no_catalogue_has_is_for_others_to_judge(context: Context, now: dt.datetime) -> None:
    assert RULE.judge(source(context, "sha256:0"), context).verdict is Verdict.NOT_APPLICABLE
    assert RULE.judge(source(context), Context(stack="scratch", now=now)).verdict is Verdict.NOT_APPLICABLE


def test_an_unknown_digest_is_refused_as_undecided(context: Context) -> None:
    assert RULE.judge(source(context, UNKNOWN), context).verdict is Verdict.UNDECIDED
