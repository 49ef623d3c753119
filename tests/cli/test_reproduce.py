"""`reproduce`: all papers with --quick, once; what their tables and pages hold, and how an interrupted run goes on."""

import csv
import json
import os
import shutil
import signal
import subprocess
import time
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
from conftest import COMMAND
from PIL import Image

ROOT = Path(__file__).parents[2]
FIELDS = json.loads((ROOT / "docs" / "reproduce.schema.json").read_text(encoding="utf-8"))["fields"]
ALL = ["khan", "pellet", "cao", "landgraf", "man"]
PAPERS = ALL if float(os.environ.get("FATHOM_TEST_SCALE", "1")) == 1 else ["man"]  # instrumented code is slow
PRINTED = {  # some of the numbers that the papers' texts print
    "khan": {2.85, 141.25, 4, 40, 0.2, 23, 15.89},
    "pellet": {870000, 8.7, 816000, 10.1, 9.8, 6.3, 246000, 26},
    "cao": {9, 6, 300, 5},
    "landgraf": {22.87, 82.92, 4414, 1008.83, 1449.7},
    "man": {3956, 7205, 11161},
}


class Made:
    def __init__(self, directory):
        self.directory = directory
        done = subprocess.run([COMMAND, "reproduce", *PAPERS, "--quick", "--backend", "cpu", "-o", directory, "--json"],
                              capture_output=True, timeout=550, check=False)
        assert (done.returncode, done.stderr) == (0, b""), done
        self.said = json.loads(done.stdout)

    def rows(self, paper):
        with open(self.directory / f"{paper}.csv", newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return Made(tmp_path_factory.mktemp("reproduce"))


def test_files(made):
    endings = {f"{paper}{ending}" for paper in PAPERS for ending in (".html", ".csv", ".png")}
    assert {path.name for path in made.directory.iterdir()} == endings | {"index.html", "reproduce.json"}
    assert [paper["paper"] for paper in made.said["papers"]] == PAPERS
    assert all(paper["rows"] > 0 for paper in made.said["papers"])
    assert made.said["machine"]["quick"] is True and made.said["machine"]["backend"] == "cpu"


@pytest.mark.parametrize("paper", PAPERS)
def test_table(made, paper):
    rows = made.rows(paper)
    assert list(rows[0]) == [field["name"] for field in FIELDS]
    for row in rows:
        assert row["study"] == paper
        for field in FIELDS:
            value = row[field["name"]]
            assert value or not field.get("required"), row
            assert not value or "enum" not in field or value in field["enum"], row
            if value and field["type"] == "number":
                assert np.isfinite(float(value)), row
        numbers = {name for name in ("paper", "published", "fathom", "copy", "curve") if row[name]}
        assert numbers == {"curve"} if row["kind"] == "figure" else numbers and "curve" not in numbers, row
    assert any(row["published"] for row in rows)
    assert PRINTED.get(paper, set()) <= {float(row["paper"]) for row in rows if row["paper"]}


def test_what_a_paper_prints_of_devices_stands_without_one(made):
    rows = [row for row in made.rows("man") if row["name"].startswith("Table 1 (")]
    assert {float(row["paper"]) for row in rows} >= {768, 547, 20.4, 46, 54.1, 10, 30, 34}
    assert not any(row["published"] or row["fathom"] for row in rows)


class Page(HTMLParser):
    """Tags that stand open, what they link, and their text."""

    VOID = {"meta", "circle", "polyline"}

    def __init__(self):
        super().__init__()
        self.open, self.links, self.tags, self.text = [], [], set(), ""

    def handle_starttag(self, tag, attributes):
        self.tags.add(tag)
        self.links += [value for name, value in attributes if name in ("href", "src", "xlink:href")]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.text += data


def read(path):
    page = Page()
    page.feed(path.read_text(encoding="utf-8"))
    page.close()
    assert page.open == []
    return page


@pytest.mark.parametrize("name", ["index", *PAPERS])
def test_page(made, name):
    page = read(made.directory / f"{name}.html")
    assert "script" not in page.tags and "http" not in page.text
    for link in page.links:
        assert "/" not in link and (made.directory / link).is_file(), link
    assert made.said["machine"]["processor"] in page.text and made.said["machine"]["version"] in page.text
    if name != "index":
        assert f"fathom reproduce {name} --quick --backend cpu" in page.text and "svg" in page.tags
        assert "versions for the CPU" in page.text


@pytest.mark.parametrize("paper", PAPERS)
def test_picture(made, paper):
    with Image.open(made.directory / f"{paper}.png") as picture:
        pixels = np.asarray(picture.convert("L"))
    assert min(pixels.shape) > 800 and 0.005 < np.mean(pixels < 200) < 0.5


def test_browser(made, tmp_path):
    """Without a network, at a phone's width; a page that is cut off or empty is mostly of one colour."""
    browser = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
    if browser is None:
        pytest.skip("no Chromium here")
    subprocess.run([browser, "--headless=new", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
                    "--host-resolver-rules=MAP * ~NOTFOUND", f"--user-data-dir={tmp_path / 'profile'}",
                    "--window-size=500,1200", f"--screenshot={tmp_path / 'page.png'}",
                    f"file://{made.directory / 'man.html'}"], check=True, capture_output=True, timeout=120)  # fmt: skip
    with Image.open(tmp_path / "page.png") as picture:
        pixels = np.asarray(picture.convert("L")).astype(int)
    assert np.mean(np.abs(pixels - np.median(pixels)) > 60) > 0.02
    assert (np.abs(pixels[:, -4:] - pixels[0, -1]) < 40).all()  # nothing runs over the right edge


def test_a_second_run_has_nothing_to_measure(made):
    before = made.rows("man"), (made.directory / "reproduce.json").read_bytes()
    done = subprocess.run([COMMAND, "reproduce", "man", "--quick", "--backend", "cpu", "-o", made.directory],
                          capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode().strip() == str(made.directory / "man.html")
    assert (made.rows("man"), (made.directory / "reproduce.json").read_bytes()) == before


def test_interrupted(fathom):
    command = ("reproduce", "man", "--quick", "--backend", "cpu", "-o", "out")
    process = subprocess.Popen([COMMAND, *command], cwd=fathom.directory, stderr=subprocess.PIPE)
    record = fathom.directory / "out" / "reproduce.json"
    deadline = time.monotonic() + 100
    while not record.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=100)
    assert process.returncode == 130
    assert err.decode() == "fathom: interrupted; what was measured is kept, and the same command goes on from there\n"
    kept = json.loads(record.read_text())["studies"]["man"]["steps"]
    assert kept and [path.name for path in record.parent.iterdir()] == ["reproduce.json"]
    fathom.ok(*command)
    steps = json.loads(record.read_text())["studies"]["man"]["steps"]
    assert len(steps) > len(kept) and {name: steps[name] for name in kept} == kept

    fathom.ok(*command, "--anew")
    assert json.loads(record.read_text())["studies"]["man"]["steps"] != steps

    # Numbers of another version are not mixed with ours.
    text = record.read_text()
    record.write_text(text.replace('"version": "', '"version": "9', 1))
    message = fathom.refuses(3, *command, "--strict")
    assert message.startswith("out/reproduce.json holds measurements of version 9") and "made anew" in message
    record.write_text("[]")
    assert fathom.refuses(3, *command).startswith("out/reproduce.json holds no measurements")


def test_arguments(fathom):
    assert fathom.refuses(2, "reproduce", "coa", "-o", "out") == (
        "there is no paper 'coa'; did you mean cao? use khan, pellet, cao, landgraf, man")
    assert "--output is required" in fathom.refuses(2, "reproduce", "cao")
    assert "--backend" in fathom.refuses(2, "reproduce", "cao", "-o", "out", "--backend", "gpu")
    (fathom.directory / "file").write_text("")
    assert "cannot make the directory file" in fathom.refuses(3, "reproduce", "cao", "-o", "file")


def test_without_a_device(fathom):
    outcome = fathom("reproduce", "man", "-o", "out", "--backend", "cuda", env={**os.environ, "CUDA_VISIBLE_DEVICES": ""})
    assert outcome.code == 4 and b"there is no CUDA device here" in outcome.err and fathom.files() == {}
