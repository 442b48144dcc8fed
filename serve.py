"""Answers HTTP requests with exported models.

    python serve.py --model=output/squad_model --model=mrpc=output/mrpc_model

    GET  /                        a page to try the models in a browser
    GET  /healthz                 200 once every model is loaded
    GET  /v1/models/NAME          whether the model is loaded
    POST /api/models/NAME/TASK    what predict.py replies to the same JSON
    POST /v1/models/NAME:predict  {"instances": [texts or objects]}

The server stops at SIGTERM or Ctrl-C, after answering all accepted requests.
"""

from command_line import cli
from options.parsed_command import ParsedCommand
from serving.http.serve_config import ServeConfig
from serving.http.serve_stages import (
    check_allowed_origins,
    end_at_signals,
    find_export_folders,
    read_token,
    serve_models,
)


def main(parsed: ParsedCommand[ServeConfig]) -> int:
    """Loads the models, and answers requests until SIGTERM or Ctrl-C."""
    config = parsed.config
    end_at_signals()
    models = find_export_folders(config)
    token = read_token(config.token_file)
    check_allowed_origins(config.allow_origin, token)
    serve_models(config, models, token)
    return 0


command = cli.Command(main, ServeConfig)

if __name__ == "__main__":
    command()
