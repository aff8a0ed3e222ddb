"""Uniformity of the pools of a region as text."""

from collections import Counter
from collections.abc import Iterator

from rich.text import Text

from components.reports.uniformity import Deviation, PoolUniformity
from components.specs.reading.problems import abbreviated
from jacquard.cli.console import plural

_SHOWN = ("image", "image_sha256", "kernel", "gpu_driver", "nic_firmware", "firmware_baseline", "dpu_image", "kubelet")
"""Properties shown in the text output; JSON contains all."""
_DEVIATIONS_SHOWN = 20


def lines(pools: list[PoolUniformity]) -> Iterator[Text]:
    """Yield the expected properties of each pool, and the deviations."""
    for pool in pools:
        yield Text.assemble((pool.pool, "bold"), f": {plural(pool.nodes, 'node')}, ", _verdict(pool))
        yield Text(f"  {', '.join(f'{name} {_short(pool.values[name])}' for name in _SHOWN if name in pool.values)}")
        if pool.rollout:
            yield Text(f"  rollout to {pool.rollout['to']} is open at wave {pool.rollout['wave']}", "cyan")
        yield from map(_deviation, pool.deviations[:_DEVIATIONS_SHOWN])
        if len(pool.deviations) > _DEVIATIONS_SHOWN:
            yield Text(f"  and {len(pool.deviations) - _DEVIATIONS_SHOWN} more; --format json lists all", "dim")
        if pool.seen is not None:
            silent = [name for name, count in pool.not_reported.items() if count == pool.seen]
            inspected = f"  {plural(pool.seen, 'node')} inspected"
            yield Text(inspected + (f"; none reports {', '.join(silent)}" if silent and pool.seen else ""), "dim")


def _verdict(pool: PoolUniformity) -> Text:
    if pool.uniform:
        return Text("uniform", "green")
    if pool.uniform is None:
        return Text(f"unknown, {pool.seen} of {pool.nodes} inspected", "yellow")
    count = Counter(deviation.waiver is not None for deviation in pool.deviations)
    waived = f", {count[True]} of them waived" if count[True] else ""
    return Text(f"{plural(len(pool.deviations), 'deviation')}{waived}", "yellow")


def _deviation(item: Deviation) -> Text:
    text = f"  {item.subject} {item.property}: {_short(item.found)} instead of {_short(item.expected)} ({item.source})"
    if item.waiver:
        text += f", waived until {item.waiver['expires']}: {item.waiver['reason']} ({item.waiver['ticket']})"
    return Text(text, "dim" if item.waiver else "yellow")


def _short(value: str | None) -> str:
    """Return ``value``; a digest is shortened."""
    if value is None:
        return "none"
    bare = value.removeprefix("sha256:")
    return f"{abbreviated(bare)}..." if len(bare) == 64 else value  # noqa: PLR2004 - hex digits of a SHA-256
