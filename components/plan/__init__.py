"""Pure planning over a whole environment: allocation, cross-checks, slices and their manifests."""
