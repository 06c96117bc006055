"""Discord: answers in threads, with footnotes, through its bot gateway."""
