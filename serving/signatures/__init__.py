"""The signatures of exports: what a file of tasks/ does, in a graph."""
