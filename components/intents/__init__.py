"""What nodes and DPUs are to be: images, intents, and in what those that run are behind their data."""
