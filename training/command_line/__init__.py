"""What every script has as a command: flags, log lines, errors, processes."""
