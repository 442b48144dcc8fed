"""Folders of this project.

For example:

    vocab_file = SAMPLES / "vocab.txt"
"""

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Small data sets for each script, which the demo uses too.
SAMPLES = ROOT / "examples/samples"
