"""Where tools.results_table writes its table."""

from options.parsed_command import ParsedCommand
from tools import results_table
from tools.run_comparison.results_table_config import ResultsTableConfig


def test_the_table_is_printed_and_written(tmp_path, capsys):
    (tmp_path / "eval_results.txt").write_text("f1 = 0.5\n")
    output = tmp_path / "table.md"
    config = ResultsTableConfig(runs=str(tmp_path), output=str(output))
    results_table.main(ParsedCommand(config))
    table = output.read_text(encoding="utf-8")
    assert "0.500" in table
    assert capsys.readouterr().out == table
