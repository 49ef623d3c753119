"""What a program takes whose raster comes through a pipe: seconds, seconds of processors, memory.

The program reads its work from standard input, so that it can be stopped where it has begun and done nothing: what it
holds there is "the start". A reader takes the bytes from a pipe of its own, as a machine would.
"""

import array
import fcntl
import os
import select
import subprocess
import tempfile
import termios
import time

PIECE = 1 << 20  # bytes of the pipe, and most that are read at once
EVERY = 0.005  # seconds between two looks at the memory
PAGE, TICK = os.sysconf("SC_PAGE_SIZE"), os.sysconf("SC_CLK_TCK")


def anonymous_bytes(process):
    with open(f"/proc/{process}/statm") as file:
        _, resident, shared = map(int, file.read().split()[:3])
    return (resident - shared) * PAGE


def processor_seconds(process):
    with open(f"/proc/{process}/stat") as file:
        user, system = file.read().rpartition(")")[2].split()[11:13]
    return (int(user) + int(system)) / TICK


def unread(pipe):
    count = array.array("i", [0])
    fcntl.ioctl(pipe, termios.FIONREAD, count)
    return count[0]


def wait_for_its_start(child):
    """A blank before its work, which is JSON: once it is read, the program is there."""
    child.stdin.write(b" ")
    child.stdin.flush()
    while unread(child.stdin) and child.poll() is None:
        time.sleep(0.001)


class Sink:
    """Counts. Others look at the bytes, or take their time."""

    def take(self, at, piece, asked):
        """@param at  place of the first byte; asked: when the reader was ready for them"""


def read_all(pipe, child, sink, begun):
    """Bytes, seconds until the first, and the most anonymous memory meanwhile."""
    buffer = memoryview(bytearray(PIECE))
    poll = select.poll()
    poll.register(pipe, select.POLLIN)
    count, first, most, looked, asked = 0, None, 0, 0, begun
    while True:
        now = time.perf_counter()
        if now - looked >= EVERY:
            most, looked = max(most, anonymous_bytes(child.pid)), now
        if not poll.poll(1000 * EVERY):
            continue
        read = os.readv(pipe, [buffer])
        if read == 0:
            return count, first, most
        first = first or time.perf_counter() - begun
        sink.take(count, buffer[:read], asked)
        count, asked = count + read, time.perf_counter()


def run(command, work, sink=None):
    """What the command took from its start on; "said" is its standard output.

    @param command  words; "-o" and the pipe come behind them
    @param work  text for its standard input
    """
    pipe, end = os.pipe()
    fcntl.fcntl(pipe, fcntl.F_SETPIPE_SZ, PIECE)
    with tempfile.TemporaryFile() as said, tempfile.TemporaryFile() as complaints, os.fdopen(pipe, "rb", 0):
        child = subprocess.Popen([*map(str, command), "-o", f"/dev/fd/{end}"], stdin=subprocess.PIPE, stdout=said,
                                 stderr=complaints, pass_fds=[end])
        os.close(end)
        try:
            wait_for_its_start(child)
            start, used = anonymous_bytes(child.pid), processor_seconds(child.pid)
            begun = time.perf_counter()
            child.stdin.write(work.encode())
            child.stdin.close()
            count, first, most = read_all(pipe, child, sink or Sink(), begun)
            seconds = time.perf_counter() - begun
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        except BaseException:
            child.kill()
            raise
        said.seek(0)
        complaints.seek(0)
        if child.returncode != 0:
            raise SystemExit(f"{' '.join(map(str, command))}: {complaints.read().decode()}")
        return {"bytes": count, "seconds": seconds, "first": first, "processor": usage.ru_utime + usage.ru_stime - used,
                "start_bytes": start, "most_bytes": max(0, most - start), "said": said.read().decode()}
