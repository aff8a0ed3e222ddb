"""Stand-in for the vendor's ``pulumi-resource-kubernetes`` v4.34.2: single objects by server-side apply."""
