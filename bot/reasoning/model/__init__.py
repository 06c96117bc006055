"""A language model as a reasoner, whichever service it runs at."""
