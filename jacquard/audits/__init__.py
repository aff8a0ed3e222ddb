"""Audits of a region: recorded resources, live objects and past commits, judged by the current policies."""
