"""What is taken out of the options that a history keeps."""

from __future__ import annotations

from reasonact.lm.secrets import without_secrets


def test_a_function_whose_argument_is_called_password_is_kept_whole() -> None:
    function = {
        "type": "function",
        "function": {"name": "log_in", "parameters": {"properties": {"password": {"type": "string"}}}},
    }
    assert {"tools": [function]} == without_secrets({"tools": [function], "api_key": "sk-1"})


def test_what_stands_beside_the_description_of_a_function_is_no_part_of_it() -> None:
    described = {"type": "function", "name": "log_in", "parameters": {"properties": {"password": {"type": "string"}}}}
    kept = without_secrets({**described, "api_key": "sk-1", "headers": {"Authorization": "Bearer t"}})
    assert {**described, "headers": {}} == kept


def test_a_schema_of_an_answer_with_a_field_called_password_is_kept_whole() -> None:
    schema = {"type": "object", "properties": {"password": {"type": "string"}}}
    for form in (
        {"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}},
        {"type": "json_schema", "name": "answer", "schema": schema},
        {"type": "json_object", "schema": schema},
    ):
        assert {"response_format": form} == without_secrets({"response_format": form, "api_key": "sk-1"})


def test_a_hosted_tool_keeps_everything_but_its_login() -> None:
    hosted = {"type": "mcp", "server_url": "https://me:pw@host/x", "headers": {"Authorization": "Bearer t"}}
    expected = {"type": "mcp", "server_url": "https://host/x", "headers": {}}
    assert {"tools": [expected]} == without_secrets({"tools": [hosted]})
