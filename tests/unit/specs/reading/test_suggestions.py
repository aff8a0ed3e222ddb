"""Names that messages suggest for wrong ones."""

from __future__ import annotations

import pytest

from components.specs.reading.problems import suggestion

KUBERNETES = ("v1.34.6", "v1.35.1", "v1.35.2", "v1.36.1")
IMAGES = ("cpu-2026.11.1", "gpu-2026.11.1", "gpu-2026.12.0")


@pytest.mark.parametrize(
    ("wrong", "names", "expected"),
    [
        ("v1.40.0", KUBERNETES, "v1.36.1"),
        ("v1.33.9", KUBERNETES, "v1.34.6"),
        ("v1.35.22", KUBERNETES, "v1.35.2"),
        ("v1.35", KUBERNETES, "v1.35.1"),
        ("v1.35.0-rc.1", KUBERNETES, "v1.35.1"),
        ("v2.35.2", KUBERNETES, None),
        ("1.35.2", KUBERNETES, "v1.35.2"),
        ("gpu-2026.11.9", IMAGES, "gpu-2026.11.1"),
        ("gpu-2026.11.2", ("gpu-2026.11.1", "gpu-2026.11.3"), "gpu-2026.11.3"),
        ("gpu-2026.13.1", IMAGES, "gpu-2026.12.0"),
        ("gpu-2027.11.1", IMAGES, None),
        ("gpuu-2026.11.1", IMAGES, "gpu-2026.11.1"),
        ("shared-vats", ("shared-nfs", "shared-vast"), "shared-vast"),
        ("cpu-5", ("cpu-4", "cpu-16"), "cpu-4"),
    ],
)
def test_a_version_is_suggested_by_number_and_a_name_by_text(
    wrong: str, names: tuple[str, ...], expected: str | None
) -> None:
    assert suggestion(wrong, names) == (f"; did you mean '{expected}'?" if expected else "")
