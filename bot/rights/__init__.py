"""Rights to documents: the people and places that may see their content."""
