"""The store: threads, messages, runs with their journals, pages and citations."""
