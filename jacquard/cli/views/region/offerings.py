"""What tenants can order in a region, as tables: VMs, their images, nodes, storage."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version
from typing import NamedTuple

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from components.render.manifest import Json
from components.render.network.port_functions import NETWORKS
from components.reports.examples import Example
from components.reports.offers import NodeOffer, Offerings, Room, SizeOffer
from components.specs.reading.problems import listed
from components.specs.vms import vm_chart
from components.specs.vms.guests import GuestSystem
from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table
from jacquard.cli.views.render_tree import yaml_text

NAMED = 3
"""Places that a cell of a terminal names; the rest is counted."""
NO_VMS = "no cluster offers VMs"
_NUMBERS = {"CPUs", "memory", "root disk", "size", "free", "on each node", "nodes", "domains", "nodes of one"}
_table = partial(plain_table, numbers=_NUMBERS)


class Section(NamedTuple):
    """One kind of thing that can be ordered."""

    title: str
    table: Table
    hint: str = ""
    """What to do with it, in a sentence."""


def sections(found: Offerings, most: int = NAMED) -> Iterator[Section]:
    """Yield a table of each thing that can be ordered, which names up to ``most`` places in a cell."""
    if found.vm_sizes:
        yield Section("Virtual machines", _sizes(found))
        yield Section("Systems of virtual machines", _images(found, most))
    yield Section("Nodes", _nodes(found, most))
    if found.shared_gpus:
        yield Section("Shared GPUs", _shared_gpus(found))
    if found.nvlink:
        command = f"jacquard show {found.environment} offerings --example {found.nvlink[0].instance_type}"
        hint = f"a ComputeDomain, and a job whose pods claim its channel: {command}"
        yield Section("NVLink beyond a node", _nvlink(found), hint)
    yield Section("Storage classes", _storage(found, most))
    if found.checkpoints:
        yield Section("Checkpoints", _checkpoints(found, most))
    if found.buckets:
        yield Section("Buckets", _buckets(found, most))
    if found.rdma:
        hint = f"a pod names the network in its annotation {NETWORKS}, and has as many of the resource as limit"
        asked = any(entry.resource for entry in found.rdma)
        yield Section("RDMA", _rdma(found, most), hint if asked else "")


def tables(found: Offerings) -> Iterator[RenderableType]:
    """Yield a table of each thing that can be ordered, and last how to order a VM."""
    if not found.vm_sizes:
        yield Text(NO_VMS)
        yield ""
    for place, section in enumerate(sections(found)):
        if place:
            yield ""
        yield section.table
        if section.hint:
            yield Text(section.hint, "dim")
    if command := example(found):
        yield ""
        yield Text(f"a manifest that orders one: {command}", "dim")


def example(found: Offerings) -> str:
    """Return the command that prints an order of the first size or storage class; empty where nobody is offered any."""
    sizes = [size.size for size in found.vm_sizes]
    names = [*sizes, *(entry.storage_class for entry in found.storage if entry.clusters)]
    return f"jacquard show {found.environment} offerings --example {names[0]}" if names else ""


def order(environment: str, example: Example) -> str:
    """Return the manifests of ``example`` as YAML, below what its tenant has to know."""
    first = example.manifests[0]
    keys = _keys(first["metadata"]["name"]) if first["kind"] == "VirtualMachine" else ""
    return (
        f"{_told(environment, example)}"
        "# Save it as order.yaml, change its name if you like, and run, with a kubeconfig of that cluster:\n"
        f"{keys}#   kubectl apply -f order.yaml\n"
    ) + "---\n".join(yaml_text(manifest) for manifest in example.manifests)


def order_json(example: Example, *, helm: bool) -> Json | list[Json] | None:
    """Return the only manifest of ``example``, all of them where it has more, or its values for ``helm``."""
    if helm:
        return example.values
    first, *others = example.manifests
    return [first, *others] if others else first


def order_values(environment: str, example: Example) -> str:
    """Return ``example`` as values of the chart for VMs, below what its tenant has to know."""
    values, chart = example.values or {}, vm_chart.NAME
    name = values["name"]
    return (
        f"{_told(environment, example)}"
        f"# These are values of chart {chart}. Save them as order.yaml, change what stands above catalog, and\n"
        "# run, with a kubeconfig of that cluster, and the registry of your platform's charts in place of REGISTRY:\n"
        f"{_keys(name)}"
        f"#   helm install {name} oci://REGISTRY/{chart} --version {version('jacquard')} --values order.yaml\n"
    ) + yaml_text(values)


def _told(environment: str, example: Example) -> str:
    return f"# {example.what} for cluster {example.cluster} of tenant {example.tenant} ({environment}).\n"


def _keys(name: str) -> str:
    return f"#   kubectl create secret generic {name}-keys --from-file=me=$HOME/.ssh/id_ed25519.pub\n"


def _sizes(found: Offerings) -> Table:
    alone = any(_alone(size) for size in found.vm_sizes)
    told = ["of its own"] if alone else []
    sizes = _table("VM size", "CPUs", "memory", "root disk", "GPUs", *told, "offered in", "ordered", "room when empty")
    for size in found.vm_sizes:
        row = [size.size, str(size.cpus), size.memory, size.root_disk, _gpus(size)]
        row += [_alone(size) or "-"] if alone else []
        columns = ([room.cluster for room in size.room], [f"{room.ordered:,}" for room in size.room])
        sizes.add_row(*row, *map(_lines, columns), _lines([_room(room) for room in size.room]))
    return sizes


def _alone(size: SizeOffer) -> str:
    """Return what a VM of ``size`` has of its node for itself."""
    cpus = "CPUs and QEMU's" if size.emulator_cpu else "CPUs"
    pages = f"{size.huge_pages} pages" if size.huge_pages else ""
    return ", ".join(filter(None, (cpus if size.dedicated_cpus else "", "NUMA nodes" if size.numa else "", pages)))


def _images(found: Offerings, most: int) -> Table:
    others = any(image.os is not GuestSystem.LINUX for image in found.vm_images)
    images = _table("VM image", "version", "size", *(["system"] if others else []), "offered in")
    for image in found.vm_images:
        system = [image.os.capitalize()] if others else []
        images.add_row(image.image, image.version, image.size, *system, listed(image.clusters, most))
    return images


def _gpus(size: SizeOffer) -> str:
    return "-" if size.gpu is None else f"{size.gpu.count} {size.gpu.device}"


def _room(room: Room) -> Text:
    if not room.vms:
        return Text("none", "yellow")
    return Text(f"{plural(room.vms, 'VM')} on {plural(room.nodes, 'node')}")


def _lines(cells: Sequence[str | Text]) -> Text:
    return Text("\n").join(Text(cell) if isinstance(cell, str) else cell for cell in cells)


def _nodes(found: Offerings, most: int) -> Table:
    table = _table("instance type", "CPUs", "memory", "GPUs", "free", "where")
    for kind in found.nodes:
        gpus = "-" if kind.gpu is None else f"{kind.gpu.count} {kind.gpu.model}"
        free = Text(f"{kind.free:,}", "" if kind.free else "yellow")
        table.add_row(kind.instance_type, str(kind.cpus), kind.memory, gpus, free, _where(kind, most))
    return table


def _shared_gpus(found: Offerings) -> Table:
    table = _table("pods ask for", "on each node", "nodes", "between pods on a GPU", "offered in")
    for entry in found.shared_gpus:
        walls = Text("walls") if entry.walls else Text("no walls", "yellow")
        table.add_row(entry.resource, str(entry.each_node), f"{entry.nodes:,}", walls, f"{entry.cluster}/{entry.pool}")
    return table


def _nvlink(found: Offerings) -> Table:
    table = _table("NVLink beyond a node", "domains", "nodes of one", "label of a domain", "offered in")
    for entry in found.nvlink:
        where = f"{entry.cluster}/{entry.pool}"
        table.add_row(entry.instance_type, f"{entry.domains:,}", str(entry.nodes), entry.label, where)
    return table


def _where(kind: NodeOffer, most: int) -> str:
    domains = sorted(kind.failure_domains.items(), key=lambda item: -item[1])
    return listed([f"{name} ({count})" for name, count in domains], most) if domains else "-"


def _storage(found: Offerings, most: int) -> Table:
    table = _table("storage class", "driver", "volumes", "snapshots", "offered in")
    for entry in found.storage:
        shared = "many nodes at once" if entry.shared else "one node"
        lost = "encrypted, until it boots" if entry.encrypted else "lost with the node"
        kept = "kept" if entry.durable else lost
        name = f"{entry.storage_class} (default)" if entry.default else entry.storage_class
        taken = f"every {entry.snapshots.every}, kept {entry.snapshots.keep}" if entry.snapshots else "-"
        table.add_row(name, entry.driver, f"{shared}, {kept}", taken, listed(entry.clusters, most) or "-")
    return table


def _rdma(found: Offerings, most: int) -> Table:
    """Return what pods ask for to get ports on fabrics, clusters that have them alike in one row."""
    alike: dict[tuple[str, str, str, str, str], list[str]] = {}
    for entry in found.rdma:
        seen = "the pod alone" if entry.exclusive else "the node"
        ports = plural(entry.ports, "port")
        parts = ", ".join(filter(None, (ports, entry.use)))
        if entry.functions is not None:
            parts = f"{entry.functions:,} of {ports}"
        network = f"{entry.fabric}, by hostNetwork" if entry.host_network else entry.networks or "-"
        key = (entry.instance_type, network, entry.resource or "-", parts, seen)
        alike.setdefault(key, []).append(entry.cluster)
    table = _table("RDMA on", "network", "resource", "of a node", "devices seen by", "offered in")
    for key, names in alike.items():
        table.add_row(*key, listed(names, most))
    return table


def _checkpoints(found: Offerings, most: int) -> Table:
    """Return the pairs of classes for checkpoints, clusters with one pair in one row."""
    pairs: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for entry in found.checkpoints:
        pairs.setdefault((entry.written_to, entry.kept_in), []).append(entry.cluster)
    table = _table("checkpoints are written to", "and kept in", "offered in")
    for (written_to, kept_in), names in pairs.items():
        table.add_row(listed(written_to), Text(listed(kept_in), "" if kept_in else "yellow"), listed(names, most))
    return table


def _buckets(found: Offerings, most: int) -> Table:
    table = _table("bucket", "tenant", "at", "quota", "found as", "offered in")
    for entry in found.buckets:
        places = [f"{cluster}/{name}" for cluster, names in entry.namespaces.items() for name in names]
        table.add_row(
            entry.bucket, entry.tenant, entry.endpoint, entry.quota, entry.found_as, listed(places, most) or "-"
        )
    return table
