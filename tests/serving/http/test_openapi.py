"""What serve.py says of its own paths, written by serving/http/openapi.py."""


def test_openapi_lists_only_the_replies_of_the_server(server):
    _, description = server.ask("GET", "/openapi.json")
    for path in description["paths"].values():
        for operation in path.values():
            replies = operation["responses"]
            assert [*replies] == ["200", "default"]
            content = replies["default"]["content"]["application/json"]
            assert [*content["schema"]["properties"]] == ["error"]
