"""Builds the graph of an ONNX file, node by node.

Only head_outputs.py does not import the optional package onnx:

    graph_builder.py: `GraphBuilder`, which adds the layers of all networks
    encoder_nodes.py: adds the encoder to the graph
    head_outputs.py: adds the head to the graph, a function for each kind of
        model
"""
