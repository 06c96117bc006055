"""What is kept: threads, messages, runs, their journals, pages and citations."""
