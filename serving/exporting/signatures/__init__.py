"""The parts of all signatures, and the signatures that all exports have.

heads/ contains the signatures that differ between the kinds of models.

    signature.py: `ExportSignatures`, and what all signatures use
    ids_graph.py: `ids`, which only runs the network, and computes its outputs
    tokenize_graph.py: WordPieces, as the network reads them
    batching_graph.py: splits large requests inside a SavedModel
"""
