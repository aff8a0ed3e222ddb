"""Priority classes that pods of a cluster may use."""

from __future__ import annotations

from components.inputs.slice_inputs import pod_priorities
from components.lookups.pools import clusters
from components.specs.environment import Environment
from components.specs.struct import replace


def test_a_cluster_has_exactly_the_listed_priorities(laptop: Environment) -> None:
    [placed] = [placed for placed in clusters(laptop) if placed.cluster.name == "globex-lab"]
    few = placed.cluster.model_copy(update={"pod_priorities": ("high", "low")})
    none = placed.cluster.model_copy(update={"pod_priorities": ()})

    [given] = pod_priorities(laptop, replace(placed, cluster=few))
    assert [item.name for item in given.render()] == ["low", "high"]
    assert list(pod_priorities(laptop, replace(placed, cluster=none))) == []


def test_a_pod_of_before_ranks_with_the_default_of_the_examples(laptop: Environment) -> None:
    # Existing pods keep priority 0 forever, and would be preempted first or last.
    [default] = (one for one in laptop.add_ons.pod_priorities if one.default)

    assert default.value == 0
