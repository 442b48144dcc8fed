"""What every script needs as a command: flags, log lines, errors, processes."""
