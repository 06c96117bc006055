"""Looking at text without a model: terms, sentences, figures and names, language, token counts."""
