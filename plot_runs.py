"""This command has moved. Running it fails and prints the new command."""

from training.command_line import moved

moved.answer(__name__, __file__)
