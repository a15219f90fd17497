"""The page in a real browser: no error, no request, no horizontal scrolling, no violation, nothing cut in print."""

import numpy as np
import pytest
from helpers.browser import axe_source, launched
from helpers.made_traces import made_trace

import icb_pymc

pytestmark = pytest.mark.browser
LONG = "a very long name of a feature " * 17
HOSTILE = ("<script>document.title = 'taken'</script>", "'\"><img src=x onerror=alert(1)>", LONG)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """An ordinary report, one whose names are attacks, and one of several decision-makers without an event."""
    folder = tmp_path_factory.mktemp("pages")
    ordinary = made_trace(after=(-1.0, 0.5, 0.0), dates=True, probabilities=True)
    hostile = made_trace(after=(-1.0, 0.5, 0.0), features=HOSTILE, label_agents=[HOSTILE[0], LONG] * 200)
    several = made_trace(label_agents=["Bari", "Turin", "Rome", "Milan"] * 100)
    several["posterior"]["trend"] = several["posterior"]["belief"]
    events = {"2004-11-01": "guideline", "2006-03-01": "a second guideline with quite a long name"}
    reports = {
        "ordinary": icb_pymc.report(ordinary, events, matters=0.3),
        "hostile": icb_pymc.report(hostile, {201: HOSTILE[0], 300: LONG}, title=LONG, quick=True),
        "several": icb_pymc.report(several),
    }
    return {name: report.write(folder / f"{name}.html") for name, report in reports.items()}


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        context = launched(playwright, tmp_path_factory.mktemp("profile"))
        yield context
        context.close()


@pytest.fixture
def visit(browser, pages):
    """Open a page at a width, with what it says to the console and asks of the network."""
    opened = []

    def open_page(name, width=1100, scheme="light"):
        tab = browser.new_page()
        opened.append(tab)
        tab.said, tab.asked = [], []
        tab.on("console", lambda message: tab.said.append(message.text))
        tab.on("pageerror", lambda error: tab.said.append(str(error)))
        tab.on("request", lambda request: tab.asked.append(request.url))
        tab.set_viewport_size({"width": width, "height": 800})
        tab.emulate_media(color_scheme=scheme)
        tab.goto(pages[name].as_uri())
        return tab

    yield open_page
    for tab in opened:
        tab.close()


NAMES = ("ordinary", "hostile", "several")


@pytest.mark.parametrize("name", NAMES)
def test_no_console_error_and_no_request_leaves_the_page(visit, pages, name):
    tab = visit(name)
    for summary in tab.locator("summary").all():
        summary.click()
    assert tab.said == []
    assert tab.asked == [pages[name].as_uri()]
    assert tab.title() != "taken"


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("width", [320, 360, 768, 1400])
def test_no_horizontal_scrolling(visit, name, width):
    tab = visit(name, width)
    tab.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(("width", "scheme"), [(1100, "light"), (1100, "dark"), (360, "light")])
def test_axe_finds_no_violation_of_level_a_and_aa(visit, name, width, scheme):
    tab = visit(name, width, scheme)
    tab.evaluate("document.querySelectorAll('details').forEach(part => part.open = true)")
    # Evaluated by the debugger, which the page's policy does not bind.
    tab.evaluate(axe_source())
    tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]
    found = tab.evaluate("tags => axe.run(document, {runOnly: {type: 'tag', values: tags}})", tags)
    violations = [(each["id"], each["nodes"][0]["html"][:200], len(each["nodes"])) for each in found["violations"]]
    assert violations == []
    assert len(found["passes"]) > 10


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_text_in_charts_has_a_contrast_of_four_and_a_half_to_one(visit, scheme):
    # Axe does not look at text in drawings.
    tab = visit("ordinary", scheme=scheme)
    colours = tab.evaluate(
        """() => [getComputedStyle(document.body).backgroundColor, ...new Set(
            [...document.querySelectorAll('svg text')].map(text => getComputedStyle(text).fill))]"""
    )
    paper, *inks = [luminance(colour) for colour in colours]
    ratios = [(max(paper, ink) + 0.05) / (min(paper, ink) + 0.05) for ink in inks]
    assert len(ratios) >= 3
    assert min(ratios) >= 4.5


def luminance(colour):
    share = np.array([float(part) for part in colour.strip("rgb()").split(",")[:3]]) / 255
    linear = np.where(share <= 0.04045, share / 12.92, ((share + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


@pytest.mark.parametrize("name", NAMES)
def test_no_text_of_a_chart_is_cut_at_its_edge(visit, name):
    for width in (1100, 360):
        tab = visit(name, width)
        cut = tab.evaluate(
            """() => [...document.querySelectorAll('svg')].filter(svg => svg.getBoundingClientRect().width > 0).flatMap(
                svg => [...svg.querySelectorAll('text')].filter(text => {
                    const [inner, outer] = [text.getBoundingClientRect(), svg.getBoundingClientRect()];
                    return inner.left < outer.left - 2 || inner.right > outer.right + 2
                        || inner.top < outer.top - 2 || inner.bottom > outer.bottom + 2;
                }).map(text => text.textContent))"""
        )
        assert cut == []


def test_print_cuts_no_chart(visit, tmp_path):
    """On paper each chart is on one page: none of them is taller than a page or wider, and no break goes through."""
    tab = visit("ordinary")
    tab.emulate_media(media="print", color_scheme="dark")
    # What Chromium lays out for A4 with our margins, in pixels of the page.
    width, height = (210 - 30) / 25.4 * 96, (297 - 32) / 25.4 * 96
    tab.set_viewport_size({"width": int(width), "height": int(height)})
    boxes = tab.evaluate(
        """() => [...document.querySelectorAll('svg')].map(svg => {
            const box = svg.getBoundingClientRect();
            const figure = svg.closest('figure, tr, li, .answer');
            return [box.left, box.right, box.height, figure ? getComputedStyle(figure).breakInside : 'none']
        }).filter(box => box[2] > 0)"""
    )
    assert len(boxes) > 10
    for left, right, tall, break_inside in boxes:
        assert left >= -1
        assert right <= width + 1
        assert tall < height / 2
        assert break_inside == "avoid"
    assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    pdf = tab.pdf(path=str(tmp_path / "report.pdf"), prefer_css_page_size=True, format="A4", print_background=True)
    assert pdf.startswith(b"%PDF")
    assert pdf.count(b"/Type /Page\n") >= 3
