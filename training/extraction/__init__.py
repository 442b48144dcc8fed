"""Extracts the vectors of texts from a network, as extract_features.py does.

Nothing is trained. The flags of the network and of the devices, and what runs
the network on them, are those of a training:

    extract_features_config.py: the flags of the script
    extraction_setup.py: the stages before TensorFlow is loaded
    feature_extraction.py: the stages that run the network
"""
