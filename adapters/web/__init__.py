"""The web console: ask in a browser, and see why an answer says what it says."""
