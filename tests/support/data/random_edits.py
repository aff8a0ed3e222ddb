"""Random edits of an environment, valid or invalid, as users make them; each is drawn and applied to the files."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import yaml
from hypothesis import strategies as st

from components.allocate.releases import release_hosts, replace_hosts
from components.lookups.pools import pools
from components.rules.checks import check_data, check_promotable
from components.specs.environment import Environment
from components.specs.locks import AllocationsLock, ImagesLock
from components.specs.reading.loader import ALLOCATIONS, IMAGE_PINS, OUT_OF_SERVICE, REGION
from components.specs.reading.problems import SpecError
from tests.support.changes.promotion import promote
from tests.support.data.lock_files import write_locks
from tests.support.data.workbench import Workbench

Edit = Callable[[Workbench, st.DataObject], None]
_NAMES = st.sampled_from(("acme", "globex", "research", "infer", "train", "lab", "system", "new"))


def _tenant(bench: Workbench, data: st.DataObject, change: Callable[[dict[str, Any]], None]) -> None:
    """Change the file of one tenant, if a readable one exists."""
    files = sorted((bench.folder / "tenants").glob("*.yaml"))
    if not files:
        return
    path = data.draw(st.sampled_from(files))
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
        change(data)
    except (yaml.YAMLError, LookupError, TypeError, AttributeError):
        return
    path.write_text(yaml.safe_dump(data, sort_keys=False, width=1000), encoding="utf-8")


def resize(bench: Workbench, data: st.DataObject) -> None:
    """Change the number of nodes of a pool."""
    nodes, index = data.draw(st.integers(1, 14)), data.draw(st.integers(0, 2))
    _tenant(bench, data, lambda data: data["clusters"][0]["pools"][index].update(nodes=nodes))


def rename(bench: Workbench, data: st.DataObject) -> None:
    """Rename a pool, a cluster, a VPC or a tenant, including all references."""
    what, name = data.draw(st.sampled_from(("pool", "cluster", "vpc", "tenant"))), data.draw(_NAMES)

    def change(data: dict[str, Any]) -> None:
        cluster = data["clusters"][0]
        named = {"pool": cluster["pools"][-1], "cluster": cluster, "vpc": data["vpcs"][0], "tenant": data}[what]
        named["tenant" if what == "tenant" else "name"] = name

    _tenant(bench, data, change)


def remove(bench: Workbench, data: st.DataObject) -> None:
    """Remove a pool or a cluster, or retire a cluster."""
    what = data.draw(st.sampled_from(("pool", "cluster", "retire", "contract")))

    def change(data: dict[str, Any]) -> None:
        if what == "pool":
            data["clusters"][0]["pools"].pop()
        elif what == "retire":
            data["clusters"][0]["retire"] = True
        else:
            data[{"cluster": "clusters"}.get(what, what)].pop()

    _tenant(bench, data, change)


def add_tenant(bench: Workbench, data: st.DataObject) -> None:
    """Add a tenant by copying the file of another one."""
    name = data.draw(_NAMES)
    files = sorted((bench.folder / "tenants").glob("*.yaml"))
    if files:
        path = data.draw(st.sampled_from(files))
        text = path.read_text(encoding="utf-8").replace(path.stem, name)
        (path.parent / f"{name}.yaml").write_text(text, encoding="utf-8")


def add_cluster(bench: Workbench, data: st.DataObject) -> None:
    """Add a second cluster to a tenant, with one of the pools of its first cluster."""
    name, nodes = data.draw(_NAMES), data.draw(st.integers(1, 3))

    def change(data: dict[str, Any]) -> None:
        first = data["clusters"][0]
        data["clusters"].append({**first, "name": name, "pools": [{**first["pools"][-1], "nodes": nodes}]})

    _tenant(bench, data, change)


def command(bench: Workbench, data: st.DataObject) -> None:
    """Run a command that writes lock files on a pool, or fails if the data do not permit it."""
    do = data.draw(st.sampled_from((_promote, replace_hosts, release_hosts)))
    index = data.draw(st.integers(0, 3))
    with suppress(SpecError):
        region = bench.load()
        keys = [placed.key for placed in pools(region)]
        if keys and not check_data(region):
            write_locks(region, bench.root, *do(region, keys[index % len(keys)]))


def _promote(region: Environment, key: str) -> tuple[AllocationsLock, ImagesLock]:
    """Promote a pool to the newest image of its instance type."""
    if problems := check_promotable(region):
        raise SpecError(region.name, problems)
    kind = next(placed.pool.instance_type for placed in pools(region) if placed.key == key)
    newest = max(image.version for image in region.images.images if kind in image.fits)
    return region.allocations, promote(region, key, newest)


def remove_file(bench: Workbench, data: st.DataObject) -> None:
    """Remove a file."""
    files = sorted(path for path in bench.folder.rglob("*") if path.suffix in {".yaml", ".csv"})
    if files:
        data.draw(st.sampled_from(files)).unlink()


def move_file(bench: Workbench, data: st.DataObject) -> None:
    """Rename a file."""
    files = sorted(path for path in bench.folder.rglob("*") if path.suffix in {".yaml", ".csv"})
    if files:
        path, name = data.draw(st.sampled_from(files)), data.draw(_NAMES)
        path.rename(path.with_name(data.draw(st.sampled_from((f"{name}{path.suffix}", f"{path.name}.bak")))))


def merge(bench: Workbench, data: st.DataObject) -> None:
    """Write the result of a failed git merge: conflict markers, or both versions of a line."""
    files = sorted(path for path in bench.folder.rglob("*") if path.suffix in {".yaml", ".csv"})
    if not files:
        return
    path = data.draw(st.sampled_from(files))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    at = data.draw(st.integers(0, max(0, len(lines) - 1)))
    both = [*lines[:at], *lines[at : at + 1] * 2, *lines[at + 1 :]]
    marked = [*lines[:at], "<<<<<<< ours\n", *lines[at : at + 1], "=======\n", ">>>>>>> theirs\n", *lines[at + 1 :]]
    path.write_text("".join(data.draw(st.sampled_from((both, marked)))), encoding="utf-8")


def edit_hosts(bench: Workbench, data: st.DataObject) -> None:
    """Remove a row of an inventory file, move the host to another rack, or rename it."""
    files = sorted((bench.folder / "inventory").glob("*.csv"))
    if not files:
        return
    path = data.draw(st.sampled_from(files))
    lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
    if len(lines) < 3:
        return
    at = data.draw(st.integers(1, len(lines) - 1))
    row = lines[at].split(",")
    changed = {
        "remove": "",
        "rack": ",".join([data.draw(st.sampled_from(("a01", "a09"))), *row[1:]]),
        "host": ",".join([*row[:2], "x01-u01", *row[3:]]),
    }
    lines[at] = changed[data.draw(st.sampled_from(sorted(changed)))]
    path.write_text("".join(lines), encoding="utf-8")


def break_hosts(bench: Workbench, data: st.DataObject) -> None:
    """Take hosts out of service, or return all of them to service."""
    racks = data.draw(st.lists(st.sampled_from(("a01", "a02", "a03", "a04")), max_size=2, unique=True))
    count = data.draw(st.integers(1, 8))
    hosts = "".join(
        f"  {rack}-u{unit:02}: {{state: rma, since: 2026-11-01, reason: fans}}\n"
        for rack in racks
        for unit in range(1, count + 1)
    )
    path = bench.folder / OUT_OF_SERVICE
    if hosts:
        path.write_text(f"schema_version: 1\nhosts:\n{hosts}", encoding="utf-8")
    else:
        path.unlink(missing_ok=True)


def narrow(bench: Workbench, data: st.DataObject) -> None:
    """Shrink a range of the region, change a network, or increase the spares."""
    path = bench.folder / REGION
    if path.is_file():
        edits = (("10000-19999", "10001-19999"), ("10.3.0.0/24", "10.3.1.0/24"), ("spares: 2%", "spares: 3"))
        old, new = data.draw(st.sampled_from(edits))
        path.write_text(path.read_text(encoding="utf-8").replace(old, new, 1), encoding="utf-8")


def swap_locks(bench: Workbench, data: st.DataObject) -> None:
    """Remove an entry of a lock file, or copy the file of another region."""
    path = bench.folder / data.draw(st.sampled_from((ALLOCATIONS, IMAGE_PINS)))
    other = bench.root / ("lab" if bench.name == "laptop" else "laptop") / path.name
    if data.draw(st.booleans()):
        shutil.copy(other, path)
    elif path.is_file():
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        at = data.draw(st.integers(0, max(0, len(lines) - 1)))
        path.write_text("".join([*lines[:at], *lines[at + 1 :]]), encoding="utf-8")


EDITS: tuple[Edit, ...] = (
    resize, rename, remove, add_tenant, add_cluster, command, remove_file, move_file, merge, edit_hosts, break_hosts,
    narrow, swap_locks,
)  # fmt: skip


def files(folder: Path) -> dict[str, bytes]:
    """Return the content of each file of an environment by its path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}
