"""The server of serve.py: TensorFlow Serving's REST protocol, and a page."""
