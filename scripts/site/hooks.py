"""What `mkdocs build` does on top: it makes the gallery's pictures, the plots and the C++ reference.

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
sys.path.insert(0, str(Path(__file__).parent))
from cpp_reference import reference  # noqa: E402
from plots import draw_tables  # noqa: E402

plots = {}  # title of a table of docs/performance.md: its plot


def on_files(files, config):
    """Adds the files that are made to those of docs/."""
    MADE.mkdir(parents=True, exist_ok=True)
    for example in sorted((ROOT / "examples" / "gallery").glob("*.py")):
        if example.name != "style.py":
            files.append(File.generated(config, f"gallery/{example.stem}.png", abs_src_path=str(picture(example))))
    plots.update(draw_tables(ROOT / "docs" / "performance.md", MADE))
    for plot in plots.values():
        files.append(File.generated(config, f"plots/{plot.name}", abs_src_path=str(plot)))
    files.append(File.generated(config, "reference/cpp.md", content=reference(ROOT / "include")))
    return files


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
    """Shows plots before their tables, and leaves of links to what is not on the site the text."""
    if page.file.src_uri == "performance.md":
        for title, plot in plots.items():
            markdown = markdown.replace(f"{title}\n", f"{title}\n\n![The table below, as bars](plots/{plot.name})\n", 1)
    depth = page.file.src_uri.count("/") + 1
    outside = r"\[([^\]]+)\]\((?:\.\./){%d}[^)]*\)" % depth
    return re.sub(outside, r"\1", markdown)


def on_page_content(html, page, config, files):
    """Docstrings name functions by roles of Sphinx, which Markdown does not know."""
    return re.sub(r":(?:func|class|mod|meth):(?=<code>)", "", html)
