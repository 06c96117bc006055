"""Standing questions: researched again on a schedule, and posted only when the answer changes."""
