"""Makes a process crash for real, as a fault of its own would: crash.py PID

A signal that is sent is none: the first process of a container outlives it. So an instruction that does not exist is put
where SwiftNIO's event loops go on after they have waited. Needs root.
"""

import pathlib
import struct
import sys
import time

EPOLL_WAITS = {"232", "281"}  # epoll_wait and epoll_pwait of x86-64
STACK_BYTES = 1024  # how far up the stack the caller of libc's function is looked for

proc = pathlib.Path("/proc") / sys.argv[1]
binary = str((proc / "exe").readlink())
text = []
for line in (proc / "maps").read_text().splitlines():
    field = line.split(maxsplit=5)
    if len(field) == 6 and field[5] == binary and "x" in field[1]:
        text.append(range(*(int(end, 16) for end in field[0].split("-"))))


def after_a_call(memory, address):
    """Whether the instruction before `address`, in the binary itself, is a call."""
    if not any(address in part for part in text):
        return False
    memory.seek(address - 6)
    before = memory.read(6)
    return before[1] == 0xE8 or before[:2] == b"\xff\x15"


def waiting_loops(memory):
    """Where SwiftNIO's own threads return to, in the binary, from their wait."""
    for task in proc.glob("task/*"):
        call = (task / "syscall").read_text().split()
        if not (task / "comm").read_text().startswith("NIO-") or call[0] not in EPOLL_WAITS:
            continue
        memory.seek(int(call[-2], 16))
        stack = struct.unpack(f"<{STACK_BYTES // 8}Q", memory.read(STACK_BYTES))
        yield from (address for address in stack if after_a_call(memory, address))
        return


with open(proc / "mem", "r+b", buffering=0) as memory:
    for _ in range(100):
        place = next(waiting_loops(memory), None)
        if place:
            memory.seek(place)
            memory.write(b"\x0f\x0b")  # ud2; the page is this process's own from now on
            sys.exit()
        time.sleep(0.1)
sys.exit("it has no event loop that waits")
