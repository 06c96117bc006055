"""What a package of a third party adds to Footnote; ``test_packages`` installs it from a folder."""
