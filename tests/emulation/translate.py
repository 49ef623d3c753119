#!/usr/bin/env python3
"""Turns CUDA C++ into C++ for the emulated device: what no header can stand for.

  translate.py SOURCE_ROOT ROOM … -o OUTPUT_ROOT

Files of the rooms, and of their subfolders, go to the same places below OUTPUT_ROOT, foo.cu as foo.cu.cpp. Lines stay
where they are, so that messages and debuggers tell the truth; files that come out as they were are left alone.
"""

import argparse
import pathlib
import re

KERNEL = r"([A-Za-z_][\w:]*(?:<[^;{}()<>]*>)?)"
OPERAND = r'"=?[a-z]"\(((?:[^()]|\([^()]*\))*)\)'


def instruction(match):
    """One of PTX, as a call of a function with its name: of its results, then of its operands."""
    return f"::fathom::emulation::{match[1].replace('.', '_')}({', '.join(re.findall(OPERAND, match[2]))});"


def translate(text):
    launch = r"::fathom::emulation::on(\3)\2([&](const auto&... values) { \1(values...); })("
    text = re.sub(KERNEL + r"(\s*)<<<(.+?)>>>\(", launch, text, flags=re.DOTALL)
    text = re.sub(r"extern __shared__ (?:__align__\(\d+\) )?([\w:]+) (\w+)\[\];",
                  r"\1* const \2 = static_cast<\1*>(::fathom::emulation::shared_memory());", text)
    text = re.sub(r'asm(?: volatile)?\("([a-z][\w.]*)[^"]*"\s*:(.*?)\);', instruction, text)
    text = re.sub(r'asm\("" : "\+f"[^;]*\);', ";", text)  # what keeps values in registers
    return text.replace("__noinline__", "__attribute__((noinline))")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("rooms", nargs="+")
    parser.add_argument("-o", "--output", required=True, type=pathlib.Path)
    arguments = parser.parse_args()
    for room in arguments.rooms:
        for path in sorted(path for path in (arguments.source / room).rglob("*") if path.is_file()):
            name = path.name + ".cpp" if path.suffix == ".cu" else path.name
            target = arguments.output / path.relative_to(arguments.source).with_name(name)
            text = translate(path.read_text())
            if not target.exists() or target.read_text() != text:
                target.parent.mkdir(parents=True, exist_ok=True)
                target.write_text(text)


if __name__ == "__main__":
    main()
