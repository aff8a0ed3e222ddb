"""Shared parts of servers that Pulumi's engine starts: stubs, life cycle, property values, diffs, errors.

A provider is a class based on `jacquard.providers.rpc.stubs.ResourceProviderServicer` and one line::

    def main() -> None:
        serve_provider(Provider())
"""
