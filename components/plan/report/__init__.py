"""What a region is by its data: capacity, images, uniformity, each value and where it came from."""
