"""Builds the graph of an ONNX file, node by node.

heads/ adds the heads to the graph. Only encoder_graph.py runs without the
optional package onnx.

    graph_builder.py: `GraphBuilder`, which adds the layers of all networks
    encoder_nodes.py: adds the encoder to the graph
    encoder_graph.py: `EncoderGraph`, to which a head adds its outputs
"""
