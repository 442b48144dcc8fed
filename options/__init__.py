"""Declares options as fields of dataclasses."""
