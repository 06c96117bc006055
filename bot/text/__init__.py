"""Text analysis without a model: terms, sentences, figures and names, language, token counts."""
