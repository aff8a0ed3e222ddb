"""Artefacts that a platform downloads: a table, and those that are not pinned by digest."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from components.reports.platform_images import PlatformImages
from jacquard.cli.tables import plain_table


def tables(images: PlatformImages) -> Iterator[RenderableType]:
    """Yield the table, the number of artefacts pinned by digest, and the reasons for tags."""
    rows = plain_table("form", "from", "version", "digest", "objects", numbers={"objects"})
    for image in images.images:
        digest = Text(image.digest.partition(":")[2][:12]) if image.digest else Text("by tag", "yellow")
        rows.add_row(image.form, image.name, image.version or "-", digest, str(sum(image.needed_by.values())))
    yield rows
    yield ""
    tags = sum(image.digest is None for image in images.images)
    yield Text(f"{len(images.images) - tags} of {len(images.images)} are pinned by digest")
    for form, why in images.by_tag.items():
        yield Text(f"by tag: {form}, since {why}", "yellow")
