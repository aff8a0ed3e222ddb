"""Resources in the roles of slices, compared with the names that projects publish."""

from __future__ import annotations

from collections import defaultdict
from itertools import chain

import pytest

from components.render.region.engine.rights import EVERYWHERE, RIGHTS
from tests.support.objects.published_crds import BUILT_IN, CrdFolder

_BUILT_IN = {version.partition("/")[0] if "/" in version else "" for version in BUILT_IN}
RESOURCES: dict[str, set[str]] = defaultdict(set)
for _group, _names in chain.from_iterable(
    table.items() for table in (*(rights.changes for rights in RIGHTS.values()), *EVERYWHERE.values())
):
    RESOURCES[_group].update(_names)


@pytest.mark.parametrize("group", sorted(RESOURCES.keys() - _BUILT_IN))
def test_the_names_of_resources_are_those_of_their_definitions(group: str) -> None:
    assert RESOURCES[group] - CrdFolder().plurals(group) == set()
