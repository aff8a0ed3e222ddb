"""What turns a bare machine into one that can run everything here. Standard library only."""
