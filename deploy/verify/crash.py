"""Makes a process crash for real, as a fault of its own would: crash.py PID

A signal that is sent is none: the first process of a container outlives it. So an instruction that does not exist is put
where its event loops go on when something happens. Needs root.
"""

import pathlib
import sys
import time

EPOLL_WAITS = {"232", "281"}  # epoll_wait and epoll_pwait of x86-64

proc = pathlib.Path("/proc") / sys.argv[1]
for _ in range(100):
    calls = [task.read_text().split() for task in proc.glob("task/*/syscall")]
    places = {int(call[-1], 16) for call in calls if call[0] in EPOLL_WAITS}
    if places:
        break
    time.sleep(0.1)
else:
    sys.exit("it has no event loop that waits")
with open(proc / "mem", "r+b", buffering=0) as memory:
    for place in places:
        memory.seek(place)
        memory.write(b"\x0f\x0b")  # ud2; the page is this process's own from now on
