"""The page in headless Chromium: it opens, it is used by mouse and by keyboard, and nothing hostile runs."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from made_runs import HOSTILE, event, made_run
from selenium import webdriver
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webdriver import WebDriver

import reasonact
from reasonact.testing import ScriptedLM
from reasonact.view.messages import text_of
from reasonact.view.page import page, page_in_a_frame
from reasonact.view.prompts import prompts_of
from reasonact.view.record import RunRecord

DRIVER = "/usr/bin/chromedriver"
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)

Open = Callable[[RunRecord], WebDriver]


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[WebDriver]:
    if not Path(DRIVER).exists() or shutil.which("chromium") is None:
        pytest.fail("these tests need Chromium: apt-get install -y chromium chromium-driver", pytrace=False)
    options = Options()
    options.binary_location = str(shutil.which("chromium"))
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}", "--window-size=1200,900"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture
def opened(browser: WebDriver, tmp_path: Path) -> Open:
    def open_page(record: RunRecord) -> WebDriver:
        path = tmp_path / "run.html"
        path.write_text(page(record), encoding="utf-8")
        browser.get_log("browser")
        browser.get(path.as_uri())
        return browser

    return open_page


def console(browser: WebDriver) -> list[Any]:
    return [entry["message"] for entry in browser.get_log("browser")]


def is_open(browser: WebDriver, selector: str) -> bool:
    return browser.find_element(By.CSS_SELECTOR, selector).get_attribute("open") is not None


def test_the_page_opens_without_a_word_in_the_console(opened: Open) -> None:
    browser = opened(made_run())
    assert "ReActV2: How far is it?" == browser.title
    assert [] == console(browser)


def test_a_call_expands_by_mouse(opened: Open) -> None:
    browser = opened(made_run())
    summary = browser.find_element(By.CSS_SELECTOR, "details.call > summary")
    result = browser.find_element(By.CSS_SELECTOR, "details.call pre:last-of-type")
    assert not result.is_displayed()
    summary.click()
    assert result.is_displayed()
    summary.click()
    assert not result.is_displayed()


def test_a_call_expands_by_keyboard_and_the_focus_can_be_seen(opened: Open) -> None:
    browser = opened(made_run())
    for _ in range(20):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        focused = browser.switch_to.active_element
        if focused.tag_name == "summary":
            break
    assert "search" in focused.text
    assert "solid" == focused.value_of_css_property("outline-style")
    for key in (Keys.ENTER, Keys.SPACE):
        focused.send_keys(key)
        assert is_open(browser, "details.call") is (key == Keys.ENTER)


def test_all_calls_expand_by_a_button(opened: Open) -> None:
    browser = opened(made_run())
    for word, expected in (("yes", 3), ("no", 0)):
        browser.find_element(By.CSS_SELECTOR, f"button[data-open={word}]").send_keys(Keys.ENTER)
        assert expected == len(browser.find_elements(By.CSS_SELECTOR, "details.call[open]"))


def test_the_plots_are_drawn(opened: Open) -> None:
    browser = opened(made_run())
    bars = browser.find_elements(By.CSS_SELECTOR, "#tokens-plot rect")
    dots = browser.find_elements(By.CSS_SELECTOR, "#cost-plot circle")
    assert (8, 3) == (len(bars), len(dots))
    assert all(bar.size["height"] > 0 and bar.size["width"] > 5 for bar in bars)
    heights = [dot.location["y"] for dot in dots]
    assert sorted(heights, reverse=True) == heights


def test_a_link_of_the_timeline_leads_to_its_turn(opened: Open) -> None:
    browser = opened(made_run([event(None, ("search", {}, "x", False)) for _ in range(30)]))
    browser.find_elements(By.CSS_SELECTOR, ".strip a")[20].click()
    top = browser.execute_script("return document.getElementById('turn-20').getBoundingClientRect().top")
    assert -5 <= top < 900


def test_the_whole_of_every_request_can_be_read(opened: Open) -> None:
    record = made_run()
    browser = opened(record)
    prompts = list(prompts_of(record))
    browser.execute_script("for (const item of document.querySelectorAll('details')) item.open = true")
    for button in browser.find_elements(By.CSS_SELECTOR, "button[data-whole]"):
        button.send_keys(Keys.ENTER)
    for number, prompt in enumerate(prompts):
        shown = browser.execute_script(
            "return Array.from(document.querySelectorAll(arguments[0]), (item) => item.textContent)",
            f"#request-{number} .messages > li > pre",
        )
        assert len(prompt.messages) == len(shown)
        for message, text in zip(prompt.messages, shown, strict=True):
            assert (message["content"] or "") in text
    assert [] == console(browser)


def test_a_growing_message_is_marked_where_it_is_unchanged_and_put_together_again(opened: Open) -> None:
    step = "[[ ## next_thought ## ]]\n{}\n\n[[ ## next_tool_name ## ]]\n{}\n\n[[ ## next_tool_args ## ]]\n{{}}"
    steps = [step.format(f"🦊 step {number}", "look") for number in range(3)]
    end = "[[ ## reasoning ## ]]\nso\n\n[[ ## answer ## ]]\n1"

    def look() -> str:
        """Look."""
        return "a view of the sea and 🦊 the hills\n" * 5

    agent = reasonact.ReAct("question -> answer", [look])
    with reasonact.context(lm=ScriptedLM([*steps, step.format("done", "finish"), end]), adapter=None):
        record = agent(question="q").run.record
    browser = opened(record)
    browser.execute_script("for (const item of document.querySelectorAll('details')) item.open = true")
    assert "unchanged from request 3" in browser.find_element(By.CSS_SELECTOR, "#request-3 pre .same").text
    for button in reversed(browser.find_elements(By.CSS_SELECTOR, "button[data-whole]")):
        button.click()
    for number, prompt in enumerate(prompts_of(record)):
        shown = browser.execute_script(
            "return Array.from(document.querySelectorAll(arguments[0]), (item) => item.textContent)",
            f"#request-{number} .messages > li > pre",
        )
        assert [text_of(message) for message in prompt.messages] == shown


def test_a_link_to_a_closed_request_opens_it(opened: Open) -> None:
    browser = opened(made_run())
    browser.execute_script("document.querySelector('#request-1').open = true")
    browser.find_element(By.CSS_SELECTOR, "#request-1 .kept a").click()
    assert is_open(browser, "#request-0")


def test_a_hostile_run_runs_nothing(opened: Open, browser: WebDriver, tmp_path: Path) -> None:
    inputs, outputs = {"question": HOSTILE}, {"answer": HOSTILE}
    record = made_run([event(HOSTILE, (HOSTILE, {HOSTILE: HOSTILE}, HOSTILE, False), **inputs)], inputs, outputs)
    opened(record)
    browser.execute_script("for (const item of document.querySelectorAll('details')) item.open = true")
    assert None is browser.execute_script("return window.hacked")
    assert 1 == len(browser.find_elements(By.TAG_NAME, "script"))
    assert 0 == len(browser.find_elements(By.TAG_NAME, "img"))
    result = browser.find_elements(By.CSS_SELECTOR, "details.call pre")[1].text
    assert "<script>window.hacked = 1</script>" in result
    assert [] == console(browser)
    framed = tmp_path / "notebook.html"
    framed.write_text(f"<!doctype html><meta charset=utf-8>{page_in_a_frame(record)}", encoding="utf-8")
    browser.get(framed.as_uri())
    browser.switch_to.frame(browser.find_element(By.TAG_NAME, "iframe"))
    assert "ReActV2" in browser.find_element(By.TAG_NAME, "h1").text
    browser.find_element(By.CSS_SELECTOR, "button[data-open=yes]").click()
    assert is_open(browser, "details.call")
    assert None is browser.execute_script("return window.hacked")
    browser.switch_to.default_content()


def test_a_script_that_slipped_through_would_not_run(browser: WebDriver, tmp_path: Path) -> None:
    # The last line of defence: the page's policy knows its own script alone.
    path = tmp_path / "run.html"
    slipped = "</main><script>window.hacked = 1</script><b onclick='window.hacked = 2' id=b>x</b>"
    path.write_text(page(made_run()).replace("</main>", slipped), encoding="utf-8")
    browser.get(path.as_uri())
    browser.find_element(By.ID, "b").click()
    assert None is browser.execute_script("return window.hacked")
    assert [True, True] == ["Content Security Policy" in line for line in console(browser)]


@pytest.mark.parametrize("width", [360, 1400])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_fits_its_window_in_light_and_dark(opened: Open, width: int, scheme: str) -> None:
    browser = opened(made_run())
    chrome: Any = browser
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        browser.execute_script("for (const item of document.querySelectorAll('details')) item.open = true")
        assert width >= browser.execute_script("return document.documentElement.scrollWidth")
        script = "return getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)"
        assert (scheme == "light") is (sum(browser.execute_script(script)) > 400)
    finally:
        chrome.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
