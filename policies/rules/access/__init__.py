"""Policies about access: partitions, roles and Pod Security."""
