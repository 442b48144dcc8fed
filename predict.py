"""Applies an exported model to texts from the command line, a pipe or files.

A request is a JSON object, one per line, or a row of a table, or a line of
plain text. For each request the script writes a reply: a JSON object, a row of
CSV, or a vector. The tasks, each with a request and its reply:

    fill-mask      {"text": "The [MASK] is blue."}  -> {"masks": [[{"token": ..
    next-sentence  {"text_a": "..", "text_b": ".."} -> {"probability": ..}
    classify       {"text": ".."}          -> {"label": .., ..}
    answer         {"question": "..", "context": ".."} -> {"answer": .., ..}
    tag            {"text": ".."} or {"words": [..]}   -> {"words": .., ..}
    embed          {"text": ".."}          -> {"mean_normalized": [..], ..}
    rerank         {"query": "..", "passages": [..]} -> {"ranking": [..]}
    tokenize       {"text": ".."}          -> {"tokens": .., ..}

For pairs, `classify` and `tokenize` read {"text_a": "..", "text_b": ".."}. A
reply begins with all columns of its row, or fields of its JSON object. An empty
text has an empty reply. For a request that fails, the script writes
{"line": number, "error": message}, and its exit status is 1.

Of the commands below, the first answers the requests in a table, and the second
answers a text or a pair of texts on the command line. A task over single texts
answers each text of the command line:

    python predict.py --model=DIR --input_file=a.csv --output_file=b.csv
    python predict.py --model=DIR "a text" ["a second one"]
"""

from command_line import cli, flags
from data.predictions import output_writer
from options.parsed_command import ParsedCommand
from serving.predict.predict_config import PredictConfig
from serving.predict.predict_stages import (
    check_arguments,
    list_input_files,
    reply_in_bulk,
    reply_in_process,
)


def main(parsed: ParsedCommand[PredictConfig]) -> int:
    """Loads the model, and answers the texts of the command or --input_file.

    Returns the exit status.
    """
    config = parsed.config
    beam_options = config.beam.parse(
        parsed.arguments, config.num_processes, flags.defined_names()
    )
    # With Beam, the arguments are Beam's flags, not texts.
    arguments = parsed.arguments if beam_options is None else ()
    check_arguments(config.input_file, arguments)
    paths = list_input_files(config.input_file)
    output_format = output_writer.choose_format(
        config.output_format, config.output_file
    )
    if config.is_bulk:
        num_failed = reply_in_bulk(config, output_format, paths, beam_options)
    else:
        num_failed = reply_in_process(config, output_format, paths, arguments)
    return int(num_failed > 0)


command = cli.Command(
    main,
    PredictConfig,
    may_have_beam_flags=True,
    may_have_arguments=True,
)

if __name__ == "__main__":
    command()
