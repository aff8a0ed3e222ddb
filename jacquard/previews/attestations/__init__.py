"""Digests, approvals and signed statements of previews."""
