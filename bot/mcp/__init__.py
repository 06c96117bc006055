"""The Model Context Protocol, both ways: Footnote as a server of it, and as a client of others."""
