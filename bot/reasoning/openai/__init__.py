"""Models of OpenAI, and of servers compatible with its Chat Completions API."""
