"""Status of a region as text: one table per concept."""

from collections.abc import Iterator

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

from components.specs.keys import pool_key, vm_key
from components.specs.reading.problems import abbreviated
from jacquard.cli.console import plural
from jacquard.observe.region_status import RegionStatus

_GOOD, _BAD, _QUIET = "green", "yellow", "dim"
_REASONS_SHOWN = 12


def show(console: Console, status: RegionStatus) -> None:
    """Print the status, with the verdict last."""
    console.print(tables(status))
    console.print(verdict(status), soft_wrap=True)


def tables(status: RegionStatus) -> RenderableType:
    """Return all non-empty tables with their titles."""
    return Group(*(part for table in _all(status) for part in (table, "") if table.row_count))


def verdict(status: RegionStatus) -> RenderableType:
    """Return one line if the region is settled, otherwise the reasons for the unsettled state."""
    if status.settled:
        open_dpus = sum(not deployment.settled for deployment in status.dpu_deployments)
        rest = f", except the DPUs of {plural(open_dpus, 'DPUDeployment')}" if open_dpus else ""
        matches = f", everything matches the data{rest}"
        settled = Text.assemble((status.environment, "bold"), ": ", ("settled", _GOOD), matches)
        return Group(settled, *burn_ins(status))
    lines = [Text.assemble((status.environment, "bold"), ": ", ("not settled", _BAD))]
    lines += [Text(f"  {reason}") for reason in status.why[:_REASONS_SHOWN]]
    lines += burn_ins(status)
    if len(status.unreachable) > len(status.clusters):
        lines.append(Text(f"no cluster is reachable; start the region with: jacquard up {status.environment}"))
    if len(status.why) > _REASONS_SHOWN:
        lines.append(Text(f"  and {len(status.why) - _REASONS_SHOWN} more (--format json lists all)", _QUIET))
    return Group(*lines)


def burn_ins(status: RegionStatus) -> list[Text]:
    """Return a line for each rollout group with nodes in burn-in."""
    lines = [Text(f"  {text}") for text in status.burn_in[:_REASONS_SHOWN]]
    if len(status.burn_in) > _REASONS_SHOWN:
        lines.append(Text(f"  and {len(status.burn_in) - _REASONS_SHOWN} more (--format json lists all)", _QUIET))
    return lines


def pools(status: RegionStatus) -> Table:
    """Return the node pools: ready and updated nodes, instance types and images."""
    table = _table("Node pools", "pool", "nodes", "updated", "instance type", "image")
    for pool in status.pools:
        table.add_row(
            pool_key(pool.cluster, pool.name),
            _share(pool.ready, pool.total),
            _share(pool.updated, pool.total),
            pool.instance_type,
            _run(pool.images, pool.total),
        )
    return table


def _all(status: RegionStatus) -> Iterator[Table]:
    yield _clusters(status)
    yield pools(status)
    yield _hardware(status)
    yield _dpus(status)
    yield _charts(status)
    yield _releases(status)
    yield _slices(status)
    yield _vpcs(status)
    yield _storage(status)
    yield _offerings(status)
    yield _vms(status)


def _clusters(status: RegionStatus) -> Table:
    table = _table("Clusters", "cluster", "tenant", "version", "endpoint", "control plane")
    for cluster in status.clusters:
        version = cluster.version
        if cluster.running_version not in (None, cluster.version):
            version = f"{cluster.running_version} -> {cluster.version}"
        state = Text("ready", _GOOD) if cluster.ready else Text("not ready", _BAD)
        if not cluster.reachable:
            state.append(", unreachable", _BAD)
        table.add_row(cluster.name, cluster.tenant, version, cluster.endpoint or "-", state)
    return table


def _hardware(status: RegionStatus) -> Table:
    table = _table("Hardware", "kind", "total", "states")
    for name, states in (("hosts", status.hosts), ("DPUs", status.dpus)):
        if states:
            by_state = ", ".join(f"{count} {state}" for state, count in sorted(states.items(), key=lambda s: -s[1]))
            table.add_row(name, str(sum(states.values())), by_state)
    return table


def _dpus(status: RegionStatus) -> Table:
    table = _table("DPUs", "DPUDeployment", "DPUs", "BFB", "")
    for item in status.dpu_deployments:
        state = Text("as pinned", _GOOD) if item.settled else Text("; ".join(item.why), _BAD)
        table.add_row(item.deployment, str(item.total), _run(item.images, item.total), state)
    return table


def _charts(status: RegionStatus) -> Table:
    table = _table("Pinned charts", "chart", "cluster", "version", "")
    for item in status.charts:
        state = Text("as pinned", _GOOD) if item.settled else Text("; ".join(item.why), _BAD)
        table.add_row(item.chart, item.cluster, item.version, state)
    return table


def _releases(status: RegionStatus) -> Table:
    """Return the number of ready releases of each cluster, and the reason of each other release."""
    table = _table("Helm releases", "cluster", "ready", "")
    for cluster in dict.fromkeys(release.cluster for release in status.releases):
        items = [release for release in status.releases if release.cluster == cluster]
        reasons = "; ".join(f"{release.name} {release.why}" for release in items if release.why)
        table.add_row(cluster, _share(sum(release.ready for release in items), len(items)), Text(reasons, _BAD))
    return table


def _slices(status: RegionStatus) -> Table:
    table = _table("Slices", "slice", "commit", "")
    for item in status.slices:
        state = Text(item.why, _BAD) if item.why else Text("applied", _GOOD)
        table.add_row(item.name, abbreviated(item.commit), state)
    return table


def _vpcs(status: RegionStatus) -> Table:
    table = _table("Networks", "VPC", "tenant", "isolation", "VNI", "hosts", "pods", "egress")
    for vpc in status.vpcs:
        row = (vpc.name, vpc.tenant, vpc.isolation, str(vpc.vni or "-"), vpc.hosts or "-", vpc.pods or "-", vpc.egress)
        table.add_row(*row)
    return table


def _storage(status: RegionStatus) -> Table:
    table = _table("Storage classes", "class", "cluster", "driver", "")
    for item in status.storage_classes:
        note = Text("default" if item.default else "", _QUIET)
        if item.present is False:
            note = Text("missing", _BAD)
        elif item.present is None:
            note = Text("not checked", _BAD)
        table.add_row(item.name, item.cluster, item.driver, note)
    return table


def _offerings(status: RegionStatus) -> Table:
    table = _table("VM offerings", "cluster", "sizes", "images")
    for offering in status.offerings:
        table.add_row(offering.cluster, ", ".join(offering.sizes), ", ".join(offering.images))
    return table


def _vms(status: RegionStatus) -> Table:
    table = _table("Virtual machines", "VM", "size", "image", "public IP", "volumes", "state")
    for vm in status.vms:
        state = Text(vm.state or "not checked", _GOOD if vm.state == "Running" else _BAD)
        volumes = plural(len(vm.volumes), "volume") if vm.volumes else "-"
        table.add_row(vm_key(vm.cluster, vm.name), vm.size, vm.image, vm.public_ip or "-", volumes, state)
    return table


def _run(images: dict[str, int], total: int) -> str:
    return ", ".join(image if count == total else f"{image} ({count})" for image, count in images.items()) or "-"


def _share(part: int, total: int) -> Text:
    return Text(f"{part}/{total}", _GOOD if part == total else _BAD)


def _table(title: str, *columns: str) -> Table:
    table = Table(
        title=title,
        title_style="bold",
        title_justify="left",
        box=None,
        padding=(0, 2, 0, 0),
        header_style=_QUIET,
        pad_edge=False,
    )
    for column in columns:
        table.add_column(column, overflow="fold")
    return table
