"""The harness: local region, provider stand-ins and toolchain; imported through `jacquard.harness` only."""
