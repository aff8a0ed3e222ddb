"""Picture of tenant networks as SVG: a row per VPC with its numbers and its hosts by DPU cluster."""

from collections.abc import Iterator, Sequence
from colorsys import hls_to_rgb
from html import escape

from components.reports.network.network import RegionNetwork, VpcNetwork
from jacquard.cli.views.region.pictures import hues, text_at

MARK = "written by jacquard show ENV network"
"""Comment in a picture that names its generator."""
_MARGIN, _ROW, _LINE, _SWATCH, _CELL = 12, 40, 14, 8, 44
_CHARACTER = 6.9
"""Average width of a bold character."""
_LIGHTNESS, _SATURATION = 0.5, 0.65
_STYLE = """
text{font:11px sans-serif;fill:#767676}
.h{font-weight:bold}
.c{text-anchor:middle}
rect,line{stroke:#767676;stroke-width:.5}
"""


def network_map(network: RegionNetwork) -> str:
    """Return the picture of ``network``, sized by its contents; deterministic."""
    shards = [shard.dpu_cluster for shard in network.dpu_clusters]
    texts = {vpc.vpc: _texts(vpc) for vpc in network.vpcs}
    left = 2 * _MARGIN + _SWATCH
    matrix = left + round(_CHARACTER * max((len(line) for lines in texts.values() for line in lines), default=40))
    top = 2 * _MARGIN + 2 * _LINE
    bottom = top + _ROW * len(network.vpcs)
    colours = _colours(network)
    width, height = matrix + _CELL * len(shards) + _MARGIN, bottom + _LINE * len(network.networks) + 2 * _MARGIN
    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img">',
        f"<!-- {MARK}; do not edit -->",
        f"<title>{escape(network.environment)}: networks of tenants</title>",
        f"<style>{_STYLE}</style>",
        text_at(_MARGIN, _MARGIN + _LINE, f"{network.environment}: networks of tenants, and hosts by DPU cluster", "h"),
        *_heads(shards, matrix, top),
    ]
    for index, vpc in enumerate(network.vpcs):
        lines += _row(vpc, texts[vpc.vpc], colours[vpc.tenant], top + _ROW * index, matrix, shards)
    for index, (name, prefix) in enumerate(network.networks.items(), start=1):
        lines.append(text_at(left, bottom + _MARGIN + _LINE * index, f"{name} {prefix}, of no tenant"))
    return "\n".join([*lines, "</svg>"]) + "\n"


def _texts(vpc: VpcNetwork) -> tuple[str, str]:
    evpn = f" · VNI {vpc.vni} · route target {vpc.route_target}" if vpc.vni else ""
    pkeys = "".join(f" · {fabric} PKey {number}" for fabric, number in vpc.pkeys.items())
    vrfs = "".join(f" · {fabric} VNI {number}" for fabric, number in vpc.fabric_vnis.items())
    apis = "".join(f" · API {cluster.api}" for cluster in vpc.clusters)
    prefixes = " · ".join(f"{name.replace('_', ' ')} {prefix}" for name, prefix in vpc.prefixes.items())
    peers = f" · peers {', '.join(vpc.peers)}" if vpc.peers else ""
    return f"{vpc.tenant}/{vpc.vpc} · {vpc.isolation}{evpn}{pkeys}{vrfs}{apis} · egress {vpc.egress}{peers}", prefixes


def _colours(network: RegionNetwork) -> dict[str, str]:
    colours = {}
    for tenant, hue in hues(list(dict.fromkeys(vpc.tenant for vpc in network.vpcs))).items():
        parts = hls_to_rgb(hue, _LIGHTNESS, _SATURATION)
        colours[tenant] = "#" + "".join(f"{round(part * 255):02x}" for part in parts)
    return colours


def _heads(shards: Sequence[str], matrix: int, top: int) -> Iterator[str]:
    for index, name in enumerate(shards):
        yield text_at(matrix + _CELL * index + _CELL // 2, top - _MARGIN // 2, name, "c")


def _row(
    vpc: VpcNetwork, texts: tuple[str, str], colour: str, top: int, matrix: int, shards: Sequence[str]
) -> Iterator[str]:
    hosts = {share.dpu_cluster: share.hosts for share in vpc.dpus}
    yield f'<rect x="{_MARGIN}" y="{top}" width="{_SWATCH}" height="{_ROW - _SWATCH}" fill="{colour}"/>'
    for index, text in enumerate(texts, start=1):
        yield text_at(2 * _MARGIN + _SWATCH, top + _LINE * index, text, "h" if index == 1 else "")
    for index, name in enumerate(shards):
        count = hosts.get(name, 0)
        fill = f'fill="{colour}" fill-opacity=".3"' if count else 'fill="none"'
        x = matrix + _CELL * index
        yield f'<rect x="{x}" y="{top}" width="{_CELL}" height="{_ROW - _SWATCH}" {fill}/>'
        if count:
            yield text_at(x + _CELL // 2, top + _ROW // 2, f"{count:,}", "c")
