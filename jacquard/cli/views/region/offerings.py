"""Offerings of a region to tenants as tables: VM sizes, VM images, nodes, storage and more."""

from collections.abc import Iterator, Sequence
from functools import partial
from importlib.metadata import version

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
from jacquard.cli.tables import NAMED, Section, plain_table
from jacquard.cli.views.render_tree import yaml_text

NO_VMS = "no cluster offers VMs"
_NUMBERS = {"CPUs", "memory", "root disk", "size", "free", "per node", "nodes", "domains", "nodes per domain"}
_table = partial(plain_table, numbers=_NUMBERS)


def sections(offerings: Offerings, most: int = NAMED) -> Iterator[Section]:
    """Yield a table per kind of offering, with at most ``most`` places listed per cell."""
    if offerings.vm_sizes:
        yield Section("Virtual machines", _sizes(offerings))
        yield Section("Images of virtual machines", _images(offerings, most))
    yield Section("Nodes", _nodes(offerings, most))
    if offerings.shared_gpus:
        yield Section("Shared GPUs", _shared_gpus(offerings))
    if offerings.nvlink:
        command = f"jacquard show {offerings.environment} offerings --example {offerings.nvlink[0].instance_type}"
        hint = f"example of a ComputeDomain and a job whose pods claim its channel: {command}"
        yield Section("Multi-node NVLink", _nvlink(offerings), hint)
    yield Section("Storage classes", _storage(offerings, most))
    if offerings.checkpoints:
        yield Section("Checkpoints", _checkpoints(offerings, most))
    if offerings.buckets:
        yield Section("Buckets", _buckets(offerings, most))
    if offerings.rdma:
        hint = (
            f"set the networks in the annotation {NETWORKS} of a pod, and the same number of the resource as its limit"
        )
        needs_resource = any(entry.resource for entry in offerings.rdma)
        yield Section("RDMA", _rdma(offerings, most), hint if needs_resource else "")


def tables(offerings: Offerings) -> Iterator[RenderableType]:
    """Yield a table per kind of offering, then the command for an example order."""
    if not offerings.vm_sizes:
        yield Text(NO_VMS)
        yield ""
    for place, section in enumerate(sections(offerings)):
        if place:
            yield ""
        yield section.table
        if section.hint:
            yield Text(section.hint, "dim")
    if command := example(offerings):
        yield ""
        yield Text(f"example manifest: {command}", "dim")


def example(offerings: Offerings) -> str:
    """Return the command that prints an example order of the first size or storage class; empty without offerings."""
    sizes = [size.size for size in offerings.vm_sizes]
    names = [*sizes, *(entry.storage_class for entry in offerings.storage if entry.clusters)]
    return f"jacquard show {offerings.environment} offerings --example {names[0]}" if names else ""


def order(environment: str, example: Example) -> str:
    """Return the manifests of ``example`` as YAML, with instructions for the tenant as comments."""
    first = example.manifests[0]
    keys = _keys(first["metadata"]["name"]) if first["kind"] == "VirtualMachine" else ""
    return (
        f"{_heading(environment, example)}"
        "# Save this as order.yaml, change the name if needed, and run with a kubeconfig of that cluster:\n"
        f"{keys}#   kubectl apply -f order.yaml\n"
    ) + "---\n".join(yaml_text(manifest) for manifest in example.manifests)


def order_json(example: Example, *, helm: bool) -> Json | list[Json] | None:
    """Return the manifest of ``example`` (a list of several manifests), or its chart values if ``helm``."""
    if helm:
        return example.values
    first, *others = example.manifests
    return [first, *others] if others else first


def order_values(environment: str, example: Example) -> str:
    """Return ``example`` as values of the VM chart, with instructions for the tenant as comments."""
    values, chart = example.values or {}, vm_chart.NAME
    name = values["name"]
    return (
        f"{_heading(environment, example)}"
        f"# These are values of chart {chart}. Save them as order.yaml, edit the values above catalog, replace\n"
        "# REGISTRY with the chart registry of your platform, and run with a kubeconfig of that cluster:\n"
        f"{_keys(name)}"
        f"#   helm install {name} oci://REGISTRY/{chart} --version {version('jacquard')} --values order.yaml\n"
    ) + yaml_text(values)


def _heading(environment: str, example: Example) -> str:
    return f"# {example.what} for cluster {example.cluster} of tenant {example.tenant} ({environment}).\n"


def _keys(name: str) -> str:
    return f"#   kubectl create secret generic {name}-keys --from-file=me=$HOME/.ssh/id_ed25519.pub\n"


def _sizes(offerings: Offerings) -> Table:
    with_dedicated = any(_dedicated(size) for size in offerings.vm_sizes)
    dedicated = ["dedicated"] if with_dedicated else []
    names = (
        "VM size",
        "CPUs",
        "memory",
        "root disk",
        "GPUs",
        *dedicated,
        "offered in",
        "ordered",
        "capacity when empty",
    )
    sizes = _table(*names)
    for size in offerings.vm_sizes:
        row = [size.size, str(size.cpus), size.memory, size.root_disk, _gpus(size)]
        row += [_dedicated(size) or "-"] if with_dedicated else []
        columns = ([room.cluster for room in size.room], [f"{room.ordered:,}" for room in size.room])
        sizes.add_row(*row, *map(_lines, columns), _lines([_room(room) for room in size.room]))
    return sizes


def _dedicated(size: SizeOffer) -> str:
    """Return the resources of its node that are dedicated to a VM of ``size``."""
    cpus = "CPUs, emulator CPU" if size.emulator_cpu else "CPUs"
    pages = f"{size.huge_pages} pages" if size.huge_pages else ""
    return ", ".join(filter(None, (cpus if size.dedicated_cpus else "", "NUMA nodes" if size.numa else "", pages)))


def _images(offerings: Offerings, most: int) -> Table:
    others = any(image.os is not GuestSystem.LINUX for image in offerings.vm_images)
    images = _table("VM image", "version", "size", *(["system"] if others else []), "offered in")
    for image in offerings.vm_images:
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


def _nodes(offerings: Offerings, most: int) -> Table:
    table = _table("instance type", "CPUs", "memory", "GPUs", "free", "where")
    for kind in offerings.nodes:
        gpus = "-" if kind.gpu is None else f"{kind.gpu.count} {kind.gpu.model}"
        free = Text(f"{kind.free:,}", "" if kind.free else "yellow")
        table.add_row(kind.instance_type, str(kind.cpus), kind.memory, gpus, free, _where(kind, most))
    return table


def _shared_gpus(offerings: Offerings) -> Table:
    table = _table("resource of pods", "per node", "nodes", "pods on a GPU", "offered in")
    for entry in offerings.shared_gpus:
        isolation = Text("isolated") if entry.walls else Text("not isolated", "yellow")
        where = f"{entry.cluster}/{entry.pool}"
        table.add_row(entry.resource, str(entry.each_node), f"{entry.nodes:,}", isolation, where)
    return table


def _nvlink(offerings: Offerings) -> Table:
    table = _table("multi-node NVLink", "domains", "nodes per domain", "domain label", "offered in")
    for entry in offerings.nvlink:
        where = f"{entry.cluster}/{entry.pool}"
        table.add_row(entry.instance_type, f"{entry.domains:,}", str(entry.nodes), entry.label, where)
    return table


def _where(kind: NodeOffer, most: int) -> str:
    domains = sorted(kind.failure_domains.items(), key=lambda item: -item[1])
    return listed([f"{name} ({count})" for name, count in domains], most) if domains else "-"


def _storage(offerings: Offerings, most: int) -> Table:
    table = _table("storage class", "driver", "volumes", "snapshots", "offered in")
    for entry in offerings.storage:
        access = "many nodes" if entry.shared else "one node"
        local = "encrypted, lost on reboot" if entry.encrypted else "lost with the node"
        durability = "durable" if entry.durable else local
        name = f"{entry.storage_class} (default)" if entry.default else entry.storage_class
        snapshots = f"every {entry.snapshots.every}, kept {entry.snapshots.keep}" if entry.snapshots else "-"
        table.add_row(name, entry.driver, f"{access}, {durability}", snapshots, listed(entry.clusters, most) or "-")
    return table


def _rdma(offerings: Offerings, most: int) -> Table:
    """Return the networks and resources by which pods get ports on fabrics; equal clusters share a row."""
    alike: dict[tuple[str, str, str, str, str], list[str]] = {}
    for entry in offerings.rdma:
        visible_to = "the pod only" if entry.exclusive else "the node"
        ports = plural(entry.ports, "port")
        parts = ", ".join(filter(None, (ports, entry.use)))
        if entry.functions is not None:
            parts = f"{entry.functions:,} of {ports}"
        network = f"{entry.fabric}, hostNetwork" if entry.host_network else entry.networks or "-"
        key = (entry.instance_type, network, entry.resource or "-", parts, visible_to)
        alike.setdefault(key, []).append(entry.cluster)
    table = _table("RDMA on", "network", "resource", "ports per node", "visible to", "offered in")
    for key, names in alike.items():
        table.add_row(*key, listed(names, most))
    return table


def _checkpoints(offerings: Offerings, most: int) -> Table:
    """Return the pairs of storage classes for checkpoints; clusters with the same pair share a row."""
    pairs: dict[tuple[tuple[str, ...], tuple[str, ...]], list[str]] = {}
    for entry in offerings.checkpoints:
        pairs.setdefault((entry.written_to, entry.kept_in), []).append(entry.cluster)
    table = _table("checkpoints written to", "stored in", "offered in")
    for (written_to, kept_in), names in pairs.items():
        table.add_row(listed(written_to), Text(listed(kept_in), "" if kept_in else "yellow"), listed(names, most))
    return table


def _buckets(offerings: Offerings, most: int) -> Table:
    table = _table("bucket", "tenant", "endpoint", "quota", "ConfigMap and Secret", "offered in")
    for entry in offerings.buckets:
        places = [f"{cluster}/{name}" for cluster, names in entry.namespaces.items() for name in names]
        table.add_row(
            entry.bucket, entry.tenant, entry.endpoint, entry.quota, entry.found_as, listed(places, most) or "-"
        )
    return table
