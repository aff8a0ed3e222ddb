"""Local region, provider stand-ins and toolchain; import them only through `jacquard.harness`."""
