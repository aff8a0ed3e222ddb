"""Golden images of a region, and artefacts that its platform downloads, as tables."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from components.reports.images import ImageReport, Match
from components.reports.platform_images import PlatformImages
from components.rollout.options import NEWEST_TEMPLATES
from components.specs.keys import DPUS
from components.specs.reading.problems import abbreviated, listed
from components.specs.region.catalog import Lifecycle
from jacquard.cli.console import plural
from jacquard.cli.tables import plain_table

_STYLES = {Lifecycle.PREVIEW: "cyan", Lifecycle.DEPRECATED: "yellow", Lifecycle.EXPIRED: "red"}
_POOLS_NAMED = 3


def tables(report: ImageReport) -> Iterator[RenderableType]:
    """Yield tables of image versions with their pools, of pools that are out of date, and of compatibility."""
    yield _images(report)
    yield ""
    if report.behind:
        yield _behind(report)
    else:
        yield Text(f"all pools match the data (channel {report.channel})")
    yield ""
    if report.templates:
        yield from _templates(report)
        yield ""
    yield _matrix(report)


def _images(report: ImageReport) -> Table:
    table = plain_table("image", "lifecycle", "channels", "expires", "nodes", "runs in", numbers={"nodes"})
    for state in report.images:
        pools = [f"{run.pool} ({plural(run.groups, 'group')})" for run in state.runs]
        expires = f"{state.expires} ({state.days_left} days)" if state.days_left > 0 else f"{state.expires}"
        lifecycle = Text(state.lifecycle.value, _STYLES.get(state.lifecycle, ""))
        nodes = str(state.nodes) if state.runs else "-"
        table.add_row(state.version, lifecycle, ", ".join(state.channels), expires, nodes, _some(pools))
    return table


def _behind(report: ImageReport) -> Table:
    table = plain_table("pool", "runs", "difference: pinned -> data", "first expires", "rollout")
    for item in report.behind:
        rollout = f"open, to {item.open_to}" if item.open_to else "-"
        differs = [f"{one.field} {one.pinned} -> {one.data} ({one.where})" for one in item.differences]
        expires = str(item.expires) if item.expires else "-"
        table.add_row(item.pool, ", ".join(item.images), "\n".join(differs) or "-", expires, rollout)
    return table


def _templates(report: ImageReport) -> Iterator[RenderableType]:
    table = plain_table("pool", "template revision", "groups", "promotion", numbers={"groups"})
    for item in report.templates:
        pinned = listed([str(revision) for revision in sorted(set(item.revisions.values()))])
        works = Text(" (does not work)", "red") if item.failing else ""
        revision = Text.assemble(f"{pinned} of {item.newest}", works)
        command = f"jacquard promote {report.environment} {item.pool} {NEWEST_TEMPLATES}"
        table.add_row(item.pool, revision, str(len(item.revisions)), command)
    yield table
    for kind, of_dpus in (("node templates", False), ("DPU templates", True)):
        newer = [item.improvements for item in report.templates if (item.pool == DPUS) is of_dpus]
        for improvement in max(newer, key=len, default=()):
            yield Text(f"  {kind}, {improvement}")


def _matrix(report: ImageReport) -> Table:
    table = plain_table("image", "instance type", "kubelet", "DPU image", "may run in", "refused by")
    for match in report.matrix:
        dpu = Text(match.dpu_image, "" if match.dpu_fits else "red")
        row = (match.image, match.instance_type, match.kubelet, dpu, _some(list(match.pools)), _refused(match))
        table.add_row(*row)
    return table


def _refused(match: Match) -> str:
    return _some([f"{pool}: {reasons[0]}" for pool, reasons in match.refused.items()])


def _some(items: list[str]) -> str:
    return listed(items, _POOLS_NAMED) if items else "-"


def platform_tables(images: PlatformImages) -> Iterator[RenderableType]:
    """Yield the table of downloaded artefacts, the number pinned by digest, and the reasons for tags."""
    rows = plain_table("form", "from", "version", "digest", "objects", numbers={"objects"})
    for image in images.images:
        digest = Text(abbreviated(image.digest.partition(":")[2])) if image.digest else Text("by tag", "yellow")
        rows.add_row(image.form, image.name, image.version or "-", digest, str(sum(image.needed_by.values())))
    yield rows
    yield ""
    tags = sum(image.digest is None for image in images.images)
    yield Text(f"{len(images.images) - tags} of {len(images.images)} are pinned by digest")
    for form, why in images.by_tag.items():
        yield Text(f"by tag: {form}, since {why}", "yellow")
