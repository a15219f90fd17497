"""`report`: one safe, self-contained page with the right grades, in three forms."""

import base64
import hashlib
import json
import re
from html.parser import HTMLParser

import numpy as np
import pytest
import xarray as xr
from helpers.made_traces import made_trace

import icb_pymc
from icb_pymc.errors import InputError
from icb_pymc.reports.findings import hash_of_decisions, reasons_against
from icb_pymc.reports.over_time import sessions_of
from icb_pymc.reports.wording import GRADES

HOSTILE = (
    "<script>alert(1)</script>",
    "\"' onload='alert(1)' x=\"",
    "\u202egnol" + "n" * 500,
    "a | b](javascript:alert(1)) `c`",
)
VOID = {"meta", "link", "br", "hr", "img", "input"}


class Page(HTMLParser):
    """What a page consists of; its elements must be balanced."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.headings, self.ids, self.words = [], [], [], [], []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        self.ids += [value for name, value in attrs if name == "id"]
        if re.fullmatch("h[1-6]", tag):
            self.headings.append(int(tag[1]))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] not in ("style", "script"):
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))


@pytest.fixture(scope="module")
def changed():
    """A report of a trace in which one weight changes its sign."""
    trace = made_trace(after=(-1.0, 0.5, 0.0), dates=True, probabilities=True)
    return icb_pymc.report(trace, {"2004-11-01": "guideline"}, matters=0.3)


@pytest.fixture(scope="module")
def hostile():
    """A report in which every name from outside is an attack."""
    names = HOSTILE[:3]
    trace = made_trace(
        after=(-1.0, 0.5, 0.0),
        features=names,
        label_agents=[HOSTILE[3], HOSTILE[0]] * 200,
        attrs={"model": HOSTILE[0], "seed": HOSTILE[1], "versions": json.dumps({HOSTILE[0]: HOSTILE[1]})},
    )
    return icb_pymc.report(trace, {201: HOSTILE[0]}, title=HOSTILE[0], quick=True)


def test_the_page_is_balanced_and_its_headings_are_in_order(changed):
    parsed = Page(changed.html)
    assert parsed.headings[0] == 1
    assert parsed.headings.count(1) == 1
    assert all(later <= earlier + 1 for earlier, later in zip(parsed.headings, parsed.headings[1:], strict=False))
    assert len(set(parsed.ids)) == len(parsed.ids)
    assert ("html", {"lang": "en"}) in parsed.tags


def test_the_page_has_all_seven_sections_and_no_script(changed):
    parsed = Page(changed.html)
    for number, title in enumerate(("Answer", "What counted, when", "Before and after", "What it means"), 1):
        assert f"{number}. {title}" in parsed.text
    for number, title in enumerate(("Checks", "Limits", "How it was made"), 5):
        assert f"{number}. {title}" in parsed.text
    assert not [tag for tag, _ in parsed.tags if tag in ("script", "iframe", "img", "link", "object")]


def test_nothing_is_loaded_and_the_policy_allows_our_style_alone(changed):
    parsed = Page(changed.html)
    for _, attributes in parsed.tags:
        assert not attributes.get("href", "#").startswith(("http", "//", "data:"))
        assert not {"src", "srcset", "style", "onclick", "onload", "onmouseover"} & set(attributes)
    (policy,) = [a["content"] for tag, a in parsed.tags if a.get("http-equiv") == "Content-Security-Policy"]
    style = re.search(r"<style>(.*?)</style>", changed.html, re.S)[1]
    assert "url(" not in style
    assert "@import" not in style
    assert base64.b64encode(hashlib.sha256(style.encode()).digest()).decode() in policy
    assert policy.startswith("default-src 'none'")
    assert "unsafe" not in policy


def test_every_chart_has_a_title_a_description_and_its_numbers_are_on_the_page(changed):
    parsed = Page(changed.html)
    pictures = [attributes for tag, attributes in parsed.tags if tag == "svg" and "aria-hidden" not in attributes]
    assert len(pictures) > 10
    for attributes in pictures:
        assert set(attributes["aria-labelledby"].split()) <= set(parsed.ids)
    weight = float(changed.findings.weights.isel(time=0, quantile=1).sel(feature="age"))
    assert f"{weight:+.2f}" in parsed.text


def test_the_answer_says_that_the_weight_changed_sides(changed):
    answer = json.loads(changed.json)["answers"][0]
    assert answer["grade"] == "clear"
    assert (
        "age changed sides: a higher value spoke for a candidate before, and against one afterwards"
        in answer["headline"]
    )
    assert "suddenly, at the event" in " ".join(answer["sentences"])
    assert "Judged by 200 decisions before and 200 after" in " ".join(answer["sentences"])


def test_the_three_forms_say_the_same(changed):
    numbers = json.loads(changed.json)
    (answer,) = numbers["answers"]
    assert answer["headline"] in Page(changed.html).text
    plain = re.sub(r"\\(.)", r"\1", changed.markdown)
    assert answer["headline"] in plain
    assert numbers["made"]["data_sha256"] in changed.html
    assert numbers["made"]["data_sha256"] in changed.markdown
    change = next(each for each in answer["changes"] if each["feature"] == "age")["change"]
    assert f"{change:+.2f}".replace("-", "−") in changed.html


def test_the_same_trace_gives_the_same_page(changed):
    trace = made_trace(after=(-1.0, 0.5, 0.0), dates=True, probabilities=True)
    again = icb_pymc.report(trace, {"2004-11-01": "guideline"}, matters=0.3)
    assert again.html == changed.html
    assert again.json == changed.json


def test_checks_have_words_and_a_full_report_leaves_none_of_them_out(changed):
    checks = {check["name"]: check for check in json.loads(changed.json)["checks"]}
    assert len(checks) == 5
    assert {check["state"] for check in checks.values()} <= {"passed", "caution", "failed"}
    assert "19 other dates" in checks["Dates where nothing happened"]["sentence"]


def test_hostile_names_stay_text_in_the_page(hostile):
    parsed = Page(hostile.html)
    assert not [tag for tag, _ in parsed.tags if tag in ("script", "img", "iframe")]
    assert not [name for _, attributes in parsed.tags for name in attributes if name.startswith("on")]
    assert "\u202e" not in hostile.html
    assert "n" * 100 not in hostile.html
    assert "<script>alert(1)</script>" in parsed.text


def test_hostile_names_stay_text_in_markdown_and_are_whole_in_json(hostile):
    # In a block of code, such as that of the commands, everything is text.
    lines = [line for line in hostile.markdown.splitlines() if not line.startswith("    ")]
    assert "<script" not in "\n".join(lines)
    assert "](javascript" not in hostile.markdown
    assert "\u202e" not in hostile.markdown
    assert set(json.loads(hostile.json)["weights"]["features"]) == set(HOSTILE[:3])


@pytest.mark.slow
def test_a_log_with_many_features_and_decisions_stays_small():
    features = [f"feature number {i}" for i in range(40)]
    weights = np.linspace(-0.2, 0.2, 40)
    trace = made_trace(weights, -weights, features=features, steps=3000, draws=20)
    report = icb_pymc.report(trace, {1501: "event"}, quick=True)
    assert len(report.html.encode()) < 1_000_000
    assert "16 more features are not drawn" in Page(report.html).text


def test_chains_that_disagree_are_not_to_be_relied_on():
    report = icb_pymc.report(made_trace(after=(-1.0, 0.5, 0.0), disagree=0.5), {201: "guideline"}, quick=True)
    (answer,) = json.loads(report.json)["answers"]
    assert answer["grade"] == "do not rely on it"
    assert answer["headline"] == "This report cannot say what changed around decision 201 (guideline)."
    assert "have not converged" in " ".join(answer["sentences"])
    assert GRADES["do not rely on it"] in str(report)


def test_a_model_that_predicts_worse_than_no_change_is_not_to_be_relied_on():
    trace = made_trace(probabilities=True, draws=600)
    probability = trace["choice_probabilities"]["probability"]
    probability.values[:] = 1 - probability.values
    assert any("never change predict the choices better" in reason for reason in reasons_of(trace))


def reasons_of(trace):
    return reasons_against(trace, icb_pymc.diagnose(trace))


def test_laplace_draws_are_a_caution_and_no_reason_to_distrust():
    trace = made_trace(chains=1, attrs={"approximation": "laplace", "method": "laplace"})
    assert reasons_of(trace) == ()
    report = icb_pymc.report(trace, {201: ""}, quick=True)
    assert json.loads(report.json)["checks"][0]["state"] == "caution"


def test_a_point_estimate_is_not_to_be_relied_on():
    trace = made_trace(chains=1, draws=1, attrs={"method": "estimate"})
    assert len(reasons_of(trace)) == 1


def test_without_events_the_page_says_when_preferences_changed():
    report = icb_pymc.report(made_trace(after=(-1.0, 0.5, 0.0)))
    text = Page(report.html).text
    assert "preferences changed, most probably once" in text
    assert "3. Dates of change" in text
    assert json.loads(report.json)["answers"] == []
    assert "at the start of the log" in text


def test_a_single_feature_and_two_decisions_are_enough_for_a_page():
    trace = made_trace([0.5], [0.5], features=["age"], steps=2)
    assert "2 decisions" in Page(icb_pymc.report(trace).html).text


def test_other_models_of_the_same_decisions_are_compared():
    trace = made_trace(after=(-1.0, 0.5, 0.0))
    other = made_trace(after=(-1.0, 0.5, 0.0), spread=0.2)
    report = icb_pymc.report(trace, {201: "guideline"}, others={"wider": other}, quick=True)
    check = json.loads(report.json)["checks"][-1]
    assert "wider agrees on age" in check["sentence"]
    # Made traces have no log-likelihood.
    assert "could not be compared" in check["sentence"]


def test_agents_that_deviate_from_a_trend_have_a_panel_each():
    trace = made_trace(label_agents=["Bari", "Turin"] * 200)
    belief = trace["posterior"]["belief"]
    trace["posterior"]["trend"] = belief
    report = icb_pymc.report(trace, {201: ""}, quick=True)
    text = Page(report.html).text
    assert "Each decision-maker" in text
    assert "Weights of Turin over time" in text
    assert "common trend" in text


def test_sessions_are_drawn():
    trace = made_trace()
    trace["constant_data"]["session"] = xr.DataArray(np.repeat(np.arange(4), 100), dims="time")
    report = icb_pymc.report(trace, quick=True)
    assert sessions_of(report.findings) == [101, 201, 301]
    assert 'class="session"' in report.html


def test_examples_can_be_named(changed):
    trace = changed.findings.trace
    report = icb_pymc.report(trace, {"2004-11-01": ""}, examples=["2001-01-08"], quick=True)
    (example,) = json.loads(report.json)["examples"]
    assert example["time"] == "2001-01-08"
    with pytest.raises(InputError, match="example 2001-01-09: there is no decision at that time"):
        icb_pymc.report(trace, {"2004-11-01": ""}, examples=["2001-01-09"], quick=True)


def test_the_hash_is_of_the_decisions_and_not_of_the_draws():
    one, two, three = (
        hash_of_decisions(made_trace_decisions(seed, draws)) for seed, draws in ((0, 50), (0, 60), (1, 50))
    )
    assert one == two
    assert one != three


def made_trace_decisions(seed, draws):
    from icb_pymc.results.posterior import decisions_in

    return decisions_in(made_trace(seed=seed, draws=draws))


def test_the_commands_ask_the_same_question(changed):
    command = json.loads(changed.json)["made"]["commands"][-1]
    assert command == "icb report trace.nc --event 2004-11-01=guideline --matters 0.3 -o report.html"


def test_a_registered_trace_says_which_commands_made_it():
    trace = icb_pymc.open_trace("nb-icb-stepping")
    report = icb_pymc.report(trace, {250: ""}, features=["age"], quick=True, source="traces/nb-icb-stepping.nc")
    assert json.loads(report.json)["made"]["commands"][0] == "icb simulate stepping --steps 500 --seed 0 -o stepping.nc"


def test_a_report_is_written_whole_or_not_at_all(changed, tmp_path):
    for suffix in ("html", "md", "json"):
        assert changed.write(tmp_path / f"report.{suffix}").stat().st_size > 1000
    with pytest.raises(InputError, match=r"must end in \.html, \.md or \.json"):
        changed.write(tmp_path / "report.pdf")
    with pytest.raises(InputError, match="does not exist"):
        changed.write(tmp_path / "nowhere" / "report.html")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["report.html", "report.json", "report.md"]
