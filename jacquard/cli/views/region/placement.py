"""Decision about an order as text."""

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from components.placement.decision import Decision, Verdict
from jacquard.cli.tables import plain_table


def lines(decision: Decision) -> Iterator[RenderableType]:
    """Yield the verdict on each region, then the decision."""
    if decision.was_placed:
        yield Text(f"{decision.order} is in {decision.region} already; nothing to change")
        return
    table = plain_table("region", "rank", "left", "reason")
    for verdict in decision.verdicts:
        for index, reason in enumerate(_reasons(verdict, decision)):
            name, rank, left = (verdict.region, _number(verdict.rank), _number(verdict.left)) if not index else [""] * 3
            table.add_row(name, rank, left, reason)
    yield table
    if decision.is_reserved:
        day = decision.needed_from
        yield Text(f"{decision.order} is reserved in {decision.region} from {day}; place it when the nodes are free")
    elif decision.region:
        yield Text(f"{decision.order} is placed in {decision.region}")


def _reasons(verdict: Verdict, decision: Decision) -> Iterator[str]:
    if verdict.rank is not None:
        days = f" from {decision.needed_from}" if verdict.not_yet else ""
        yield f"{'chosen' if verdict.region == decision.region else 'has room'}{days}"
    for refusal in verdict.not_yet:
        yield f"today: {refusal.reason}: {refusal.text}"
    for refusal in verdict.refusals:
        lacking = f"; {refusal.lacking:,} missing" if refusal.lacking else ""
        yield f"{refusal.reason}: {refusal.text}{lacking}"


def _number(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
