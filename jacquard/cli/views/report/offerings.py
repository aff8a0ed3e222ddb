"""Page of the offerings of a region to tenants: tables, and available capacity as bars."""

from components.reports.offers import Offerings
from jacquard.cli.views.region import offerings as view
from jacquard.cli.views.report.filled import filled, source
from jacquard.cli.views.report.tables import WIDTH, bars, page_sections

MARK = "written by jacquard for what is offered"
"""Comment in a page that names its generator."""
_ALL = 1_000_000


def html(offerings: Offerings) -> str:
    """Return the page of ``offerings``; deterministic."""
    nodes = {kind.instance_type: kind.failure_domains for kind in offerings.nodes if kind.free}
    vms: dict[str, dict[str, int]] = {}
    for size in offerings.vm_sizes:
        for room in size.room:
            vms.setdefault(size.size, {}).update(
                {f"{room.cluster} {key}": n for key, n in room.failure_domains.items()}
            )
    return filled(
        "offerings.html",
        source("report.css") + source("tables.css"),
        mark=MARK,
        environment=offerings.environment,
        figures=_figures(offerings),
        width=WIDTH,
        rooms=[
            ("Hosts that are not assigned to a pool, by failure domain.", list(bars(nodes, "host"))),
            ("VM capacity of the nodes in service, if these nodes were empty.", list(bars(vms, "VM"))),
        ],
        sections=page_sections(view.sections(offerings, _ALL)),
        example=view.example(offerings),
        no_vms="" if offerings.vm_sizes else view.NO_VMS,
    )


def _figures(offerings: Offerings) -> list[tuple[str, str]]:
    """Return the key figures at the top of the page."""
    gpus = sum(kind.free * kind.gpu.count for kind in offerings.nodes if kind.gpu)
    return [
        (f"{sum(kind.free for kind in offerings.nodes):,}", "free hosts"),
        (f"{gpus:,}", "GPUs in free hosts"),
        (str(len(offerings.nodes)), "instance types"),
        (str(len(offerings.vm_sizes)), "VM sizes"),
        (str(len(offerings.vm_images)), "VM images"),
        (str(len(offerings.storage)), "storage classes"),
    ]
