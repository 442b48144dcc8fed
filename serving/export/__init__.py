"""Writes exports: SavedModels, LiteRT, ONNX and OpenVINO."""
