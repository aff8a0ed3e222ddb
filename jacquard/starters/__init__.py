"""What a new environment begins with: data that can be brought up at once, and are edited from there."""
