"""Writes exports in the formats SavedModel, LiteRT and ONNX."""
