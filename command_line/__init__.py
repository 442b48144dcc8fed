"""Turns a command line into a `Config`, and shows help and errors.

A script declares its flags as a `Config` of options, by options/, which parses
no command line. The `cli.Command` of the script runs it. terminal/ shows the
progress of a running command, and handles Ctrl-C. Nothing here loads
TensorFlow, so that --help and wrong flags show quickly.

    cli.py: `Command`, which leads from the command line to the exit status
    flags.py: makes a flag of each option with absl, parses the command
        line, ends the script if it is wrong, and returns the
        `ParsedCommand`
    help_pages.py: prints what --help and --helpfull show
    user_errors.py: decides whether an error is the user's or a bug
"""
