"""The page in a browser: choose, type, ask, read the reply."""

import http.server
import json
import shutil
import threading

import pytest

webdriver = pytest.importorskip(
    "selenium.webdriver", reason="needs requirements/dev.txt"
)
from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402
from selenium.webdriver.support.ui import Select, WebDriverWait  # noqa: E402

from tests.support.paths import ROOT  # noqa: E402
from tests.support.serving.server_process import running_server  # noqa: E402
from tests.support.source_files import blocks  # noqa: E402

pytestmark = pytest.mark.slow

EVIL = '<img src=x onerror=alert(1)> & "the harbor" \U0001f6a2 light'
LABEL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def driver():
    """A browser without a window."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    chromedriver = shutil.which("chromedriver")
    if not (chromium and chromedriver):
        pytest.skip("needs chromium and chromedriver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in (
        "--headless=new",
        "--no-sandbox",
        "--disable-gpu",
        "--disable-dev-shm-usage",
    ):
        options.add_argument(argument)
    service = webdriver.ChromeService(chromedriver)
    driver = webdriver.Chrome(options=options, service=service)
    yield driver
    driver.quit()


def name_first_label(folder, num_texts):
    """Gives a model LABEL as its first label, and a number of texts."""
    path = folder / "model.json"
    description = json.loads(path.read_text())
    description["origin"]["settings"] = {"num_texts": num_texts}
    labels = description["task"]["labels"]
    labels[0] = LABEL
    path.write_text(json.dumps(description))
    (folder / "labels.txt").write_text("\n".join(labels) + "\n")
    # transformers and optimum read the names in config.json.
    path = folder / "config.json"
    config = json.loads(path.read_text())
    config["id2label"] = {str(index): name for index, name in enumerate(labels)}
    config["label2id"] = {name: index for index, name in enumerate(labels)}
    path.write_text(json.dumps(config))


@pytest.fixture(scope="module")
def server(tmp_path_factory, export_folders):
    """Has each export, and classifiers of texts and of pairs with LABEL."""
    folder = tmp_path_factory.mktemp("page")
    models = dict(export_folders)
    for name, num_texts in (("single", 1), ("pairs", 2)):
        models[name] = shutil.copytree(
            export_folders["classifier"], folder / name
        )
        name_first_label(models[name], num_texts)
    token = folder / "token"
    token.write_text("a-secret-word")
    with running_server(folder, models, token_file=token) as server:
        yield server


def find_visible(driver, css):
    """Returns the first visible element, when there is one."""

    def look(_):
        for element in driver.find_elements(By.CSS_SELECTOR, css):
            if element.is_displayed():
                return element
        return None

    return WebDriverWait(driver, 60).until(look, css)


def texts_of(driver, css):
    return [node.text for node in driver.find_elements(By.CSS_SELECTOR, css)]


@pytest.fixture
def ask_on_page(driver, server):
    """Opens the page, chooses a model and task, types, asks."""
    driver.get("about:blank")
    driver.get(f"http://127.0.0.1:{server.port}/")
    # The page asks for the token.
    find_visible(driver, "#token input").send_keys("a-secret-word", Keys.ENTER)
    find_visible(driver, "form")

    def ask_page(choice, **texts):
        Select(find_visible(driver, "select")).select_by_visible_text(choice)
        for name, text in texts.items():
            # A driver cannot type characters beyond the first plane.
            field = find_visible(driver, f"[name={name}]")
            driver.execute_script(
                "arguments[0].value = arguments[1]", field, text
            )
        find_visible(driver, "textarea").send_keys(Keys.CONTROL, Keys.ENTER)
        # Until then, the page shows the last reply.
        find_visible(driver, "form button:enabled")
        return find_visible(driver, "#reply")

    yield ask_page
    errors = [
        entry["message"]
        for entry in driver.get_log("browser")
        if entry["level"] == "SEVERE"
    ]
    assert not [error for error in errors if "status of 40" not in error], (
        errors
    )
    # No script in a text or a label ran, or became an element.
    assert not driver.find_elements(By.CSS_SELECTOR, "#reply img, body script")


def test_the_bar_of_a_label_is_as_long_as_its_probability(driver, ask_on_page):
    ask_on_page("single: classify", text=EVIL)
    widths = driver.execute_script(
        "return [...document.querySelectorAll('.bar, .track')].map("
        "(each) => each.getBoundingClientRect().width)"
    )
    assert sum(widths[1::2]) == pytest.approx(widths[0], abs=1)
    assert LABEL in texts_of(driver, ".bars span")


def test_a_form_of_single_texts_has_one_field(driver, ask_on_page):
    reply = ask_on_page("single: classify")
    assert len(texts_of(driver, "textarea")) == 1
    assert texts_of(reply, ".error") == ["enter a text"]


def test_a_form_of_pairs_has_two_filled_fields(driver, ask_on_page):
    ask_on_page("pairs: classify")
    first, second = driver.find_elements(By.CSS_SELECTOR, "textarea")
    assert first.get_property("value")
    assert second.get_property("value")


def test_the_second_field_is_empty_where_pairs_are_not_known(
    driver, ask_on_page
):
    ask_on_page("classifier: classify")
    first, second = driver.find_elements(By.CSS_SELECTOR, "textarea")
    assert first.get_property("value")
    assert not second.get_property("value")


def test_the_page_shows_the_words_of_each_gap(ask_on_page):
    reply = ask_on_page(
        "pretraining: fill the gap", text="The [MASK] is [MASK]."
    )
    assert texts_of(reply, "h2") == ["1. [MASK]", "2. [MASK]"]


def test_the_page_shows_that_a_text_has_no_gap(ask_on_page):
    reply = ask_on_page("pretraining: fill the gap", text="no gap")
    (error,) = texts_of(reply, ".error")
    assert error.startswith("no [MASK] in 'text'")


def test_the_page_shows_whether_a_sentence_follows(ask_on_page):
    reply = ask_on_page("pretraining: next sentence")
    assert "follows" in texts_of(reply, ".bars span")


def test_the_page_shows_the_cosines_of_sentences(ask_on_page):
    reply = ask_on_page(
        "features: compare sentences", text="A boat.\n\nA boat.\nNo!"
    )
    cells = texts_of(reply, "td")
    assert len(cells) == 9
    assert cells[0] == cells[1] == "1.00" != cells[2]


def test_answers_are_marked_in_the_passage(driver, ask_on_page):
    context = f"\U0001f6a2 {EVIL} is kept by Anna."
    reply = ask_on_page(
        "squad: answer a question", context=context, question="Who?"
    )
    passage = find_visible(driver, ".passage").get_property("textContent")
    assert passage == context
    for button in reply.find_elements(By.CSS_SELECTOR, "ol button"):
        button.click()
        assert (
            find_visible(driver, ".passage").get_property("textContent")
            == context
        )
        marked = "".join(texts_of(reply, "mark"))
        # White space at the ends of elements is not part of what is seen.
        is_none = button.text == "no answer"
        assert is_none or marked.split() == button.text.split()


def test_names_are_marked_in_the_text(driver, ask_on_page):
    reply = ask_on_page("ner: find names", text=EVIL)
    kinds = texts_of(reply, "mark small")
    passage = find_visible(driver, ".passage").get_property("textContent")
    for kind in {*kinds}:
        passage = passage.replace(kind, "")
    assert kinds
    assert passage == EVIL


class Site(http.server.BaseHTTPRequestHandler):
    """A web site of another origin, whose page runs the code of its server."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.end_headers()
        page = f"""<title>asked</title><script type="module">
            console.log = (text) => document.title = `reply: ${{text}}`;
            addEventListener("unhandledrejection",
                (event) => document.title = `failed: ${{event.reason}}`);
            try {{ {self.server.code} }} catch (error) {{
                document.title = `failed: ${{error}}` }}
            </script>"""
        self.wfile.write(page.encode())

    def log_message(self, *_):
        pass


@pytest.fixture
def site():
    """A server of a Site, whose `code` a test sets."""
    site = http.server.HTTPServer(("127.0.0.1", 0), Site)
    site.address = f"http://127.0.0.1:{site.server_port}"
    threading.Thread(target=site.serve_forever, daemon=True).start()
    yield site
    site.shutdown()
    site.server_close()


@pytest.fixture
def ask_from_site(driver, export_folders, tmp_path, site):
    """(flags of serve.py) -> the title of the site's page after its code."""

    def ask_site(**flags):
        page = (ROOT / "docs/server.md").read_text("utf-8")
        (code,) = blocks(page, "js")
        models = {"topics": export_folders["classifier"]}
        with running_server(tmp_path, models, **flags) as server:
            site.code = code.replace(
                "localhost:8501", f"127.0.0.1:{server.port}"
            )
            driver.get(site.address)
            WebDriverWait(driver, 60).until(lambda page: page.title != "asked")
            title = driver.title
        # The browser logs a failed request, which another test would find.
        driver.get_log("browser")
        return title

    return ask_site


def test_a_page_of_an_allowed_origin_gets_its_reply(ask_from_site, site):
    title = ask_from_site(allow_origin=site.address)
    assert title in [f"reply: {label}" for label in ("no", "maybe", "yes")]


def test_a_page_of_another_origin_gets_no_reply(ask_from_site):
    assert ask_from_site() == "failed: TypeError: Failed to fetch"
