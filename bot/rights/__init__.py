"""Rights to documents: who may be told what they say, and where."""
