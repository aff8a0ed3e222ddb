"""``jacquard place``: chooses the region of an order, and writes the order into the data of the region."""

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from components.placement.decision import Decision
from components.placement.placing import Placement, place, with_region
from components.rules.checks import check_fleet
from components.specs.environment import Environment
from components.specs.fleet.order import OrderSpec
from components.specs.reading.fleet import NAME, ORDERS, Fleet, load_fleet, order_file
from components.specs.reading.loader import FLEET
from components.specs.reading.problems import SpecError
from jacquard.cli import arguments, data, lock_edits
from jacquard.cli.console import Format, print_json, stdout
from jacquard.cli.errors import ExitCode, Stop, unknown
from jacquard.cli.views.changes.lock_changes import changes, file_changes, show_diff
from jacquard.cli.views.region import placement as view
from jacquard.machine import paths, settings
from jacquard.machine.files import existing_text


def _complete(incomplete: str) -> list[str]:
    return sorted(path.stem for path in (paths.environments() / ORDERS).glob(f"{incomplete}*.yaml"))


_Order = Annotated[
    str,
    typer.Argument(
        metavar="ORDER", help="Order: a file in environments/orders/, without .yaml.", autocompletion=_complete
    ),
]
_DryRun = Annotated[bool, typer.Option("--dry-run", help="Decide, and write nothing.")]


def place_order(order: _Order, *, dry_run: _DryRun = False, output: arguments.FormatOption = Format.TEXT) -> None:
    """Place an order in a region of the fleet.

    Chooses the region by its status, jurisdiction, latency group, capabilities, orderable nodes and fabrics, and prints
    the rank of each region or the reasons against it. The same data always lead to the same region. Then writes the
    tenant's file with contract, VPC, cluster and pools, allocates hosts and numbers, and records the region in the
    order. Nothing is written if 'check' would report a problem. Review the change like any other; 'up' applies it.

    An order for a cluster that the tenant already has in a region adds pools to it there. Exits with 3 if no region
    can get the order. A placed order is reported, and nothing changes.

    If the nodes are free only from the first day of the order, they are reserved: only the order changes. Run the
    command again when contracts have ended and their pools are removed.
    """
    folder = paths.environments()
    with data.editing("place", *data.names(), ORDERS, dry_run=dry_run) as edit:
        fleet = load_fleet(folder)
        wanted = _known(fleet, order)
        environments = [data.load(name) for name in fleet.regions if name in fleet.folders]
        _require_valid(fleet, wanted, environments)
        today = settings.today()
        _require_future(wanted, today)
        placement = place(wanted, fleet, environments, _texts(folder, wanted, environments), today)
        diff, texts = _diff(folder, wanted, placement)
        if placement.edits:
            after, locks = lock_edits.with_locks(placement.edits.after, placement.edits.numbers, placement.edits.pins)
            if dry_run:
                lock_edits.require_acceptable(placement.edits.before, after)
            else:
                lock_edits.write(edit, placement.edits.before, after, texts | locks)
        elif not dry_run:
            edit.write(texts)
    _print(placement.decision, diff, output, written=bool(diff) and not dry_run)
    if placement.decision.region is None:
        raise Stop(_nothing_fits(placement.decision), ExitCode.WAITING)


def _known(fleet: Fleet, name: str) -> OrderSpec:
    """Return the order ``name``.

    Raises:
        Stop: there is no such order, or no fleet.
    """
    if fleet.spec is None:
        file = paths.environments() / Path(FLEET).name
        msg = f"{file} does not exist, so no region takes orders; list the regions in it"
        raise Stop(msg, ExitCode.BAD_DATA)
    orders = {order.order: order for order in fleet.orders}
    if name not in orders:
        raise unknown(name, list(orders), what="order", remedy=f"write {paths.environments() / ORDERS / name}.yaml")
    return orders[name]


def _require_valid(fleet: Fleet, order: OrderSpec, environments: list[Environment]) -> None:
    """Pass if the order and ``fleet.yaml`` refer only to what exists.

    Raises:
        SpecError: contains all problems.
    """
    found = check_fleet(fleet, environments).get(NAME, [])
    problems = [problem for problem in found if problem.file in {FLEET, order_file(order.order)}]
    if problems:
        raise SpecError(NAME, problems)


def _require_future(order: OrderSpec, today: dt.date) -> None:
    """Pass unless the order ended without a region.

    Raises:
        Stop: it did.
    """
    if order.placed_in is None and order.until is not None and order.until < today:
        msg = f"{order.order} ended on {order.until}; write a later day, or remove the order"
        raise Stop(msg, ExitCode.BAD_DATA)


def _texts(folder: Path, order: OrderSpec, environments: list[Environment]) -> dict[str, str]:
    """Return the text of the tenant's file in each region that has the tenant."""
    return {
        item.name: (folder / item.name / "tenants" / f"{order.tenant}.yaml").read_text(encoding="utf-8")
        for item in environments
        if any(tenant.tenant == order.tenant for tenant in item.tenants)
    }


def _diff(folder: Path, order: OrderSpec, placement: Placement) -> tuple[list[str], dict[Path, str]]:
    """Return the diff of all files of a placement or a new reservation, and the texts of the hand-written ones."""
    region, edits = placement.decision.region, placement.edits
    if region is None or region in {order.placed_in, None if edits else order.reserved_in}:
        return [], {}
    path = folder / ORDERS / f"{order.order}.yaml"
    before = path.read_text(encoding="utf-8")
    texts = {path: with_region(before, region, is_reserved=edits is None)}
    diff = file_changes(f"{ORDERS}/{path.name}", before, texts[path])
    if edits is None:
        return diff, texts
    tenant = folder / region / edits.file
    known = existing_text(tenant)
    diff += file_changes(f"{region}/{edits.file}", known, edits.text)
    return diff + changes(edits.before, edits.numbers, edits.pins), texts | {tenant: edits.text}


def _print(decision: Decision, diff: list[str], output: Format, *, written: bool) -> None:
    if output is Format.JSON:
        print_json(decision.to_json() | {"written": written, "diff": diff})
        return
    show_diff(stdout(), diff, [])
    for part in view.lines(decision):
        stdout().print(part, soft_wrap=not isinstance(part, Table))


def _nothing_fits(decision: Decision) -> str:
    closest = f"; the closest is {decision.closest}" if decision.closest else ""
    return f"{decision.order} fits into no region{closest}"
