"""Pages are correct where a test can check it: each component has a page, links resolve, examples match."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.inputs.manifests import manifests
from components.lookups.slices import slices
from components.render.manifest import objects
from components.rules.checks import descriptions
from components.specs.reading.loader import load_environment
from jacquard.machine import paths
from tests.support.data.concepts import concept_names
from tests.support.docs.documents import DOCS, contained, has_target, links, pages, prose, text, yaml_blocks

PAGES = sorted(page for page in DOCS.glob("*/*.md") if page.parent.name not in {"adr", "reference"})
SHOWN = [
    (page.name, block)
    for page in pages()
    for block in yaml_blocks(page)
    if block.startswith(("# environments/", "# jacquard render "))
]
SHARED_PAGES = {"buckets": "storage.md", "vm_offering": "virtual-machines.md"}
"""Pages that describe more than the component of their name, by the other component."""
CONCEPTS = {"region.md", "storage.md", "tenant-network.md", "virtual-machines.md", "cluster-access.md"}
_PATH = re.compile(r"`((?:[a-z_]+/)+[\w.-]+\.(?:py|ya?ml|md|csv|json))`")
_RULES = re.compile(r"^\| rule \| refused \|\n\|[-|]+\|\n((?:\|.*\n)+)", re.MULTILINE)
_RENDERED = re.compile(r"# jacquard render ([\w-]+) --out DIR: ([\w-]+)/")


def is_so(block: str) -> bool:
    """Return whether ``block`` is contained in the file, or in the rendered object, that its first line names."""
    first, _, rest = block.partition("\n")
    shown = yaml.safe_load(rest)
    if rendered := _RENDERED.match(first):
        return any(contained(shown, body) for body in bodies(rendered[1], rendered[2]))
    return contained(shown, yaml.safe_load(text(paths.ROOT / first.removeprefix("# "))))


@cache
def bodies(name: str, cluster: str) -> list[Any]:
    """Return the objects of ``cluster`` in environment ``name``."""
    environment = load_environment(name, paths.ROOT / "environments")
    everything = [item for part in slices(environment) for item in objects(manifests(environment, part))]
    return [item.body for item in everything if item.cluster == cluster]


@pytest.mark.parametrize("concept", concept_names())
def test_each_component_has_a_page(concept: str) -> None:
    name = SHARED_PAGES.get(concept, f"{concept.replace('_', '-')}.md")

    assert name in {page.name for page in PAGES}


def test_the_index_lists_each_decision_with_its_title() -> None:
    rows = [
        f"| [{number}]({page.name}) | {title}"
        for page in sorted((DOCS / "adr").glob("0*.md"))
        for number, title in [text(page).partition("\n")[0].removeprefix("# ").split(". ", 1)]
    ]
    index = text(DOCS / "adr" / "README.md")

    assert [row for row in rows if row not in index] == []


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(paths.ROOT)))
def test_links_lead_somewhere(page: Path) -> None:
    assert [link for link in links(prose(page)) if not has_target(page, link)] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    named = [name for name in _PATH.findall(prose(page)) if (paths.ROOT / name.partition("/")[0]).is_dir()]

    assert [name for name in named if not (paths.ROOT / name).is_file()] == []


@pytest.mark.parametrize(("page", "block"), SHOWN, ids=[f"{page}-{number}" for number, (page, _) in enumerate(SHOWN)])
def test_data_that_a_page_shows_are_those_of_the_file(page: str, block: str) -> None:
    assert is_so(block), f"{page} shows what is not so:\n{block}"


def test_each_page_of_a_concept_shows_data() -> None:
    assert {page for page, _ in SHOWN} >= CONCEPTS


@pytest.mark.parametrize("page", sorted(CONCEPTS - {"region.md", "cluster-access.md"}))
def test_rules_in_tables_of_pages_are_rules(page: str) -> None:
    [table] = _RULES.findall(text(next(DOCS.glob(f"*/{page}"))))
    named = [name for row in table.splitlines() for name in re.findall(r"`([^`]+)`", row.split("|")[1])]

    assert named
    assert [name for name in named if name not in descriptions()] == []


@pytest.mark.parametrize(
    "block",
    [
        "# environments/laptop/region.yaml\nregion: desktop\n",
        "# environments/laptop/region.yaml\nsites: [{name: desk, halls: [b]}]\n",
        "# environments/laptop/region.yaml\nno_such_key: 1\n",
        "# jacquard render laptop --out DIR: acme-train/x.yaml\nkind: ClusterRoleBinding\nmetadata: {name: nobody}\n",
    ],
)
def test_data_that_are_not_so_are_found(block: str) -> None:
    assert not is_so(block)


def test_entries_of_the_changelog_have_one_line_each() -> None:
    lines = text(paths.ROOT / "CHANGELOG.md").splitlines()

    assert [line for line in lines if line.startswith(" ") or len(line) > 120] == []
