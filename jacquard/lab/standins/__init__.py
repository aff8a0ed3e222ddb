"""Stand-ins for the vendor's language host and providers, used only if those are not available."""
