"""What a platform fetches for itself: a table, and what in it no digest decides."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import RenderableType
from rich.text import Text

from components.reports.platform_images import PlatformImages
from jacquard.cli.tables import plain_table


def tables(found: PlatformImages) -> Iterator[RenderableType]:
    """Yield the table, and the count of what is by tag with the reason to care."""
    rows = plain_table("form", "from", "version", "digest", "objects", numbers={"objects"})
    for image in found.images:
        digest = Text(image.digest.partition(":")[2][:12]) if image.digest else Text("by tag", "yellow")
        rows.add_row(image.form, image.name, image.version or "-", digest, str(sum(image.needed_by.values())))
    yield rows
    yield ""
    tags = sum(image.digest is None for image in found.images)
    yield Text(f"{len(found.images) - tags} of {len(found.images)} are fetched by their digest")
    for form, why in found.by_tag.items():
        yield Text(f"by tag: {form}, since {why}", "yellow")
