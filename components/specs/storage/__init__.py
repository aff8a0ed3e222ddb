"""Specs of storage classes and buckets."""
