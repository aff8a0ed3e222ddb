"""Every name fits the limit of its kind, for arbitrary names in the data."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.inputs.manifests import manifests
from components.inputs.slice_inputs import inputs
from components.lookups.slices import slices
from components.render.manifest import objects
from components.render.network.tenant_network import TenantNetworkInput
from components.render.objects import fit
from components.render.pools.node_pool import NodePoolInput
from components.specs.struct import replace
from tests.support.data.environment_data import REFERENCES, reference

LIMITS = {
    "DPUDeployment": 20,
    "DPUNode": 48,
    "BFB": 187,
    "HelmRelease": 53,
    "MachineDeployment": 63,
    "MachineHealthCheck": 63,
    "KamajiControlPlane": 63,
    "Cluster": 63,
    "Namespace": 63,
    "DataVolume": 63,
    "VirtualMachine": 63,
    "Service": 63,
}
"""Maximum length in characters; all other kinds accept a DNS subdomain of 253."""
LAPTOP = reference("laptop")
EVERY = [item for part in slices(LAPTOP) for item in inputs(LAPTOP, part)]
POOL = next(item for item in EVERY if isinstance(item, NodePoolInput))
VPCS = [item for item in EVERY if isinstance(item, TenantNetworkInput)]


def label(most: int) -> st.SearchStrategy[str]:
    return st.from_regex(rf"[a-z]([-a-z0-9]{{0,{most - 2}}}[a-z0-9])?", fullmatch=True)


def assert_names_fit(items: list[tuple[str, str]]) -> None:
    for kind, name in items:
        assert len(name) <= LIMITS.get(kind, 253), f"{kind} {name}"
        assert name[-1].isalnum()


@pytest.mark.parametrize("name", REFERENCES)
def test_all_names_of_an_environment_fit(name: str) -> None:
    environment = reference(name)
    every = (item for part in slices(environment) for item in objects(manifests(environment, part)))

    assert_names_fit([(item.kind, item.name) for item in every])


@given(cluster=label(30), pool=label(15), domain=label(63))
def test_names_of_a_pool_fit(cluster: str, pool: str, domain: str) -> None:
    one = replace(
        POOL,
        name=f"{cluster}-{pool}",
        cluster=cluster,
        spec=POOL.spec.model_copy(update={"name": pool}),
        groups=(replace(POOL.groups[0], failure_domain=domain),),
    )

    assert_names_fit([(item.kind, item.name) for item in objects(one.render())])


@given(name=label(15))
def test_names_of_a_vpc_fit(name: str) -> None:
    for network in VPCS:
        spec = network.vpc.spec.model_copy(update={"name": name})
        platform = replace(network.platform, intents={name: network.platform.intents[network.vpc.spec.name]})
        one = replace(network, name=name, vpc=replace(network.vpc, spec=spec), platform=platform)
        assert_names_fit([(item.kind, item.name) for item in objects(one.render())])


@given(first=label(80), second=label(80), limit=st.integers(20, 63))
def test_a_cut_name_keeps_two_names_apart(first: str, second: str, limit: int) -> None:
    assert (fit(first, limit) == fit(second, limit)) == (first == second)
    assert len(fit(first, limit)) <= limit
