"""Shows the progress of a command on the terminal, and handles signals.

This package knows no flags and loads no TensorFlow, so that any work that runs
long may use it:

    progress.py: a changing line on a terminal, else lines of the log
    signals.py: ends a script at SIGTERM or Ctrl-C
    logs.py: the format of the log, and which records the log shows

command_line/cli.py sets up the logs, and ends a script that a signal stopped.
"""
