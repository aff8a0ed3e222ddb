"""provider-without-cluster-identifier."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from policies.facts import PROVIDER, UNKNOWN, Context, Fact
from policies.rules.deployments.provider_without_cluster_identifier import RULE
from policies.verdict import Verdict


def provider(**inputs: Any) -> Fact:
    return Fact(kind=PROVIDER, title="provider kubernetes management", body=inputs)


def test_passes_a_provider_that_names_its_cluster(context: Context) -> None:
    assert RULE.judge(provider(clusterIdentifier="laptop/management"), context).verdict is Verdict.PASS


@pytest.mark.parametrize("inputs", [{}, {"clusterIdentifier": ""}, {"clusterIdentifier": None}])
def test_refuses_a_provider_without_one(inputs: dict[str, Any], context: Context, text: Callable[..., str]) -> None:
    assert text(RULE, provider(kubeconfig="/x", **inputs), context) == (
        "provider-without-cluster-identifier: provider kubernetes management\n"
        "  found:   no clusterIdentifier\n"
        "  allowed: a fixed name, <environment>/<cluster>, as components/resources.py sets it\n"
        "  why:     a renewed kubeconfig would replace every object in the cluster\n"
        "  fix:     access the cluster through components.resources.Cluster, never through a default provider\n"
        "  waiver:  add an entry to environments/laptop/waivers.yaml with subject provider "
        "kubernetes management"
    )


def test_an_unknown_identifier_is_refused_as_undecided(context: Context) -> None:
    finding = RULE.judge(provider(clusterIdentifier=UNKNOWN), context)

    assert (finding.verdict, finding.found) == (
        Verdict.UNDECIDED,
        "clusterIdentifier is unknown until apply, so the rule cannot decide",
    )
