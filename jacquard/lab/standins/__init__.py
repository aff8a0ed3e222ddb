"""Stand-ins for the vendor's language host and providers, used only where those cannot be had."""
