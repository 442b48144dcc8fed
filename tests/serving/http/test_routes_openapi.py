"""What serve.py says of its own paths, by serving/http/routes.py."""

import pytest

METHODS_OF_PATH = {
    "/healthz": ["get"],
    "/api/models": ["get"],
    "/api/models/{name}/{task}": ["post"],
    "/v1/models/{name}": ["get"],
    "/v1/models/{name}:predict": ["post"],
}
ID_OF_PATH = {
    "/healthz": "_health_healthz_get",
    "/api/models": "_list_api_models_get",
    "/api/models/{name}/{task}": "_do_task_api_models__name___task__post",
    "/v1/models/{name}": "_status_v1_models__name__get",
    "/v1/models/{name}:predict": "_predict_v1_models__name__predict_post",
}
FIELDS_OF_TASK = {
    "answer": ["context", "question"],
    "classify": ["text", "text_a", "text_b"],
    "embed": ["text"],
    "fill-mask": ["text"],
    "next-sentence": ["text", "text_a", "text_b"],
    "rerank": ["passages", "query"],
    "tag": ["text", "words"],
    "tokenize": ["text", "text_a", "text_b"],
}


@pytest.fixture
def paths(ask_server):
    """{path: {method: its operation}} of openapi.json."""
    status, description = ask_server("GET", "/openapi.json")
    assert status == 200
    return description["paths"]


@pytest.fixture
def schemas(paths):
    """[schema of each task's requests]."""
    body = paths["/api/models/{name}/{task}"]["post"]["requestBody"]
    return body["content"]["application/json"]["schema"]["anyOf"]


def test_openapi_lists_the_paths_that_programs_ask(paths):
    methods_of_path = {path: [*methods] for path, methods in paths.items()}
    assert methods_of_path == METHODS_OF_PATH


@pytest.mark.parametrize(("path", "operation_id"), ID_OF_PATH.items())
def test_an_operation_keeps_the_id_by_which_clients_call_it(
    paths, path, operation_id
):
    (operation,) = paths[path].values()
    assert operation["operationId"] == operation_id


@pytest.mark.parametrize(
    ("path", "title"),
    [("/healthz", "Health"), ("/api/models/{name}/{task}", "Do Task")],
)
def test_the_title_of_an_operation_has_no_space_around_it(paths, path, title):
    (operation,) = paths[path].values()
    assert operation["summary"] == title


@pytest.mark.parametrize(
    ("path", "method"),
    [(path, method) for path, (method,) in METHODS_OF_PATH.items()],
)
def test_an_operation_lists_only_the_replies_of_the_server(paths, path, method):
    replies = paths[path][method]["responses"]
    assert [*replies] == ["200", "default"]
    schema = replies["default"]["content"]["application/json"]["schema"]
    assert schema["properties"] == {"error": {"type": "string"}}
    assert schema["required"] == ["error"]


@pytest.mark.parametrize(("path", "methods"), METHODS_OF_PATH.items())
def test_only_a_post_has_a_body(paths, path, methods):
    (method,) = methods
    assert ("requestBody" in paths[path][method]) == (method == "post")


def test_a_body_has_the_fields_of_a_task(schemas):
    fields_of_task = {
        schema["title"]: sorted(schema["properties"]) for schema in schemas
    }
    assert fields_of_task == FIELDS_OF_TASK


def test_words_and_passages_are_lists_and_other_fields_are_strings(schemas):
    types = {}
    for schema in schemas:
        for name, value in schema["properties"].items():
            types.setdefault(value["type"], set()).add(name)
    assert types["array"] == {"words", "passages"}
    assert types["string"].isdisjoint(types["array"])
    assert {*types} == {"array", "string"}
