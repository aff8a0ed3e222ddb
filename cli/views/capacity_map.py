"""A map of halls and racks as SVG: one cell a host, coloured by pool; colours that read on light and dark ground."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from colorsys import hls_to_rgb
from html import escape
from itertools import groupby
from math import gcd

from components.plan.pools import pools
from components.plan.report.capacity import CountedHost, HostUse, counted_hosts
from components.specs.environment import Environment
from components.specs.natural import natural

_CELL_WIDTH, _CELL_HEIGHT, _GAP, _MARGIN = 14, 8, 2, 12
_COLUMN = _CELL_WIDTH + 2 * _GAP
_RACKS_A_ROW = 48
_RACK_LABEL, _HALL_LABEL, _LEGEND_LINE, _LEGEND_COLUMN = 10, 22, 16, 288
_WIDTH = 2 * _MARGIN + _RACKS_A_ROW * _COLUMN
_LIGHTNESS = (0.50, 0.64, 0.40, 0.72, 0.57, 0.45)
"""Lightness of the colours of a tenant's pools in turn; each stays visible on white and on black."""
_SATURATION = (0.65, 0.3)
_USES = {
    HostUse.SPARE: "spare of the pool in that colour",
    HostUse.OUT_OF_SERVICE: "out of service",
    HostUse.FREE: "free",
}
MARK = "written by jacquard show ENV capacity"
"""Says in a map what wrote it."""
_STYLE = """
text{font:11px sans-serif;fill:#808080}
.h{font-size:13px;font-weight:bold}
.r{font-size:6px;text-anchor:middle}
rect{stroke:none}
.spare{fill-opacity:.3;stroke:#808080;stroke-width:.5}
.free{fill:none;stroke:#808080;stroke-width:.5}
.out{fill:none;stroke:#d9534f;stroke-width:1}
"""


def capacity_map(environment: Environment) -> str:
    """Return the map of ``environment``, the same text for the same data."""
    colours = _colours(environment)
    hosts = sorted(counted_hosts(environment), key=_place)
    body, bottom = _halls(environment, hosts, colours)
    legend, bottom = _legend(hosts, colours, bottom)
    style = _STYLE + "".join(f".{name}{{fill:{colour}}}\n" for name, colour in colours.values())
    title = f"{environment.name}: {len(hosts)} hosts by pool"
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {bottom}" role="img">',
        f"<!-- {MARK}; do not edit -->",
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        _text(_MARGIN, _MARGIN + 10, title, "h"),
        *body,
        *legend,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _colours(environment: Environment) -> dict[str, tuple[str, str]]:
    """Return class and colour of each pool: a hue for each tenant, a shade of it for each of its pools."""
    colours: dict[str, tuple[str, str]] = {}
    hues = _hues([tenant.tenant for tenant in environment.tenants])
    mine = Counter[str]()
    for placed in pools(environment):
        tenant = placed.tenant.tenant
        round_, shade = divmod(mine[tenant], len(_LIGHTNESS))
        mine[tenant] += 1
        parts = hls_to_rgb(hues[tenant], _LIGHTNESS[shade], _SATURATION[round_ % len(_SATURATION)])
        colour = "#" + "".join(f"{round(part * 255):02x}" for part in parts)
        colours[placed.key] = (f"p{len(colours)}", colour)
    return colours


def _hues(tenants: Sequence[str]) -> dict[str, float]:
    """Return hues as far from each other as they can be, those of neighbours on the list far apart too."""
    count = len(tenants)
    stride = next(step for step in range(max(1, 3 * count // 8), count + 1) if gcd(step, count) == 1)
    return {tenant: index * stride % count / count for index, tenant in enumerate(tenants)}


def _place(placed: CountedHost) -> tuple[str, tuple[str | int, ...], int]:
    return placed.host.hall, natural(placed.host.rack), placed.host.slot


def _halls(
    environment: Environment, hosts: Sequence[CountedHost], colours: dict[str, tuple[str, str]]
) -> tuple[list[str], int]:
    """Return the halls from top to bottom, and where they end."""
    sites = {hall: site.name for site in environment.region.sites for hall in site.halls}
    lines, top = [], _MARGIN + 24
    for hall, in_hall in groupby(hosts, key=lambda placed: placed.host.hall):
        racks = [list(rack) for _, rack in groupby(in_hall, key=lambda placed: placed.host.rack)]
        site = f" · site {sites[hall]}" if hall in sites else ""
        count = sum(len(rack) for rack in racks)
        lines.append(_text(_MARGIN, top + 12, f"hall {hall}{site} · {len(racks)} racks · {count} hosts", "h"))
        top += _HALL_LABEL
        for start in range(0, len(racks), _RACKS_A_ROW):
            row = racks[start : start + _RACKS_A_ROW]
            for column, rack in enumerate(row):
                lines += _rack(rack, _MARGIN + column * _COLUMN, top, colours)
            top += _RACK_LABEL + max(map(len, row)) * (_CELL_HEIGHT + _GAP) + 3 * _GAP
    return lines, top


def _rack(rack: Sequence[CountedHost], left: int, top: int, colours: dict[str, tuple[str, str]]) -> Iterator[str]:
    yield f'<g transform="translate({left} {top})">'
    yield _text(_CELL_WIDTH // 2, 6, rack[0].host.rack, "r")
    for index, placed in enumerate(rack):
        y = _RACK_LABEL + index * (_CELL_HEIGHT + _GAP)
        owner = placed.pool or "no pool"
        state = "" if placed.use is HostUse.NODE else f" · {placed.use.value.replace('-', ' ')}"
        tip = f"{placed.host.host} · {placed.host.instance_type} · {owner}{state}"
        yield _cell(y, placed.use, colours.get(placed.pool or "", ("", ""))[0], tip)
    yield "</g>"


def _cell(y: int, use: HostUse, pool: str, tip: str) -> str:
    """Return one host; its state is told by shape too, for those who do not tell colours apart."""
    title = f"<title>{escape(tip)}</title>"
    if use is HostUse.OUT_OF_SERVICE:
        right, bottom = _CELL_WIDTH, y + _CELL_HEIGHT
        return (
            f'<path class="out" d="M0 {y}H{right}V{bottom}H0ZL{right} {bottom}M{right} {y}L0 {bottom}">{title}</path>'
        )
    words = {HostUse.NODE: pool, HostUse.SPARE: f"{pool} spare", HostUse.FREE: "free"}[use]
    return f'<rect class="{words}" y="{y}" width="{_CELL_WIDTH}" height="{_CELL_HEIGHT}">{title}</rect>'


def _legend(hosts: Iterable[CountedHost], colours: dict[str, tuple[str, str]], top: int) -> tuple[list[str], int]:
    """Return what the colours mean, with counts, and where that ends."""
    uses = Counter((placed.use, placed.pool if placed.use is HostUse.NODE else None) for placed in hosts)
    entries = [(HostUse.NODE, name, f"{key} · {uses[HostUse.NODE, key]} nodes") for key, (name, _) in colours.items()]
    first = next((name for name, _ in colours.values()), "free")
    entries += [(use, first, f"{words} · {uses[use, None]} hosts") for use, words in _USES.items()]
    columns = (_WIDTH - 2 * _MARGIN) // _LEGEND_COLUMN
    lines = []
    for index, (use, name, words) in enumerate(entries):
        line, column = divmod(index, columns)
        left, y = _MARGIN + column * _LEGEND_COLUMN, top + _MARGIN + line * _LEGEND_LINE
        lines.append(f'<g transform="translate({left} {y})">{_cell(0, use, name, words)}{_text(20, 8, words)}</g>')
    return lines, top + 2 * _MARGIN + -(-len(entries) // columns) * _LEGEND_LINE


def _text(x: int, y: int, text: str, kind: str = "") -> str:
    named = f' class="{kind}"' if kind else ""
    return f'<text{named} x="{x}" y="{y}">{escape(text)}</text>'
