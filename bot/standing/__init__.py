"""Standing questions: researched again on a schedule, and told of only when the answer changes."""
