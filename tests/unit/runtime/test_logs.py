"""The library's log can be switched off, on, and to stderr."""

from __future__ import annotations

import logging

import pytest

import reasonact

logger = logging.getLogger("reasonact.something")


def test_nothing_is_logged_while_logging_is_disabled(caplog: pytest.LogCaptureFixture) -> None:
    reasonact.disable_logging()
    logger.critical("hidden")
    reasonact.enable_logging()
    logger.info("shown")
    assert ["shown"] == [record.message for record in caplog.records]


def test_configured_loggers_print_each_line_once_however_often_they_are_configured(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reasonact.configure_dspy_loggers("dspy")
    reasonact.configure_dspy_loggers("dspy")
    logger.info("once")
    assert 1 == capsys.readouterr().err.count("reasonact.something [INFO] once")
