"""Map of halls and racks as SVG: one cell per host with the colour and mark of its pool, for light and dark themes."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from colorsys import hls_to_rgb
from html import escape
from itertools import groupby
from string import ascii_uppercase

from components.lookups.host_use import CountedHost, HostUse, counted_hosts
from components.lookups.pools import pools
from components.specs.environment import Environment
from components.specs.natural import natural
from components.specs.struct import Struct
from jacquard.cli.views.region.pictures import fabrics, hues, marks, text_at

_CELL_WIDTH, _CELL_HEIGHT, _GAP, _MARGIN = 14, 9, 2, 12
_RACKS_A_ROW = 48
_KIND_LABEL, _RACK_LABEL, _HALL_LABEL, _LEGEND_LINE, _LEGEND_TEXT = 12, 10, 22, 16, 20
_SMALL, _PLAIN, _BOLD = 4.2, 6.2, 7.9
"""Average width of a character in each of the three fonts."""
_LIGHTNESS = (0.50, 0.64, 0.40, 0.72, 0.57, 0.45)
"""Lightness of the colours of a tenant's pools, in order; all are visible on white and on black."""
_SATURATION = (0.65, 0.3)
_BRIGHTNESS, _MIDDLE = (0.299, 0.587, 0.114), 0.5
"""Perceived brightness of red, green and blue, and the threshold between dark and light."""
_USES = {
    HostUse.SPARE: "spare of the pool in that colour",
    HostUse.OUT_OF_SERVICE: "out of service",
    HostUse.FREE: "free",
}
MARK = "written by jacquard show ENV capacity"
"""Comment in a map that names its generator."""
_STYLE = """
text{font:11px sans-serif;fill:#767676}
.h{font-size:13px;font-weight:bold}
.r,.m{font-size:7px;text-anchor:middle}
.k{font-size:7px}
.on{fill:#000}
.off{fill:#fff}
rect{stroke:none}
.l{fill:none;stroke:#767676;stroke-width:.5}
.spare{fill-opacity:.3;stroke:#767676;stroke-width:.5}
.free{fill:none;stroke:#767676;stroke-width:.5}
.out{fill:none;stroke:#d9534f;stroke-width:1}
"""
"""The grey has a contrast of more than 4:1 to white and to black."""
_Rack = list[CountedHost]


class _Paint(Struct, kw_only=False):
    """Style of the hosts of a pool."""

    name: str
    """CSS class of the cells."""
    colour: str
    mark: str
    """Letter or number that identifies the pool without colours."""
    contrast: str
    """CSS class of the mark on a cell of this colour."""


def capacity_map(environment: Environment) -> str:
    """Return the map of ``environment``, sized by its contents; deterministic."""
    hosts = sorted(counted_hosts(environment), key=_place)
    halls = {
        hall: [list(rack) for _, rack in groupby(in_hall, key=lambda placed: placed.host.rack)]
        for hall, in_hall in groupby(hosts, key=lambda placed: placed.host.hall)
    }
    paints, kinds = _paints(environment), _kinds(hosts)
    title = f"{environment.name}: {len(hosts)} hosts by pool"
    titles = {hall: _hall_title(environment, hall, racks) for hall, racks in halls.items()}
    entries = _entries(hosts, paints, kinds)
    column = max([_CELL_WIDTH + 2 * _GAP, *(round(_SMALL * len(host.host.rack)) + 2 * _GAP for host in hosts)])
    widths = [column * min(_RACKS_A_ROW, len(racks)) for racks in halls.values()]
    widths += [round(_BOLD * len(text)) for text in (title, *titles.values())]
    width = max([*widths, _entry_width(entries)])
    body, bottom = _halls(halls, titles, column, paints, kinds)
    legend, bottom = _legend(entries, width, bottom)
    style = _STYLE + "".join(f".{paint.name}{{fill:{paint.colour}}}\n" for paint in paints.values())
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width + 2 * _MARGIN} {bottom}" role="img">',
        f"<!-- {MARK}; do not edit -->",
        f"<title>{escape(title)}</title>",
        f"<style>{style}</style>",
        text_at(_MARGIN, _MARGIN + 10, title, "h"),
        *body,
        *legend,
        "</svg>",
    ]
    return "\n".join(lines) + "\n"


def _paints(environment: Environment) -> dict[str, _Paint]:
    """Return the style of each pool: a hue per tenant, a shade of it per pool, and a mark."""
    paints: dict[str, _Paint] = {}
    pool_marks = marks(environment)
    hue = hues([tenant.tenant for tenant in environment.tenants])
    mine = Counter[str]()
    for placed in pools(environment):
        tenant = placed.tenant.tenant
        round_, shade = divmod(mine[tenant], len(_LIGHTNESS))
        mine[tenant] += 1
        parts = hls_to_rgb(hue[tenant], _LIGHTNESS[shade], _SATURATION[round_ % len(_SATURATION)])
        colour = "#" + "".join(f"{round(part * 255):02x}" for part in parts)
        paints[placed.key] = _Paint(f"p{len(paints)}", colour, pool_marks[placed.key], _contrast(*parts))
    return paints


def _contrast(red: float, green: float, blue: float) -> str:
    """Return the CSS class, black or white, with the better contrast to a colour."""
    brightness = sum(share * part for share, part in zip(_BRIGHTNESS, (red, green, blue), strict=True))
    return "on" if brightness > _MIDDLE else "off"


def _kinds(hosts: Iterable[CountedHost]) -> dict[str, str]:
    """Return a letter for each instance type, or a number if there are more types than letters."""
    names = sorted({placed.host.instance_type for placed in hosts})
    return {name: ascii_uppercase[at] if at < len(ascii_uppercase) else str(at + 1) for at, name in enumerate(names)}


def _place(placed: CountedHost) -> tuple[str, tuple[str | int, ...], int]:
    return placed.host.hall, natural(placed.host.rack), placed.host.slot


def _hall_title(environment: Environment, hall: str, racks: Sequence[_Rack]) -> str:
    sites = {name: site.name for site in environment.region.sites for name in site.halls}
    site = f" · site {sites[hall]}" if hall in sites else ""
    count = sum(map(len, racks))
    return f"hall {hall}{site}{fabrics(environment, hall)} · {len(racks)} racks · {count} hosts"


def _halls(
    halls: Mapping[str, Sequence[_Rack]],
    titles: Mapping[str, str],
    column: int,
    paints: Mapping[str, _Paint],
    kinds: Mapping[str, str],
) -> tuple[list[str], int]:
    """Return the elements of all halls from top to bottom, and their lower edge."""
    lines, top = [], _MARGIN + 24
    for hall, racks in halls.items():
        lines.append(text_at(_MARGIN, top + 12, titles[hall], "h"))
        top += _HALL_LABEL
        for start in range(0, len(racks), _RACKS_A_ROW):
            row = racks[start : start + _RACKS_A_ROW]
            lines += _kind_labels(row, top, column, kinds)
            top += _KIND_LABEL
            for index, rack in enumerate(row):
                lines += _rack(rack, _MARGIN + index * column, top, paints)
            top += _RACK_LABEL + max(map(len, row)) * (_CELL_HEIGHT + _GAP) + 3 * _GAP
    return lines, top


def _kind_labels(row: Sequence[_Rack], top: int, column: int, kinds: Mapping[str, str]) -> Iterator[str]:
    """Yield a line above each run of racks with equal instance types: their letters, and names if there is room."""
    left = _MARGIN
    for names, alike in groupby(tuple(dict.fromkeys(host.host.instance_type for host in rack)) for rack in row):
        width = column * sum(1 for _ in alike)
        words = ", ".join(f"{kinds[name]} {name}" for name in names)
        if _SMALL * len(words) > width:
            words = "+".join(kinds[name] for name in names)
        yield text_at(left, top + 6, words, "k")
        yield f'<path class="l" d="M{left} {top + 9}H{left + width - 2 * _GAP}"/>'
        left += width


def _rack(rack: Sequence[CountedHost], left: int, top: int, paints: Mapping[str, _Paint]) -> Iterator[str]:
    yield f'<g transform="translate({left} {top})">'
    yield text_at(_CELL_WIDTH // 2, 6, rack[0].host.rack, "r")
    above: tuple[HostUse, str | None] | None = None
    for index, placed in enumerate(rack):
        y = _RACK_LABEL + index * (_CELL_HEIGHT + _GAP)
        owner = placed.pool or "no pool"
        state = "" if placed.use is HostUse.NODE else f" · {placed.use.value.replace('-', ' ')}"
        tip = f"{placed.host.host} · {placed.host.instance_type} · {owner}{state}"
        paint = paints.get(placed.pool or "")
        yield _cell(y, placed.use, paint.name if paint else "", tip)
        if paint and above != (placed.use, placed.pool):
            yield from _mark(y, placed.use, paint)
        above = placed.use, placed.pool
    yield "</g>"


def _cell(y: int, use: HostUse, pool: str, tip: str) -> str:
    """Return the cell of one host; its state is also visible without colours, by shape."""
    title = f"<title>{escape(tip)}</title>"
    if use is HostUse.OUT_OF_SERVICE:
        right, bottom = _CELL_WIDTH, y + _CELL_HEIGHT
        return (
            f'<path class="out" d="M0 {y}H{right}V{bottom}H0ZL{right} {bottom}M{right} {y}L0 {bottom}">{title}</path>'
        )
    words = {HostUse.NODE: pool, HostUse.SPARE: f"{pool} spare", HostUse.FREE: "free"}[use]
    return f'<rect class="{words}" y="{y}" width="{_CELL_WIDTH}" height="{_CELL_HEIGHT}">{title}</rect>'


def _mark(y: int, use: HostUse, paint: _Paint) -> Iterator[str]:
    """Yield the mark of a pool on the first of its adjacent hosts."""
    if use in {HostUse.NODE, HostUse.SPARE}:
        words = f"m {paint.contrast}" if use is HostUse.NODE else "m"
        yield text_at(_CELL_WIDTH // 2, y + _CELL_HEIGHT - _GAP, paint.mark, words)


_Entry = tuple[HostUse, _Paint | None, str]


def _entries(
    hosts: Iterable[CountedHost], paints: Mapping[str, _Paint], kinds: Mapping[str, str]
) -> list[_Entry | str]:
    """Return the entries of the legend with counts: pools, uses, and letters of instance types."""
    uses, installed = Counter[tuple[HostUse, str | None]](), Counter[str]()
    for placed in hosts:
        uses[placed.use, placed.pool if placed.use is HostUse.NODE else None] += 1
        installed[placed.host.instance_type] += 1
    first = next(iter(paints.values()), None)
    entries: list[_Entry | str] = [
        (HostUse.NODE, paint, f"{key} · {uses[HostUse.NODE, key]} nodes") for key, paint in paints.items()
    ]
    entries += [(use, first, f"{words} · {uses[use, None]} hosts") for use, words in _USES.items()]
    return [*entries, *(f"{letter} {name} · {installed[name]} hosts" for name, letter in kinds.items())]


def _entry_width(entries: Iterable[_Entry | str]) -> int:
    texts = (entry if isinstance(entry, str) else entry[2] for entry in entries)
    return _LEGEND_TEXT + round(_PLAIN * max(map(len, texts))) + _MARGIN


def _legend(entries: Sequence[_Entry | str], width: int, top: int) -> tuple[list[str], int]:
    """Return the elements of the legend in as many columns as fit, and its lower edge."""
    columns = max(1, width // _entry_width(entries))
    lines = []
    for index, entry in enumerate(entries):
        line, column = divmod(index, columns)
        left, y = _MARGIN + column * _entry_width(entries), top + _MARGIN + line * _LEGEND_LINE
        lines.append(f'<g transform="translate({left} {y})">{"".join(_explained(entry))}</g>')
    return lines, top + 2 * _MARGIN + -(-len(entries) // columns) * _LEGEND_LINE


def _explained(entry: _Entry | str) -> Iterator[str]:
    if isinstance(entry, str):
        yield text_at(_LEGEND_TEXT, 8, entry)
        return
    use, paint, words = entry
    yield _cell(0, use, paint.name if paint else "", words)
    if paint and use is HostUse.NODE:
        yield from _mark(0, use, paint)
    yield text_at(_LEGEND_TEXT, 8, words)
