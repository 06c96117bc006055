"""Rights to documents: the people and places to which their content may be told."""
