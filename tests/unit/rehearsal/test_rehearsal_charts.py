"""Chart loading and the calls of helm; ``tests/e2e/add_ons/test_charts.py`` covers the results of the real helm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from jacquard.lab.rehearsal import charts
from jacquard.lab.rehearsal.charts import Charts, HelmError
from jacquard.lab.toolchain import binaries
from jacquard.machine.errors import ToolchainError

NFD = "node-feature-discovery"
ANSWER = """\
{kind: Deployment, spec: {limit: 1e+06}}
---
---
{kind: CustomResourceDefinition}
"""
HELM = """\
#!/bin/sh
cd "${0%/*}"
echo "$@" > asked
test -f answer || { echo no >&2; exit 1; }
cat answer
"""


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with MetalLB's module; helm records its arguments there (``asked``), and returns ``answer``."""
    helm = tmp_path / "helm"
    helm.write_text(HELM)
    helm.chmod(0o755)
    chart = tmp_path / "module" / "charts" / "metallb"
    (chart / "charts" / "crds").mkdir(parents=True)
    elsewhere = {"name": "elsewhere", "repository": "https://charts.example"}
    metadata = {"name": "metallb", "version": "7.0.0", "dependencies": [{"name": "crds"}, elsewhere]}
    (chart / "Chart.yaml").write_text(yaml.safe_dump(metadata))
    monkeypatch.setattr(binaries, "path", lambda _: helm)
    monkeypatch.setattr(binaries, "data", lambda _: tmp_path / "module")
    return tmp_path


def template(found: Charts) -> list[dict[str, Any]]:
    return found.template("metallb", "7.0.0", "lb", "metallb-system", {"a": 1}, "v1.36.3")


def test_without_helm_there_are_no_charts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Path:
        raise ToolchainError(name)

    monkeypatch.setattr(binaries, "path", missing)

    assert Charts.if_built(tmp_path) is None


def test_a_chart_is_here_in_its_own_version_and_that_of_its_module(module: Path) -> None:
    found = Charts(module / "copies")
    [carried] = charts.releases_by_chart()["metallb"]
    pinned = carried.version

    assert [found.has("metallb", version) for version in ("7.0.0", "v7.0.0", pinned, pinned[1:])] == [True] * 4
    assert (found.has("metallb", "7.0.1"), found.has("cilium", "7.0.0")) == (False, False)


def test_a_chart_that_is_whole_only_once_it_is_packaged_is_here_in_no_version(module: Path) -> None:
    [carried] = charts.releases_by_chart()["cluster-api-operator"]

    assert not Charts(module / "copies").has("cluster-api-operator", carried.version)


def test_the_requested_one_of_two_chart_releases_is_rendered(module: Path) -> None:
    """A promotion changes from one to the other, and back."""
    (module / "answer").write_text(ANSWER)
    (module / "module" / "deployment" / "helm").mkdir(parents=True)
    (module / "module" / "charts" / "metallb").rename(
        module / "module" / charts.releases_by_chart()[NFD][0].data.contents[0]
    )
    releases = charts.releases_by_chart()[NFD]
    found = Charts(module / "copies")

    rendered = []
    for one in releases:
        found.template(NFD, one.version, "nfd", "nfd", {}, "v1.36.3")
        rendered.append((module / "asked").read_text().split()[2])

    assert rendered == [str(module / "copies" / one.data.name) for one in releases]
    assert len(set(rendered)) == len(releases) == 2


def test_helm_gets_exactly_the_values_and_kinds_are_first(module: Path) -> None:
    (module / "answer").write_text(ANSWER)

    objects = template(Charts(module / "copies"))

    assert objects == [{"kind": "CustomResourceDefinition"}, {"kind": "Deployment", "spec": {"limit": 1_000_000}}]
    values = module / "copies" / "values.yaml"
    assert yaml.safe_load(values.read_text()) == {"a": 1}
    assert (module / "asked").read_text().split() == [
        *("template", "lb", str(module / "copies" / "metallb"), "--namespace", "metallb-system"),
        *("--values", str(values), "--include-crds", "--no-hooks", "--kube-version", "v1.36.3"),
    ]


def test_a_dependency_that_is_elsewhere_is_left_out_of_the_copy(module: Path) -> None:
    (module / "answer").write_text(ANSWER)

    template(Charts(module / "copies"))

    copy = yaml.safe_load((module / "copies" / "metallb" / "Chart.yaml").read_text())
    assert copy["dependencies"] == [{"name": "crds"}]


def test_helm_errors_are_reported_with_the_values(module: Path) -> None:
    with pytest.raises(HelmError) as caught:
        template(Charts(module / "copies"))

    assert str(caught.value) == "helm refuses metallb with {'a': 1}: no"
