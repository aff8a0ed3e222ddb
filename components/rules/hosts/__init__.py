"""Rules about hosts, BMCs and bare-metal controllers."""
