"""Checkpoints of BERT in the formats of several libraries.

loading.py finds and loads a checkpoint of any format, a `Checkpoint` (base.py).
tf1.py, huggingface.py and kerashub.py read and write their formats. Training
uses TensorFlow 1's. Other modules read the formats of more libraries, as
sources.py says.
"""
