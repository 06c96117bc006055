"""Takes questions in, has them researched, and shows the answers."""
