"""Sources that are servers of the Model Context Protocol."""
