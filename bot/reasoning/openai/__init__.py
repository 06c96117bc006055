"""Models of OpenAI, and of servers that speak its Chat Completions API."""
