#!python
"""The command: `python -m fathom`, and as a script of its own `fathom`.

Both hand over to the program in the package's folder. As a script this does not import the package, since NumPy alone
takes longer to import than most calls of the command take.
"""

import importlib.util
import os
import runpy
import signal
import sys
from pathlib import Path
from typing import NoReturn


def main() -> NoReturn:
    spec = importlib.util.find_spec("fathom")
    folders = [Path(folder) for folder in (spec and spec.submodule_search_locations) or []]
    program = next((path for path in (folder / "bin" / "fathom" for folder in folders) if path.exists()), None)
    if program is None:
        refuse("this build of the package has no command; build it with FATHOM_CLI=ON")
    try:
        runpy.run_path(str(folders[0] / "_alone.py"))
    except ImportError as error:
        refuse(str(error))
    fonts = program.parents[1] / "fonts" / "fonts.conf"
    if fonts.exists() and not {"FONTCONFIG_FILE", "FONTCONFIG_PATH"} & set(os.environ):
        os.environ["FONTCONFIG_FILE"] = str(fonts)
    # Python ignores these, and the program would inherit that.
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    os.execv(program, ["fathom", *sys.argv[1:]])


def refuse(why: str) -> NoReturn:
    print(f"fathom: {why}", file=sys.stderr)
    sys.exit(70)  # the command's status for what is no fault of its user


if __name__ == "__main__":
    main()
