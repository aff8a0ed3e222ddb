"""Benchmark: a change of a large region, from ``jacquard preview --base`` to the pull request comment.

The real engine and program first apply the stacks of all tenants to an API server with their kinds and namespaces and
without controllers; the benchmark writes the status that the stacks wait for. From that state two changes are previewed
with the policy pack: another image for one pool of one tenant, and a label for every pool of every tenant. Candidate
images are released first. Inventory and foundation render the same before and after, and are not applied. The baseline
is a preview of a stack without resources.

python tests/bench/preview_change.py [--pool borealis-train/h100] [--image gpu-2026.12.0] [--rounds 3] [--json FILE]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from impact import JACQUARD, every_pool, git, run
from make_up import EMPTY
from region_model import largest, shown
from support import ENVIRONMENTS, LocalApiServer, meanwhile, measured

from components.inputs.manifests import manifests
from components.lookups.references.table import references_table
from components.lookups.references.walk import missing_targets
from components.lookups.slices import SliceKind, slices
from components.render.manifest import MANAGEMENT, Manifest, objects
from components.specs.reading.loader import load_environment
from jacquard.engine.driver import Engine
from jacquard.engine.parallel import side_by_side
from jacquard.engine.parallelism import at_once
from jacquard.lab.toolchain import environment
from jacquard.machine import paths
from jacquard.providers.kube import ApiServer, ObjectRef
from jacquard.starters.region import repository

BARS = {
    "one pool, seconds": 15.0,
    "every pool, seconds": 120.0,
}
_PROJECT = ("Pulumi.yaml", "program", "policy-pack")
_LOOK_SECONDS = 0.5
_GIVEN: dict[str, dict[str, Any]] = {"StorageClass": {"provisioner": "bench"}, "Secret": {}, "ConfigMap": {}}
"""Kinds of prerequisites, with their required fields; the keys of a Secret or ConfigMap."""
_REQUIRED = {"KamajiControlPlane": {"externalManagedControlPlane": True, "ready": True}}
"""Status fields that a kind's schema requires."""


class Base:
    """A repository of regions whose only commit is applied for the tenants."""

    def __init__(self, folder: Path, name: str) -> None:
        self.folder, self.name = folder, name
        self.data = Path(shutil.copytree(ENVIRONMENTS, folder / "environments"))
        for file, text in repository(name).items():
            if file.split("/")[0] in _PROJECT:
                (folder / file).parent.mkdir(exist_ok=True)
                (folder / file).write_text(text)
        (folder / ".venv").symlink_to(paths.VENV)
        os.environ |= {
            "JACQUARD_ENVIRONMENTS": str(self.data),
            "JACQUARD_HOME": str(folder / "home"),
            "PULUMI_CONFIG_PASSPHRASE": environment.REHEARSAL_PASSPHRASE,
        }
        (folder / "state").mkdir()
        state = f'state: {{backend: "file://{folder / "state"}?metadata=skip", secrets_provider: passphrase}}'
        region = self.data / name / "region.yaml"
        text = re.sub(r"^engine:.*\n(?: .*\n)*", "", region.read_text(), count=1, flags=re.MULTILINE)
        region.write_text(re.sub(r"^state:.*$", state, text, count=1, flags=re.MULTILINE))
        catalogue = self.data / "catalog" / "images.yaml"
        catalogue.write_text(catalogue.read_text().replace("channel: [candidate]", "channel: [candidate, stable]"))
        for command in (("init", "-q"), ("add", "environments"), ("commit", "-qm", "data")):
            git(folder, *command)
        self.region = load_environment(name, self.data)
        backend = self.region.region.state.backend if self.region.region.state else None
        os.environ |= environment.engine(name, backend_url=backend)
        self.empty = folder / "empty"
        self.empty.mkdir()
        (self.empty / "Pulumi.yaml").write_text(EMPTY.format(venv=paths.VENV))
        (self.empty / "__main__.py").touch()
        pieces = [piece for piece in slices(self.region) if piece.kind is SliceKind.TENANT]
        self.stacks = [f"{name}.{piece.name}" for piece in pieces]
        rendered = tuple(item for piece in pieces for item in manifests(self.region, piece))
        self.objects = list(objects(rendered))
        self.namespaces = {item.namespace for item in (*rendered, *self.objects) if item.namespace}

    @contextmanager
    def applied(self) -> Iterator[None]:
        """Apply all stacks of tenants, and run their API server until the block ends."""
        kubeconfig = paths.kubeconfig(self.name, "management")
        kubeconfig.parent.mkdir(parents=True)
        kinds = {item.kind for item in self.objects}
        context = self.region.region.context or "test"
        server = LocalApiServer(self.folder / "server", kinds=kinds, kubeconfig=kubeconfig, context=context)
        try:
            for namespace in self.namespaces:
                server.namespace(namespace)
            self._give(server.api)
            with reporting(server.api, [item for item in self.objects if item.readiness]):
                self._apply()
            yield
        finally:
            server.stop()

    def _give(self, api: ApiServer) -> None:
        """Create the prerequisites of a stack, if this API server has their kinds."""
        for one in missing_targets(self.objects, references_table(), self.objects).values():
            group, _, kind = one.target.kind.rpartition("/")
            if one.target.cluster == MANAGEMENT and kind in _GIVEN:
                place = {"namespace": one.target.namespace} if one.target.namespace else {}
                body = {"apiVersion": api.version(group, kind), "kind": kind}
                content = _GIVEN[kind] or {"data": dict.fromkeys(one.keys, "")}
                api.create(body | {"metadata": {"name": one.target.name} | place} | content, field_manager="bench")

    def _apply(self) -> None:
        engine = Engine(self.name, self.region.region.state, {})
        subprocess.run(["pulumi", "-C", self.empty, "stack", "init", "empty"], check=True, stdout=subprocess.DEVNULL)

        def up(stack: str) -> None:
            engine.select(stack)
            done = engine.run("up", stack, "--yes", "--skip-preview")
            if done.code:
                sys.exit(f"up of {stack} failed:\n{done.tail}")

        for outcome in side_by_side(dict.fromkeys(self.stacks, ()), up, at_once=at_once()):
            if outcome.failure:
                raise outcome.failure


@contextmanager
def reporting(api: ApiServer, awaited: list[Manifest]) -> Iterator[None]:
    """Report all of ``awaited`` as ready as soon as they exist, until the block ends."""
    left = list(awaited)

    def report() -> None:
        left[:] = [item for item in left if not _reported(api, item)]

    with meanwhile(report, _LOOK_SECONDS):
        yield


def _reported(api: ApiServer, item: Manifest) -> bool:
    """Write the awaited status of ``item``; return whether the object exists."""
    there = api.get(ObjectRef.of(item.body))
    if there is not None and item.readiness is not None:
        status = _REQUIRED.get(item.kind, {}) | _status(item.readiness.conditions)
        api.patch(ObjectRef.of(item.body), {"status": status}, subresource="status", field_manager="bench")
    return there is not None


def _status(awaited: Iterable[str]) -> dict[str, Any]:
    """Return a status that meets expressions of the annotation ``pulumi.com/waitFor``."""
    status: dict[str, Any] = {}
    for expression in awaited:
        if named := re.fullmatch(r"condition=(\w+)", expression):
            since = {"reason": "Reported", "message": "", "lastTransitionTime": "2026-01-01T00:00:00Z"}
            status.setdefault("conditions", []).append({"type": named[1], "status": "True", **since})
        elif path := re.fullmatch(r"jsonpath=\{\.status\.([\w.]+)\}=(.+)", expression):
            *folders, last = path[1].split(".")
            place = status
            for folder in folders:
                place = place.setdefault(folder, {})
            place[last] = True if path[2] == "true" else path[2]
    return status


def figures(base: Base, pool: str, image: str) -> dict[str, float]:
    """Return the measurements of one round."""
    floor = measured("pulumi", "-C", str(base.empty), "preview", "-s", "empty", "--non-interactive")
    found = {"floor, processor seconds": floor.processor_seconds}
    changes: dict[str, Callable[[], None]] = {
        "one pool": lambda: run("promote", base.name, pool, "--to", image, "--all"),
        "every pool": lambda: every_pool(base.data / base.name),
    }
    for what, change in changes.items():
        change()
        out = base.folder / "out"
        whole = measured(JACQUARD, "preview", base.name, "--base", "HEAD", "--out", str(out))
        found |= {
            f"{what}, seconds": whole.seconds,
            f"{what}, processor seconds": whole.processor_seconds,
            f"{what}, processor seconds over floor": whole.processor_seconds / floor.processor_seconds,
            f"{what}, MB of the largest process": whole.megabytes,
            f"{what}, stacks": float(_changed(out)),
            f"comment of {what}, bytes": float((out / "comment.md").stat().st_size),
        }
        git(base.folder, "checkout", "-q", ".")
    return found


def _changed(out: Path) -> int:
    """Return the number of stacks with planned changes; exit if one is unknown."""
    [preview] = json.loads((out / "preview.json").read_text())
    outcomes = Counter(stack["outcome"] for stack in preview["stacks"])
    if not set(outcomes) <= {"changed", "same objects"}:
        sys.exit(f"the preview did not come to its end: {dict(outcomes)}; see {out}")
    return outcomes["changed"]


def main() -> int:
    """Run the rounds, and print medians with their limits; return 1 if a limit is exceeded."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--environment", default=largest(), help="which environment (default: the one with most data)")
    parser.add_argument("--pool", default="borealis-train/h100", help="which gets another image (default: %(default)s)")
    parser.add_argument("--image", default="gpu-2026.12.0", help="which image (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=3, help="rounds (default 3)")
    parser.add_argument("--json", type=Path, help="also write the figures of all rounds here")
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="jacquard-bench-") as scratch:
        base = Base(Path(scratch), chosen.environment)
        with base.applied():
            rounds = [figures(base, chosen.pool, chosen.image) for _ in range(chosen.rounds)]
    if chosen.json:
        chosen.json.write_text(json.dumps({"rounds": rounds}, indent=2) + "\n")
    return int(shown(rounds, BARS))


if __name__ == "__main__":
    sys.exit(main())
