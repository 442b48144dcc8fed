"""Prints what --help and --helpfull show."""

from absl import flags as absl_flags  # noqa: TID251  defines and parses flags

from dependencies import installation

# {title: flags that most commands need}. --helpfull lists all flags.
FLAGS_OF_SECTION = {
    "data": (
        "task_name",
        "data_dir",
        "data_file",
        "train_file",
        "predict_file",
        "input_file",
        "text_column",
        "text_b_column",
        "label_column",
        "version_2_with_negative",
        "max_seq_length",
        "max_predictions_per_seq",
    ),
    "model": (
        "init_checkpoint",
        "bert_config_file",
        "vocab_file",
        "do_lower_case",
    ),
    "training": (
        "do_train",
        "do_eval",
        "do_predict",
        "learning_rate",
        "num_train_epochs",
        "num_train_steps",
        "num_warmup_steps",
        "train_batch_size",
    ),
    "output": ("output_dir", "export_dir", "export_format"),
}
# Scripts with at most this number of flags show all of them.
_MAX_SHOWN_FLAGS = 30


def section_of(name: str) -> str:
    """Returns the title of a flag's group, or "more"."""
    return next(
        (
            title
            for title in FLAGS_OF_SECTION
            if name in FLAGS_OF_SECTION[title]
        ),
        "more",
    )


def print_help(purpose: str, script_name: str, *, is_full: bool) -> None:
    """Prints the purpose of a script, and its flags.

    Args:
        purpose: docstring of the script.
        script_name: name of the script, under which its flags are defined.
        is_full: whether to print all flags, in the order of the alphabet.
    """
    print(installation.with_command_names(purpose))
    own = absl_flags.FLAGS.get_key_flags_for_module(script_name)
    if is_full or len(own) <= _MAX_SHOWN_FLAGS:
        page = absl_flags.FLAGS.module_help(script_name)
        print(installation.with_command_names(page))
        return
    listed = {
        flag.name: flag for flag in own if section_of(flag.name) != "more"
    }
    for title, names in FLAGS_OF_SECTION.items():
        for flag in (listed[name] for name in names if name in listed):
            absl_flags.FLAGS.register_key_flag_for_module(title, flag)
        print(
            installation.with_command_names(absl_flags.FLAGS.module_help(title))
        )
    print(f"--helpfull also lists {len(own) - len(listed)} other flags.")
