"""Rule about labels, annotations and taints of pools in the domains of Kubernetes."""

import datetime as dt
from collections.abc import Iterator

from components.lookups.pools import DataPath, PlacedPool, pools, problem
from components.rules.rule import AdvisoryPeriod, Rules, advisory
from components.specs.environment import Environment
from components.specs.reading.loader import WAIVERS
from components.specs.reading.problems import Problem

DOMAINS = ("kubernetes.io", "k8s.io")
"""Domains that Kubernetes reserves, with their subdomains (website: reference/labels-annotations-taints)."""
ROLES = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
"""Labels by which schedulers, load balancers and operators recognise nodes of a control plane."""


@advisory(AdvisoryPeriod(since="0.2.0", binding=dt.date(2027, 3, 1)))
def kubernetes(environment: Environment) -> Iterator[Problem]:
    """Report labels of control-plane nodes, and annotations and taints in domains that Kubernetes reserves.

    Other labels in these domains are rejected by the schema of the file, except those of roles and restrictions.
    """
    for placed in pools(environment):
        for path, key in _reserved(placed):
            owner = "marks nodes of control planes" if key in ROLES else "is in a domain that Kubernetes reserves"
            text = (
                f"'{key}' {owner}; write a key in a domain of the tenant, or add a waiver for {placed.key} to {WAIVERS}"
            )
            yield problem(environment, placed.file, (*placed.path, *path), text, placed.key)


def _reserved(placed: PlacedPool) -> Iterator[tuple[DataPath, str]]:
    pool = placed.pool
    yield from ((("labels", key), key) for key in pool.labels if key in ROLES)
    yield from ((("annotations", key), key) for key in pool.annotations if is_reserved(key))
    yield from ((("taints", at, "key"), taint.key) for at, taint in enumerate(pool.taints) if is_reserved(taint.key))


def is_reserved(key: str) -> bool:
    """Return whether the domain of ``key`` is reserved by Kubernetes; a domain such as ``x-k8s.io`` is not."""
    domain, slash, _ = key.rpartition("/")
    return bool(slash) and f".{domain}".endswith(tuple(f".{name}" for name in DOMAINS))


RULES = Rules(data=(kubernetes,), waivable=(kubernetes,))
