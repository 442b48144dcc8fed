"""Model cards, the README.md of folders."""
