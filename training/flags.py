"""Flags that several scripts share, under the original's names and defaults.

Each function defines flags when a script calls it, never on import, so that
the scripts can be imported side by side.
"""

from absl import flags

from training import distribution


def define_model_flags():
    """Defines which model to build and where it starts from."""
    flags.DEFINE_string(
        "bert_config_file",
        None,
        "JSON file of the model's architecture; a Hugging Face config.json "
        "is read as well.",
    )
    flags.DEFINE_string(
        "init_checkpoint",
        None,
        "Checkpoint to start from: the prefix of a TF1 checkpoint "
        "(bert_model.ckpt), or a Hugging Face folder or .safetensors file.",
    )


def define_text_flags():
    """Defines how text is tokenized."""
    flags.DEFINE_string(
        "vocab_file", None, "The vocabulary the model was trained on."
    )
    flags.DEFINE_bool(
        "do_lower_case",
        True,
        "Lower-case the text: True for uncased models, False for cased ones.",
    )


def define_training_flags(learning_rate, save_checkpoints_steps=1000):
    """Defines how the model is trained."""
    flags.DEFINE_integer(
        "train_batch_size", 32, "Examples in a training batch.", lower_bound=1
    )
    flags.DEFINE_float(
        "learning_rate", learning_rate, "Peak learning rate.", lower_bound=0.0
    )
    flags.DEFINE_integer(
        "save_checkpoints_steps",
        save_checkpoints_steps,
        "Steps between two checkpoints.",
        lower_bound=1,
    )
    flags.DEFINE_integer(
        "keep_checkpoint_max",
        5,
        "How many of the newest checkpoints to keep; 0 for all.",
        lower_bound=0,
    )
    flags.DEFINE_integer(
        "seed", 12345, "Seed of initialization, dropout and data order."
    )


def define_device_flags():
    """Defines where and in what precision the model runs."""
    flags.DEFINE_enum(
        "distribution_strategy",
        None,
        distribution.STRATEGIES,
        "Where to train; by default what the machine offers.",
    )
    flags.DEFINE_enum(
        "mixed_precision",
        "float32",
        list(distribution.PRECISIONS),
        "Precision of the computation; variables stay float32.",
    )
    flags.DEFINE_bool(
        "jit_compile", False, "Compile the network by XLA; rarely pays on CPU."
    )
    flags.DEFINE_bool("use_tpu", False, "Run on a TPU.")
    flags.DEFINE_string("tpu_name", None, "Name or grpc address of the TPU.")
    flags.DEFINE_string("tpu_zone", None, "Zone of the TPU.")
    flags.DEFINE_string("gcp_project", None, "Project of the TPU.")
    flags.DEFINE_string(
        "master", None, "Address of the TPU, where no --tpu_name is given."
    )
    flags.DEFINE_integer(
        "num_tpu_cores", 8, "Cores of the TPU; checked against what it has."
    )


def define_export_flags():
    """Defines what leaves the run."""
    flags.DEFINE_string(
        "export_dir", None, "Write a SavedModel for serving to this folder."
    )
