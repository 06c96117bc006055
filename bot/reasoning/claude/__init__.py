"""Models of the Claude API."""
