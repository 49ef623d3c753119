"""Refuses to be imported where another distribution has put its files into the same folder: which file is whose is then
chance. The wheels for the CPU and for each CUDA, and another project's `fathom`, all have a folder of this name.
"""

import os
import re

_RECORD = re.compile(r"(fathom(?:_distance(?:_cuda\d+)?)?)-.*\.(?:dist|egg)-info")


def check_alone(folder: str) -> None:
    """Raises ImportError if more than one such distribution is installed in the folder."""
    found = (_RECORD.fullmatch(name) for name in os.listdir(folder))
    names = sorted({match[1].replace("_", "-") for match in found if match})
    if len(names) > 1:
        raise ImportError(
            f"{' and '.join(names)} are installed in one place and have overwritten each other's files: "
            f"run `pip uninstall {' '.join(names)}`, then install the one you want"
        )


check_alone(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
