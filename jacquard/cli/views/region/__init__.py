"""Views of a region: capacity, images, networks, offerings, status."""
