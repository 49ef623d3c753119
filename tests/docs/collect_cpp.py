"""Makes one program of the ```cpp blocks of documentation pages.

    collect_cpp.py OUTPUT PAGE...

Each block becomes a function; its #include lines move to the top. main() runs them all, in order.
"""

import sys
from pathlib import Path

from blocks import blocks


def main() -> None:
    output, pages = Path(sys.argv[1]), [Path(page) for page in sys.argv[2:]]
    includes, functions = {}, []
    for page in pages:
        for block in blocks(page):
            if block.language != "cpp":
                continue
            # Errors and warnings are to name the page and line.
            body = [f'#line {block.line} "{page}"']
            for line in block.text.splitlines():
                if line.startswith("#include"):
                    includes[line] = None
                    line = ""
                body.append(line)
            functions.append("\n".join(body))
    if not functions:
        sys.exit("no cpp blocks found")
    text = ["// Made from the documentation: " + ", ".join(page.name for page in pages), *includes, ""]
    for number, body in enumerate(functions):
        text += [f"static void example_{number}() {{", body, "}", ""]
    text += ["int main() {", *(f"  example_{number}();" for number in range(len(functions))), "}", ""]
    output.write_text("\n".join(text), encoding="utf-8")


if __name__ == "__main__":
    main()
