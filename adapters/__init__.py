"""Platforms: each folder or module parses what comes in and renders what goes out."""
