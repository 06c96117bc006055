"""A third party's package that adds to Footnote; ``test_packages`` installs it from a folder."""
