"""Renders answers, plans, sources and pages as safe HTML."""
