"""What is taken out of the options that a history keeps."""

from __future__ import annotations

from reasonact.lm.secrets import without_secrets


def test_a_function_whose_argument_is_called_password_is_kept_whole() -> None:
    function = {
        "type": "function",
        "function": {"name": "log_in", "parameters": {"properties": {"password": {"type": "string"}}}},
    }
    assert {"tools": [function]} == without_secrets({"tools": [function], "api_key": "sk-1"})


def test_a_hosted_tool_keeps_everything_but_its_login() -> None:
    hosted = {"type": "mcp", "server_url": "https://me:pw@host/x", "headers": {"Authorization": "Bearer t"}}
    expected = {"type": "mcp", "server_url": "https://host/x", "headers": {}}
    assert {"tools": [expected]} == without_secrets({"tools": [hosted]})
