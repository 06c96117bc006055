"""The Model Context Protocol: Footnote as a server, and as a client of other servers."""
