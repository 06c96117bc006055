"""Reading: from a URL to a page of text, and from a page to its passages."""
