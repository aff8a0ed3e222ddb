"""Where the image of a node stands: shared by the rules that judge it."""

from __future__ import annotations

TEMPLATE = "Metal3MachineTemplate"
IMAGE = ("spec", "template", "spec", "image")
CATALOGUE = "environments/catalog/images.yaml"
