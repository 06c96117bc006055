"""Values, settings, texts and protocols that every part uses."""
