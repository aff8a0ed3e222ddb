"""What turns a bare machine into one that can run everything here, and its files and locks. Standard library only."""
