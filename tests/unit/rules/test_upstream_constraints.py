"""The page on upstream's constraints only names existing rules, policies, fields, modules and pages."""

from __future__ import annotations

import importlib
import pkgutil
import re

import pytest

import components.specs
from components.rules.checks import descriptions
from components.specs.base import Spec
from components.specs.region.cluster_api import numbers
from jacquard.machine import paths
from policies.rules import RULES
from tests.support.data.workbench import Workbench
from tests.support.docs.documents import DOCS, has_target, links

PAGE = DOCS / "reference/upstream-constraints.md"
_NAME = re.compile(r"`([^`]+)`")
_FIELD = re.compile(r"([A-Z]\w+)\.(\w+)")
_SOURCE = re.compile(r"([\w./-]+):[\w./-]+")
_SHORT = re.compile(r"^- (\w+): [\w.-]+/[\w.-]+$", re.MULTILINE)
_CAPI = re.compile(r"\b(?:CAPI|kubernetes-sigs/cluster-api):([\w./-]+)")
_ROW = re.compile(r"\| (.+) \| (.+) \| (.+) \|")


def rows(column: int = 3) -> list[str]:
    """Return the content of ``column`` in each row, by default the last one."""
    lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    parts = [_ROW.fullmatch(line) for line in lines if not set(line) <= set("|-")]
    assert None not in parts, "a row has three columns"
    return [part[column] for part in parts if part and part[3] != "enforced by"]


def missing(cell: str) -> list[str]:
    """Return the names in ``cell`` that do not exist; a flag or path of an upstream kind begins with a slash.

    Paths of files are relative to ``components`` or to the repository.
    """
    names = [name for name in _NAME.findall(cell) if not name.startswith("/")]
    return [name for name in names if not _named(name)] + [link for link in links(cell) if not has_target(PAGE, link)]


def _named(name: str) -> bool:
    if field := _FIELD.fullmatch(name):
        return field[2] in _models().get(field[1], ())
    if name.endswith((".py", ".yaml")):
        return any((folder / name).is_file() for folder in (paths.ROOT, paths.ROOT / "components"))
    return name in descriptions() or name in {rule.name for rule in RULES}


def _models() -> dict[str, frozenset[str]]:
    modules = [
        importlib.import_module(module.name)
        for module in pkgutil.walk_packages(components.specs.__path__, f"{components.specs.__name__}.")
    ]
    every = [item for module in modules for item in vars(module).values() if isinstance(item, type)]
    return {item.__name__: frozenset(item.model_fields) for item in every if issubclass(item, Spec)}


def test_each_row_names_existing_checks() -> None:
    cells = rows()

    assert len(cells) > 50
    assert [cell for cell in cells if not (_NAME.search(cell) or links(cell))] == []
    assert [name for cell in cells for name in missing(cell)] == []


def test_each_source_is_a_repository_or_a_short_name_that_the_page_tells() -> None:
    documented = set(_SHORT.findall(PAGE.read_text(encoding="utf-8")))
    named = {name for cell in rows(column=2) for name in _SOURCE.findall(cell) if "/" not in name}

    assert named
    assert named - documented == set()


def test_sources_of_cluster_api_have_the_paths_of_the_pinned_minor_version(laptop: Workbench) -> None:
    """Cluster API moved its controllers after 1.13: paths of its main branch do not exist at the pinned tag."""
    pinned = laptop.load().versions.cluster_api.core or ""
    pages = [PAGE, *(paths.ROOT / "components").rglob("*.yaml"), *(paths.ROOT / "components").rglob("*.py")]
    sources = [source for page in pages for source in _CAPI.findall(page.read_text(encoding="utf-8"))]

    assert numbers(pinned)[:2] == (1, 13), "review the paths of sources, then name the new minor version here"
    assert len(sources) > 30
    assert [source for source in sources if "/reconcilers/" in source] == []


@pytest.mark.parametrize(
    "name",
    ["clusters.no-such-rule", "no-such-policy", "ClusterSpec.nothing", "NoSpec.name", "render/nothing.py"],
)
def test_a_name_in_vain_is_found(name: str) -> None:
    assert missing(f"written: `{name}`, `/events`") == [name]


@pytest.mark.parametrize("link", ["no-page.md", "../pools/node-pool.md#no-such-part"])
def test_a_link_in_vain_is_found(link: str) -> None:
    assert missing(f"[there]({link}) [here](../pools/node-pool.md#how-a-node-boots)") == [link]
