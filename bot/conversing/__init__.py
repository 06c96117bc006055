"""Conversation logic shared by all chat platforms: access, questions, follow-ups."""
