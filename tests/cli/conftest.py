"""Fixtures for tests of the command: run it, look at everything it says."""

import os
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest
from point_taken import Taken

COMMAND = os.environ.get("FATHOM_COMMAND")


class Outcome(NamedTuple):
    code: int
    out: bytes
    err: bytes

    @property
    def text(self) -> str:
        return self.out.decode()


class Fathom:
    """The command, run in a directory of its own."""

    command = COMMAND

    def __init__(self, directory: Path):
        self.directory = directory

    def __call__(self, *arguments, stdin: bytes = b"", **popen) -> Outcome:
        done = subprocess.run(
            [COMMAND, *map(str, arguments)], input=stdin, capture_output=True, cwd=self.directory, timeout=120, **popen
        )
        return Outcome(done.returncode, done.stdout, done.stderr)

    def ok(self, *arguments, stdin: bytes = b"") -> str:
        """Runs what must succeed in silence on stderr; what it printed."""
        outcome = self(*arguments, stdin=stdin)
        assert (outcome.code, outcome.err) == (0, b""), outcome
        return outcome.text

    def refuses(self, code: int, *arguments, stdin: bytes = b"", **popen) -> str:
        """Runs what must fail: one line on stderr, nothing on stdout, no new file. The line, without its prefix."""
        before = self.files()
        outcome = self(*arguments, stdin=stdin, **popen)
        assert outcome.code == code, outcome
        assert outcome.out == b"", outcome
        lines = outcome.err.decode().splitlines()
        assert len(lines) == 1 and lines[0].startswith("fathom: "), outcome
        assert self.files() == before
        return lines[0].removeprefix("fathom: ")

    def files(self):
        """Every file below the directory, with its contents' size and time."""
        return {
            str(path.relative_to(self.directory)): (path.stat().st_size, path.stat().st_mtime_ns)
            for path in self.directory.rglob("*")
        }


@pytest.fixture
def fathom(tmp_path) -> Fathom:
    assert COMMAND, "FATHOM_COMMAND must name the command"
    return Fathom(tmp_path)


@pytest.fixture
def take(fathom):
    """take(name, data, *options): what `query` makes of a file of points."""
    return lambda name, data, *options: Taken(fathom, name, data, options)
