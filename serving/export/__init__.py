"""Writes exports in the formats SavedModel, LiteRT, ONNX and OpenVINO."""
