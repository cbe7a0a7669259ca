"""The report in headless Chromium: it computes what the library computes, by mouse and keyboard, at any width."""

from __future__ import annotations

import os
import shutil
from base64 import b64decode
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib.image import imread
from typer.testing import CliRunner

from spec_math import SCHEMES
from spec_math.cli import app
from spec_math.lossy import RULES
from spec_math.render.playground import fragment
from spec_math.token_level import optimal

selenium = pytest.importorskip("selenium", reason="selenium is not installed; `make test-browser` does it")
from selenium import webdriver  # noqa: E402
from selenium.webdriver import ActionChains, Keys  # noqa: E402
from selenium.webdriver.common.by import By  # noqa: E402

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
if CHROMIUM is None or DRIVER is None:
    pytest.skip("chromium and chromium-driver (Debian's packages) are not installed", allow_module_level=True)

# Each number is a sum of at most 10^4 path weights, none negative, 1 in all: adding them is off by 10^4 · 2^-53. A
# weight is a product of at most 9 factors of 8 roundings each: 72 · 2^-53 of the whole. Twice that for both sides.
BOUND = 2 * (10**4 + 72) * 2.0**-53
WIDTHS, THEMES = (400, 800, 1400), ("light", "dark")
MOST_WORDS, MOST_BYTES = 3_000, 600_000

BROKEN = """return [...document.querySelectorAll('td.mean, td.number, td.count, td.fraction')].filter((cell) => {
  const range = document.createRange(); range.selectNodeContents(cell);
  return new Set([...range.getClientRects()].map((box) => Math.round(box.top))).size > 1;
}).map((cell) => cell.innerText)"""
"""Script: the numbers of tables that are written in more than one line."""

OUTSIDE = """return [...document.querySelectorAll('figcaption, .caption, h1, h2, p')].filter((one) => {
  const box = one.getBoundingClientRect(); return box.left < 0 || box.right > innerWidth;
}).map((one) => one.innerText)"""
"""Script: the captions, headings and sentences that leave the screen."""


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for argument in ("--headless=new", "--disable-gpu", "--window-size=1280,1600"):
        options.add_argument(argument)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # Chromium refuses its sandbox to root
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService(DRIVER))
    yield driver
    driver.quit()


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("report") / "report.html"
    result = CliRunner().invoke(app, ["report", "--out", str(path), "--positions", "20"])
    assert result.exit_code == 0, result.output
    return path


@pytest.fixture
def page(browser: Any, report: Path) -> Any:
    browser.get(report.as_uri())
    return browser


def complaints(browser: Any) -> list[str]:
    """What a reader would never see: errors in the console, things fetched from elsewhere."""
    logged = [entry["message"] for entry in browser.get_log("browser") if entry["level"] in ("SEVERE", "WARNING")]
    fetched = browser.execute_script("return performance.getEntriesByType('resource').map((entry) => entry.name)")
    return logged + [name for name in fetched if not name.startswith("data:")]


@contextmanager
def screen(browser: Any, width: int, theme: str = "light") -> Iterator[None]:
    """A screen of a width and a theme."""
    metrics = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    wanted = [{"name": "prefers-color-scheme", "value": theme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": wanted})
    yield
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def too_wide(browser: Any, width: int) -> float:
    """By how many pixels the page is wider than a screen of that width."""
    with screen(browser, width):
        return browser.execute_script("return document.documentElement.scrollWidth") - width


def corners(browser: Any) -> list[tuple[float, float]]:
    """For each picture the brightness, as it is seen, of its corner and of the page beside it, from 0 to 1."""
    script = (
        "return [...document.querySelectorAll('figure img')].map((one) => { const box = one.getBoundingClientRect();"
    )
    places = browser.execute_script(f"{script} return [box.left + scrollX, box.top + scrollY] }})")
    found: list[tuple[float, float]] = []
    for left, top in places:
        area = {"x": left - 6, "y": top + 2, "width": 12, "height": 4, "scale": 1}
        shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"clip": area, "captureBeyondViewport": True})
        pixels = imread(BytesIO(b64decode(shot["data"])))[..., :3].mean(axis=2)
        found.append((float(pixels[:, -2].mean()), float(pixels[:, 1].mean())))
    return found


def differences(browser: Any, k: int) -> dict[str, float]:
    """By how much each number of the page differs from the library's, for the bars as they stand."""
    browser.execute_script(f"playground.state.k = {k}")
    state = browser.execute_script("return playground.state")
    found = {row["name"]: row["acceptance"] for row in browser.execute_script("return playground.numbers()")}
    target, draft = np.array(state["target"], dtype=float), np.array(state["draft"], dtype=float)
    # The page shows some of the schemes: a new one obliges nobody to write it a second time in JavaScript.
    expected = {s.name: s.acceptance(target, draft, s.drafts or k) for s in SCHEMES if s.name in found}
    assert len(expected) == 8
    expected["optimum, independent drafts"] = optimal.acceptance(target, draft, k)
    expected["optimum, without replacement"] = optimal.acceptance_without_replacement(target, draft, k)
    expected |= {rule.name: rule.acceptance(target, draft, 1, str(state["strictness"])) for rule in RULES[:2]}
    assert set(expected) == set(found) - {"a bug: the target as residual"}
    return {name: abs(found[name] - float(value)) for name, value in expected.items()}


def press(browser: Any, *keys: str) -> None:
    for key in keys:
        ActionChains(browser).send_keys(key).perform()


def bar(browser: Any, law: str, token: int) -> Any:
    return browser.find_elements(By.CSS_SELECTOR, f"#playground .bar.{law}")[token]


def test_the_page_has_no_error_and_fetches_nothing(page: Any) -> None:
    assert complaints(page) == []
    assert page.execute_script("return document.images.length") > 3
    assert page.execute_script("return [...document.images].every((image) => image.naturalWidth > 0 && image.alt)")


@pytest.mark.parametrize("theme", THEMES)
@pytest.mark.parametrize("width", WIDTHS)
def test_every_page_is_readable_at_this_width_and_theme(browser: Any, report: Path, width: int, theme: str) -> None:
    pages = [report, *sorted(report.parent.glob("report-*.html"))]
    assert len(pages) > 4
    for page in pages:
        with screen(browser, width, theme):
            browser.get(page.as_uri())
            assert browser.execute_script("return document.documentElement.scrollWidth") <= width
            assert browser.execute_script(BROKEN) == []
            assert browser.execute_script(OUTSIDE) == []
            seen = corners(browser) if page == report else []
        for picture, beside in seen:
            assert abs(picture - beside) < 0.02
            assert (picture > 0.9) == (theme == "light")


def test_the_first_page_is_short_and_leads_to_the_others(page: Any, report: Path) -> None:
    assert report.stat().st_size <= MOST_BYTES
    assert 100 < len(page.execute_script("return document.body.innerText").split()) <= MOST_WORDS
    links = page.execute_script("return [...document.links].map((link) => link.href)")
    assert links == [path.as_uri() for path in map(report.with_name, (link.rpartition("/")[2] for link in links))]
    for link in links:
        page.get(link)
        assert page.execute_script("return document.querySelectorAll('table tr').length") > 3
        assert complaints(page) == []
        page.find_elements(By.TAG_NAME, "a")[-1].click()
        assert page.current_url == report.as_uri()


@pytest.mark.parametrize("k", [1, 2, 3, 4])
@pytest.mark.parametrize("preset", range(4))
def test_the_page_computes_what_the_library_computes(page: Any, preset: int, k: int) -> None:
    page.find_elements(By.CSS_SELECTOR, "#playground button")[preset].click()
    found = differences(page, k)
    assert max(found.values()) <= BOUND, found


def test_the_keyboard_moves_bars_drafts_and_choice(page: Any) -> None:
    page.execute_script("arguments[0].focus()", bar(page, "target", 0))
    press(page, Keys.ARROW_UP, Keys.ARROW_UP, Keys.PAGE_DOWN)
    state = page.execute_script("return playground.state")
    assert state["target"][0] == pytest.approx(0.4 + 0.01 + 0.01 - 0.1, abs=1e-12)
    assert sum(state["target"]) == pytest.approx(1, abs=1e-12)
    press(page, Keys.TAB, Keys.END)
    assert page.execute_script("return playground.state.target") == [0, 1, 0, 0, 0]
    assert max(differences(page, 3).values()) <= BOUND
    page.execute_script("document.getElementById('drafts').focus()")
    press(page, Keys.ARROW_RIGHT)
    assert page.find_element(By.ID, "k").text == "3"
    page.execute_script("document.querySelector('#schemes [tabindex=\"0\"]').focus()")
    press(page, Keys.ARROW_UP)
    assert "a bug" in page.find_element(By.ID, "coupling-title").text
    press(page, Keys.ARROW_UP)  # the focus stayed with the choice
    assert "SpecHub" in page.find_element(By.ID, "coupling-title").text


def test_dragging_a_bar_moves_every_number(page: Any) -> None:
    before = page.execute_script("return playground.numbers().map((row) => row.acceptance)")
    found = bar(page, "draft", 1)
    height = found.size["height"]
    ActionChains(page).move_to_element(found).click_and_hold().move_by_offset(0, -int(0.3 * height)).release().perform()
    assert page.execute_script("return playground.state.draft[1]") == pytest.approx(0.8, abs=0.02)
    after = page.execute_script("return playground.numbers().map((row) => row.acceptance)")
    assert sum(a != b for a, b in zip(before, after, strict=True)) > 7
    assert max(differences(page, 2).values()) <= BOUND


def test_each_coupling_has_the_target_as_margin_and_its_acceptance_inside(page: Any) -> None:
    script = "return playground.numbers().map((row) => [row.name, row.acceptance, [...row.rows], row.totalVariation])"
    target = page.execute_script("return playground.state.target")
    for name, acceptance, rows, off in page.execute_script(script):
        emitted = np.sum([row for _, row in rows], axis=0)
        kept = sum(row[token] for mask, row in rows for token in range(5) if mask >> token & 1)
        assert kept == pytest.approx(acceptance, abs=BOUND), name
        lossy = name.startswith("a bug") or name in ("ensemble", "lenience")
        assert (np.abs(emitted - target).max() > 0.02) == lossy, name
        assert (off > 0.02) == lossy


def test_the_checks_see_a_broken_page(browser: Any, tmp_path: Path) -> None:
    """Controls: an error, a foreign picture, a page that is too wide, a wrong formula."""
    broken = tmp_path / "broken.html"
    wide = "<div style='width:900px'>wide<p>a sentence</p></div><img src='missing.png'><script>undefinedName()</script>"
    wide += "<table><tr><td class='mean' style='max-width:3rem'>1.5 ± 0.2</td></tr></table>"
    white = "data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' width='50' height='50'><rect fill='white' "
    wide += f"<figure><img alt='white' src=\"{white}width='50' height='50'/></svg>\"></figure>"
    wrong = fragment().replace("1 - (1 - left) / gamma) ** k", "1 - (1 - left) / gamma) ** (k + 1)")
    assert wrong != fragment()
    dark = "<style>body{background:#161616}</style>"
    screen_wide = "<meta name='viewport' content='width=device-width,initial-scale=1,minimum-scale=1'>"
    text = (
        f"<!doctype html><html><head><meta charset='utf-8'>{screen_wide}{dark}</head><body>{wide}{wrong}</body></html>"
    )
    assert broken.write_text(text, encoding="utf-8") > 0
    browser.get(broken.as_uri())
    found = complaints(browser)
    assert any("undefinedName" in entry for entry in found)
    assert any("missing.png" in entry for entry in found)
    assert too_wide(browser, 400) > 0
    with screen(browser, 400, "dark"):
        assert browser.execute_script(BROKEN) == ["1.5 ± 0.2"]
        assert browser.execute_script(OUTSIDE) != []
        (picture, beside), *_ = corners(browser)
    assert picture - beside > 0.5, "a picture that stays white in the dark"
    assert differences(browser, 2)["K-SEQ at γ*"] > 100 * BOUND
