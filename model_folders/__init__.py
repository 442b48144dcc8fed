"""Folders of weights: what their files state, and the files beside weights."""
