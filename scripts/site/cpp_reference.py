"""The reference page of the C++ library, from its public headers.

A header is a series of declarations with `///` comments above them; blank lines part them. The page shows, header by
header, what the file says of itself, and each declaration with its comment as text.
"""

import re
from pathlib import Path

HIDDEN = re.compile(r"\bnamespace detail\b|^#|^namespace\b|^}\s*// namespace|^using namespace|^extern template")
TAG = re.compile(r"@(param|throws|returns?)\s+")


def reference(include):
    """Markdown of all headers under include/."""
    parts = [
        "# C++ reference\n\nMade from the public headers. How to begin: [Fathom in C++](../cpp.md); how to link: "
        "[Building](../building.md).\n"
    ]
    headers = sorted(Path(include).rglob("*.h"), key=lambda path: (path.parent.name != "grid", str(path)))
    for header in headers:
        parts.append(page_of(header.relative_to(include), header.read_text(encoding="utf-8")))
    return "\n".join(parts)


def page_of(name, text):
    lines = text.splitlines()
    about = [line[2:].strip() for line in leading(lines, "//")]
    shown = [f"## `{name.as_posix()}`\n", sentence(about), ""]
    for comment, code in declarations(lines[len(about):]):
        shown += [documented(comment), "", "```cpp", *code, "```", ""]
    return "\n".join(shown)


def sentence(lines):
    text = " ".join(lines).strip()
    return text if text.endswith((".", ":")) else f"{text}."


def leading(lines, mark):
    """The lines at the beginning that start with a mark."""
    taken = []
    for line in lines:
        if not line.startswith(mark):
            break
        taken.append(line)
    return taken


def declarations(lines):
    """Pairs of comment and code, of what is public at the level of a namespace."""
    for chunk in chunks(lines):
        comment = [line[3:].strip() for line in leading(chunk, "///")]
        code = public([line for line in chunk[len(comment):] if not HIDDEN.search(line)])
        while code and not code[0].strip():
            code.pop(0)
        while code and not code[-1].strip():
            code.pop()
        if code:
            yield comment, code


def public(code):
    """Without what is private."""
    shown, private = [], False
    for line in code:
        private = line.strip() in ("private:", "protected:") or (private and not line.startswith("}"))
        if not private:
            shown.append(line)
        while private and shown and not shown[-1].strip():
            shown.pop()
    return shown


def chunks(lines):
    """Runs of lines between blank lines outside of braces; those of `detail` are left out."""
    chunk, depth, hidden = [], 0, False
    for line in lines:
        opens_namespace = re.match(r"(inline )?namespace [\w:]+ \{", line)
        if opens_namespace and "detail" not in line:
            continue
        if re.match(r"namespace .*detail", line):
            hidden = True
        if not line.strip() and depth == 0:
            if chunk and not hidden:
                yield chunk
            chunk, hidden = [], False
            continue
        if line.startswith("}") and depth == 0:
            continue  # the end of a namespace
        depth += line.count("{") - line.count("}")
        chunk.append(line)
    if chunk and not hidden:
        yield chunk


def documented(comment):
    """A comment as text: its tags become a list."""
    shown, in_list = [], False
    for line in comment:
        tag = TAG.match(line)
        if tag:
            rest = line[tag.end():]
            if tag[1] == "param":
                name, _, rest = rest.partition(" ")
                rest = f"`{name}` – {rest.strip()}"
            else:
                rest = f"*{tag[1]}* {rest}"
            shown += ([] if in_list else [""]) + [f"- {rest}"]
            in_list = True
        elif in_list and not re.match(r"(Cost|Where|Source|Same)\b", line):
            shown.append(f"  {line}")
        else:
            shown += ([""] if in_list else []) + [line]
            in_list = False
    return "\n".join(shown)
