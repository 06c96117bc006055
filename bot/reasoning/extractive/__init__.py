"""The reasoner without a model: it finds, follows and quotes."""
