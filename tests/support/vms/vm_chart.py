"""The chart of tenants' virtual machines, rendered by the real helm: many orders in one run, each under an alias."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components.inputs.vm_offering import of_cluster
from components.lookups.pools import clusters
from components.render.vms.vm_offering import VmOfferingInput
from components.specs.vms.vm_chart import FOLDER, NAME
from jacquard.lab.rehearsal.charts import HELM_HOMES
from jacquard.machine import paths
from tests.support.data.environment_data import reference
from tests.support.machine.built_programs import built

_SOURCE = re.compile(r"^# Source: orders/charts/(o[0-9]+)/", re.MULTILINE)


def offerings(name: str) -> list[VmOfferingInput]:
    """Return the VM offering of each cluster of the environment ``name``."""
    found = reference(name)
    return [offering for placed in clusters(found) for offering in of_cluster(found, placed)]


def rendered(folder: Path, orders: Mapping[str, Any], namespace: str) -> dict[str, list[dict[str, Any]]]:
    """Return the objects of each order, from a parent chart with one dependency on ours for each order."""
    aliases = {f"o{number}": name for number, name in enumerate(orders)}
    chart = folder / "orders"
    shutil.copytree(paths.ROOT / FOLDER, chart / "charts" / NAME)
    needed = [{"name": NAME, "version": "*", "alias": alias} for alias in aliases]
    metadata = {"apiVersion": "v2", "name": "orders", "version": "0.1.0", "dependencies": needed}
    (chart / "Chart.yaml").write_text(yaml.safe_dump(metadata))
    done = helm(chart, {alias: orders[name] for alias, name in aliases.items()}, namespace)
    assert done.returncode == 0, done.stderr
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in orders}
    for text in done.stdout.split("\n---\n"):
        if source := _SOURCE.search(text):
            found[aliases[source[1]]].append(yaml.safe_load(text))
    return found


def refusal(folder: Path, values: Mapping[str, Any], namespace: str) -> str:
    """Return helm's error for rejected values."""
    done = helm(paths.ROOT / FOLDER, values, namespace, folder)
    assert done.returncode, done.stdout
    return done.stderr


def helm(
    chart: Path, values: Mapping[str, Any], namespace: str, folder: Path | None = None
) -> subprocess.CompletedProcess[str]:
    """Render a chart, with helm's own files in ``folder``."""
    home = folder or chart.parent
    (file := home / "values.yaml").write_text(yaml.safe_dump(dict(values)))
    return subprocess.run(
        [built("helm"), "template", "order", chart, "--namespace", namespace, "--values", file],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env={**os.environ, **dict.fromkeys(HELM_HOMES, str(home))},
    )
