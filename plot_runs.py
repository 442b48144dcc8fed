"""Names the command that replaces this script."""

from training.command_line import moved

moved.answer(__name__, __file__)
