"""Writes a Markdown table of runs, with means and standard deviations.

    python -m tools.results_table --runs=output/glue --output=output/glue.md

Reads the eval_results.txt of each run in the folders of --runs, at any depth,
and export_eval_results.txt beside it. Runs whose paths differ only in a folder
seed_N form one row. The numbers are those in the files, so the scores of
run_squad.py are percentages and all other scores are fractions.
"""

from command_line import cli
from files.atomic import write_text
from options.parsed_command import ParsedCommand
from tools.run_comparison.results_table_config import ResultsTableConfig
from tools.run_comparison.score_table import format_table, read_scores


def main(parsed: ParsedCommand[ResultsTableConfig]) -> None:
    """Prints the table of the runs, and writes it to --output."""
    config = parsed.config
    table = format_table(read_scores(config.runs), config.metrics)
    print(table, end="")
    if config.output:
        write_text(config.output, table)


command = cli.Command(main, ResultsTableConfig)

if __name__ == "__main__":
    command()
