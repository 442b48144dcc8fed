"""Checkpoints of BERT in the formats of several libraries.

loading.py finds and loads a checkpoint of any format, a `Checkpoint`
(checkpoint.py). tf1.py, huggingface.py and kerashub.py read and write their
formats. Training uses TensorFlow 1's. foreign.py loads what the readers in
`model_folders.weights` find in the files of more libraries.
"""
