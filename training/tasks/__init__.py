"""Tasks of a script beside its first one, which the script itself contains."""
