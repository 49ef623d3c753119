"""What `mkdocs build` does on top: it makes the gallery's pictures, the tables of measurements with their plots, and the
C++ reference.

Pictures are made anew where the example or the package is newer than they are.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import fathom
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parents[2]
MADE = Path(os.environ.get("FATHOM_SITE_MADE", ROOT / "build" / "site-made"))
sys.path[:0] = [str(Path(__file__).parent), str(ROOT / "bench")]
import tables  # noqa: E402
from cpp_reference import reference  # noqa: E402
from pages import PAGES  # noqa: E402
from plots import draw_table  # noqa: E402

ALT = "Times of the table, as bars"
RESULTS = "bench/results/README.md#"  # what a page calls the measurements, with the name of their page


def on_files(files, config):
    """Adds the files that are made to those of docs/."""
    MADE.mkdir(parents=True, exist_ok=True)
    for example in sorted((ROOT / "examples" / "gallery").glob("*.py")):
        if example.name != "style.py":
            files.append(File.generated(config, f"gallery/{example.stem}.png", abs_src_path=str(picture(example))))
    for name in PAGES:
        files.append(File.generated(config, f"results/{name}.md", content=with_plots(name)))
    for plot in MADE.glob("plot-*.svg"):
        files.append(File.generated(config, f"plots/{plot.name}", abs_src_path=str(plot)))
    files.append(File.generated(config, "reference/cpp.md", content=reference(ROOT / "include")))
    return files


def with_plots(name):
    """A page of tables, with a plot before each table that is one to draw."""
    names = {table.title: table.name for table in PAGES[name][1]}
    parts = tables.page(name).split("\n## ")
    for at, part in enumerate(parts[1:], 1):
        title, _, rest = part.partition("\n")
        plot = f"plot-{names[title]}.svg"
        if draw_table(rest, MADE / plot):
            parts[at] = f"{title}\n\n![{ALT}](../plots/{plot})\n{rest}"
    return "\n## ".join(parts)


def picture(example):
    """The picture that an example makes."""
    path = MADE / f"{example.stem}.png"
    sources = [example, example.with_name("style.py"), *Path(fathom.__file__).parent.glob("_core*")]
    if path.exists() and path.stat().st_mtime > max(source.stat().st_mtime for source in sources):
        return path
    run = subprocess.run([sys.executable, example, path], capture_output=True, text=True,
                         env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"})
    if run.returncode:
        raise PluginError(f"{example} failed:\n{run.stderr}")
    return path


def on_page_markdown(markdown, page, config, files):
    """Shows plots where a page asks for them, leads to the tables, and leaves of links to what is not on the site the text."""
    depth = page.file.src_uri.count("/") + 1
    up = "../" * (depth - 1)
    markdown = re.sub(r"<!-- plot: ([\w-]+) -->", rf"![{ALT}]({up}plots/plot-\1.svg)", markdown)
    markdown = re.sub(rf"\(\.\./{re.escape(up)}{RESULTS}([\w-]+)\)", rf"({up}results/\1.md)", markdown)
    outside = r"\[([^\]]+)\]\((?:\.\./){%d}[^)]*\)" % depth
    return re.sub(outside, r"\1", markdown)


def on_page_content(html, page, config, files):
    """Docstrings name functions by roles of Sphinx, which Markdown does not know."""
    return re.sub(r":(?:func|class|mod|meth):(?=<code>)", "", html)
