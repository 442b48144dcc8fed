"""Moved: ends with an error that names the new command."""

from training.command_line import moved

moved.answer(__name__, __file__)
