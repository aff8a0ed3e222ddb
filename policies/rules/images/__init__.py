"""Policies about images, charts and other artefacts."""
