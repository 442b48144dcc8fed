"""Converts the names of Hugging Face's classes for torch to Google's, and back.

tf_h5_names.py converts the names of Hugging Face's classes for TensorFlow.
"""

import re

# {Google's name: Hugging Face's name} of the weights that no general rule of
# `google_to_huggingface` converts.
_HUGGINGFACE_NAME_OF_HEAD = {
    "cls/predictions/output_bias": "cls.predictions.bias",
    "cls/seq_relationship/output_weights": "cls.seq_relationship.weight",
    "cls/seq_relationship/output_bias": "cls.seq_relationship.bias",
    "cls/squad/output_weights": "qa_outputs.weight",
    "cls/squad/output_bias": "qa_outputs.bias",
    "output_weights": "classifier.weight",
    "output_bias": "classifier.bias",
}
_GOOGLE_NAME_OF_HEAD = {
    stored: name for name, stored in _HUGGINGFACE_NAME_OF_HEAD.items()
}


def google_to_huggingface(name: str) -> str:
    """Returns the name in Hugging Face's files of a weight with this name."""
    if name in _HUGGINGFACE_NAME_OF_HEAD:
        return _HUGGINGFACE_NAME_OF_HEAD[name]
    name = re.sub(r"/layer_(\d+)/", r"/layer/\1/", name)
    name = re.sub(r"/(?:kernel|gamma)$", "/weight", name)
    name = re.sub(r"/beta$", "/bias", name)
    name = re.sub(r"_embeddings$", "_embeddings/weight", name)
    return name.replace("/", ".")


def huggingface_to_google(name: str) -> str:
    """Inverts `google_to_huggingface`. Returns unknown names unchanged."""
    if name in _GOOGLE_NAME_OF_HEAD:
        return _GOOGLE_NAME_OF_HEAD[name]
    if not name.startswith(("bert.", "cls.")):
        return name
    google = name.replace(".", "/").replace("/layer/", "/layer_")
    google = re.sub(r"/LayerNorm/weight$", "/LayerNorm/gamma", google)
    google = re.sub(r"/LayerNorm/bias$", "/LayerNorm/beta", google)
    google = re.sub(r"_embeddings/weight$", "_embeddings", google)
    google = re.sub(r"/weight$", "/kernel", google)
    return google if google_to_huggingface(google) == name else name


def normalized_name(name: str) -> str:
    """Returns the name that a new file with a head has for a weight.

    Models that were saved without a head lack the prefix `bert.`. Old files
    call the weights of a layer normalization gamma and beta.
    """
    name = name.replace("LayerNorm.gamma", "LayerNorm.weight")
    name = name.replace("LayerNorm.beta", "LayerNorm.bias")
    if re.match(r"(?:embeddings|encoder|pooler)\.", name):
        return f"bert.{name}"
    return name
