"""Slack: mentions, direct messages, commands and shortcuts in; streamed, cited answers out."""
