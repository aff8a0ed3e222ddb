"""Renderers of storage classes and buckets."""
