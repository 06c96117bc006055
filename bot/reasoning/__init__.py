"""Who thinks: the reasoner protocol, Claude, and the extractive reasoner."""
