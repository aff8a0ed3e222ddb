"""What every server that Pulumi's engine starts needs: stubs, life cycle, property values, diffs, errors.

A provider is a class over `jacquard.providers.rpc.stubs.ResourceProviderServicer` and one line::

    def main() -> None:
        serve_provider(Provider())
"""
