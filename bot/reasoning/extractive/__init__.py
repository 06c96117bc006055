"""The reasoner without a model: it searches, follows names from page to page, and quotes."""
