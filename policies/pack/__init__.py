"""The policy pack as a plug-in of the engine: protocol, configuration and description."""
