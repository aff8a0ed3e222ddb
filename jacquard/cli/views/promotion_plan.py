"""Plan of a promotion as text and as JSON."""

from rich.table import Table
from rich.text import Text

from components.intents.differences import changes as changes_of
from components.rollout.options import ALL, NEWEST_TEMPLATES
from components.rollout.promotion import Promotion
from components.rollout.waves import PlannedWave
from components.specs.keys import DPUS, domain_of, refers_to_charts
from components.specs.struct import asdict
from jacquard.cli.console import Format, plural, print_json, stdout
from jacquard.cli.tables import plain_table


def show_plan(promotion: Promotion, output: Format) -> None:
    """Print the changes, their reasons and the remaining waves of ``promotion``."""
    plan = promotion.plan()
    if output is Format.JSON:
        waves = [asdict(wave) for wave in plan]
        answer = {"pool": promotion.pool, "version": promotion.image, "intent": promotion.target.name}
        why = {
            before.name: list(map(asdict, changes_of(before, promotion.target)))
            for before in promotion.replaced_intents
        }
        templates = list(map(asdict, promotion.improvements))
        print_json(
            {**answer, "needs_waves": promotion.needs_waves, "changes": why, "templates": templates, "waves": waves}
        )
        return
    if not plan:
        text = f"{promotion.pool}: {is_current(promotion.pool, promotion.image)}, nothing to change{newer(promotion)}"
        stdout().print(Text(text), soft_wrap=True)
        return
    for before in promotion.replaced_intents:
        stdout().print(Text(f"{before.name} -> {promotion.target.name}", "bold"), soft_wrap=True)
        for change in changes_of(before, promotion.target):
            stdout().print(Text(f"  {change}"), soft_wrap=True)
    for improvement in promotion.improvements:
        stdout().print(Text(f"  {improvement}"), soft_wrap=True)
    stdout().print(_table(plan))
    groups = [group for wave in plan for group in wave.groups]
    how = "in waves only" if promotion.needs_waves else f"or all together with {ALL}"
    what = plural(sum(group.nodes for group in groups), "DPU" if promotion.pool == DPUS else "node")
    if refers_to_charts(promotion.pool):
        what = plural(len(groups), group_of(promotion.pool))
    text = f"{promotion.pool}: {what} to {promotion.image} in {plural(len(plan), 'wave')}, {how}"
    stdout().print(Text(text), soft_wrap=True)


def newer(promotion: Promotion) -> str:
    """Return the hint that newer templates exist; empty if the target has the newest ones."""
    if not promotion.newer_templates:
        return ""
    newest = promotion.newer_templates[-1].revision
    return f"; template revision {newest} is newer, add {NEWEST_TEMPLATES} to get it"


def is_current(promoted: str, version: str) -> str:
    """Return the text about a promotion that changes nothing."""
    return f"every {group_of(promoted)} is already pinned to {version} and the current data"


def group_of(promoted: str) -> str:
    """Return the noun for the groups of a promotion."""
    return "cluster" if refers_to_charts(promoted) else "rollout group"


def _table(plan: list[PlannedWave]) -> Table:
    rows = plain_table("wave", "rollout group", "nodes", "spares", "replaced", numbers={"wave", "nodes", "spares"})
    for wave in plan:
        for index, group in enumerate(wave.groups):
            number = "" if index else str(wave.number)
            row = (number, domain_of(group.key), str(group.nodes), str(group.spares), group.replacement)
            rows.add_row(*row)
    return rows
