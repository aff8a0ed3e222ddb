"""Rules about storage classes and buckets."""
