"""The page in a browser: type, click, read the answer."""

import functools
import http.server
import json
import re
import shutil
import threading

import pytest

webdriver = pytest.importorskip(
    "selenium.webdriver", reason="needs requirements/dev.txt"
)
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

from tests.contrast import contrast  # noqa: E402
from tests.golden import ROOT  # noqa: E402

EVIL = '<img src=x onerror=alert(1)> & "the harbor" \U0001f6a2 light'


@pytest.fixture(scope="module")
def driver():
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if not (chromium and chromedriver):
        pytest.skip("needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        *("--headless=new", "--no-sandbox", "--disable-gpu"),
        "--disable-dev-shm-usage",
    ):
        options.add_argument(argument)
    service = webdriver.ChromeService(chromedriver)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


def find(driver, css):
    """Returns the first visible element, when there is one."""

    def look(_):
        for element in driver.find_elements(By.CSS_SELECTOR, css):
            if element.is_displayed():
                return element
        return None

    return WebDriverWait(driver, 60).until(look, css)


@pytest.fixture
def ask(driver, server):
    """Opens a tab, types, asks; returns the answer's element."""

    def ask(task, **texts):
        driver.get("about:blank")
        driver.get(f"http://127.0.0.1:{server.port}/#{task}")
        panel = f"#panel-{task} "
        for name, text in texts.items():
            field = find(driver, f"{panel}[name={name}]")
            # A driver cannot type characters beyond the first plane.
            driver.execute_script(
                "arguments[0].value = arguments[1]", field, text
            )
        find(driver, f"{panel}button.ask").click()
        return find(driver, f"{panel}.answer")

    yield ask
    errors = [
        entry
        for entry in driver.get_log("browser")
        if entry["level"] == "SEVERE"
        and "status of 400" not in entry["message"]
    ]
    assert not errors


def texts_of(element, css):
    return [one.text for one in element.find_elements(By.CSS_SELECTOR, css)]


def test_tabs_are_used_by_keyboard(driver, server):
    driver.get(f"http://127.0.0.1:{server.port}/")
    tab = find(driver, "nav button[aria-selected=true]")
    assert tab.text == "Fill the gap"
    tab.send_keys(Keys.ARROW_RIGHT)
    tab = driver.switch_to.active_element
    assert tab.text == "Next sentence"
    assert tab.get_attribute("aria-selected") == "true"
    field = find(driver, "#panel-next-sentence [name=text_a]")
    field.send_keys(Keys.CONTROL, Keys.ENTER)
    answer = find(driver, "#panel-next-sentence .answer")
    assert texts_of(answer, ".name") == ["follows", "does not"]
    assert len(driver.find_elements(By.CSS_SELECTOR, "nav button")) == 6
    assert not find(driver, "h1").find_elements(By.CSS_SELECTOR, "*")


def test_fill_mask(ask):
    answer = ask("fill-mask", text="The [MASK] is [MASK].")
    assert texts_of(answer, "h2") == ["1. [MASK]", "2. [MASK]"]
    assert len(texts_of(answer, ".name")) == 16
    answer = ask("fill-mask", text="no gap")
    (error,) = texts_of(answer, ".error")
    assert error.startswith("no [MASK] in 'text'")


def test_classify_shows_labels_and_pieces(ask):
    answer = ask("classify", text_a="The harbor", text_b=EVIL)
    assert sorted(texts_of(answer, ".name")) == ["maybe", "no", "yes"]
    pieces = texts_of(answer, ".pieces span")
    assert pieces[0] == "[CLS]" and "[SEP]" in pieces
    assert (
        "<" in pieces
        and "img" not in answer.get_property("innerHTML").split("<")[1]
    )
    assert not answer.find_elements(By.CSS_SELECTOR, "img")


def test_answers_are_marked_in_the_passage(ask):
    context = f"\U0001f6a2 {EVIL} is kept by Anna."
    answer = ask("answer", context=context, question="Who?")
    passage = answer.find_element(By.CSS_SELECTOR, ".passage")
    assert passage.get_property("textContent") == context
    best = answer.find_element(By.CSS_SELECTOR, ".answers strong").text
    marked = "".join(texts_of(answer, "mark.best"))
    # White space at the ends of elements is not part of what is seen.
    assert marked.replace(" ", "") == best.replace(" ", "")
    assert len(texts_of(answer, ".answers li")) > 1


def test_entities_are_coloured(ask):
    answer = ask("tag", text=EVIL)
    passage = answer.find_element(By.CSS_SELECTOR, ".passage")
    types = [text for text in texts_of(answer, "mark small") if text]
    text = passage.get_property("textContent")
    for kind in {*types}:
        text = text.replace(kind, "")
    assert text == EVIL
    assert types and not answer.find_elements(By.CSS_SELECTOR, "img")


@pytest.fixture
def emulate(driver):
    """Asks for light or dark mode."""

    def emulate(scheme):
        features = [{"name": "prefers-color-scheme", "value": scheme}]
        driver.execute_cdp_cmd(
            "Emulation.setEmulatedMedia", {"features": features}
        )

    yield emulate
    driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


# Returns [of the text, of what is behind it], as numbers to 255.
COLORS = """
const style = getComputedStyle(arguments[0]);
const context = document.createElement("canvas").getContext("2d");
return [style.color, style.backgroundColor].map((color) => {
  context.fillStyle = color;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data].slice(0, 3);
});
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colored_texts_can_be_read(driver, ask, emulate, scheme):
    emulate(scheme)
    answer = ask("embed", text="one\ntwo")
    (cell, *_) = answer.find_elements(By.CSS_SELECTOR, "td")
    driver.execute_script(
        """const [cell, numbers] = arguments;
        showSimilarity(cell.closest("section"), numbers.map(
          (cosine) => [cosine, Math.sqrt(1 - cosine * cosine)]), numbers);""",
        cell,
        [1, 0.8, 0.7, 0.5, 0.2],
    )
    cells = answer.find_elements(By.CSS_SELECTOR, "td")
    assert len(cells) == 4 + 25
    colors = [driver.execute_script(COLORS, cell) for cell in cells]
    best = ask("answer").find_element(By.CSS_SELECTOR, "mark.best")
    for found in [*colors, driver.execute_script(COLORS, best)]:
        text, back = ([part / 255 for part in color] for color in found)
        assert contrast(text, back) >= 4.5, found


def test_similarity(driver, ask):
    answer = ask("embed", text="The boat.\n\nThe boat.\nA storm!")
    cells = texts_of(answer, "td")
    assert len(cells) == 9
    assert cells[0] == cells[1] == cells[4] == "1.00" != cells[2]
    found = answer.find_elements(By.CSS_SELECTOR, "td")
    styles = [cell.get_attribute("style") for cell in found]
    assert "--share: 50%" in styles[0] and "--share: 0%" in styles[2]
    # It says which model answers, though there is only one.
    assert ", version " in find(driver, "#panel-embed select").text
    answer = ask("embed", text="one alone")
    assert "enter 2 to 12 sentences" in texts_of(answer, ".error")[0]


class InWords(http.server.SimpleHTTPRequestHandler):
    """The page's files, and a proxy that wants a token and fails in words."""

    def do_GET(self):
        if self.path == "/api/models":
            if self.headers["Authorization"] != "Bearer a-secret":
                self.answer(401, "{}")
                return
            models = [{"name": "m", "version": 1, "tasks": ["tag"]}]
            self.answer(200, json.dumps({"models": models}))
        else:
            self.path = self.path.removeprefix("/page")
            super().do_GET()

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.answer(503, "<b>Service Unavailable</b>")

    def answer(self, status, text):
        self.send_response(status)
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_):
        pass


def test_a_token_an_error_in_words_and_no_server(driver):
    folder = ROOT / "serving" / "server" / "page"
    handler = functools.partial(InWords, directory=folder)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            driver.get(f"http://127.0.0.1:{server.server_port}/")
            status = find(driver, "#status")
            WebDriverWait(driver, 60).until(lambda _: "token" in status.text)
            find(driver, "#token input").send_keys("a-secret", Keys.ENTER)
            find(driver, "button.ask").click()
            assert texts_of(find(driver, ".answer"), ".error") == [
                "the server answered 503: <b>Service Unavailable</b>"
            ]
        finally:
            server.shutdown()
    find(driver, "button.ask").click()
    WebDriverWait(driver, 60).until(
        lambda _: (
            texts_of(find(driver, ".answer"), ".error")
            == ["the server cannot be reached; is it still running?"]
        )
    )
    driver.get_log("browser")


def test_a_narrow_screen_needs_no_scrolling_sideways(driver, ask):
    metrics = {"width": 360, "height": 800, "deviceScaleFactor": 1}
    driver.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride", {**metrics, "mobile": False}
    )
    try:
        for task in (
            *("fill-mask", "next-sentence", "classify", "answer", "tag"),
            "embed",
        ):
            ask(task)
            width = driver.execute_script(
                "return document.documentElement.scrollWidth"
            )
            assert width <= 360, task
    finally:
        driver.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def test_dark_mode_is_readable(driver, ask, emulate):
    def lightness(color):
        red, green, blue = (int(part) for part in re.findall(r"\d+", color)[:3])
        return (0.3 * red + 0.6 * green + 0.1 * blue) / 255

    for scheme in ("light", "dark"):
        emulate(scheme)
        answer = ask("tag", text=EVIL)
        for element in [
            find(driver, "h1"),
            find(driver, "button.ask"),
            find(driver, "#panel-tag textarea"),
            *answer.find_elements(By.CSS_SELECTOR, "mark"),
        ]:
            # What is behind an element, if it has no colour of its own.
            back = driver.execute_script(
                """let one = arguments[0], color;
                do { color = getComputedStyle(one).backgroundColor;
                     one = one.parentElement;
                } while (one && color === "rgba(0, 0, 0, 0)");
                return color;""",
                element,
            )
            text = lightness(element.value_of_css_property("color"))
            assert abs(text - lightness(back)) > 0.4, element.text
        assert (lightness(back) < 0.5) == (scheme == "dark")
