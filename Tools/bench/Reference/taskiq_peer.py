"""Measures taskiq-redis' stream broker: one worker process, a task that does nothing.

Usage: taskiq_peer.py REDIS_SOCKET MESSAGES. Prints messages a second, from the first publication to the last task done; the
worker runs before the clock starts. Acknowledged when executed, without results.
"""

import asyncio
import os
import signal
import subprocess
import sys
import time

from redis.asyncio import Redis
from taskiq_redis import RedisStreamBroker

SOCKET = os.environ.get("PEER_SOCKET") or sys.argv[-2]
MESSAGES = int(os.environ.get("PEER_MESSAGES") or sys.argv[-1])
broker = RedisStreamBroker(url=f"unix://{SOCKET}", queue_name="taskiq-peer", consumer_id="0", xread_count=100)
done = 0


@broker.task(task_name="peer:nothing")
async def nothing(number: int) -> None:
    global done
    done += 1
    if number < 0:
        await Redis(unix_socket_path=SOCKET).rpush("taskiq-peer:ready", 1)
        done = 0
    elif done == MESSAGES:
        await Redis(unix_socket_path=SOCKET).rpush("taskiq-peer:done", 1)


async def main():
    redis = Redis(unix_socket_path=SOCKET)
    await redis.delete("taskiq-peer", "taskiq-peer:ready", "taskiq-peer:done")
    folder = os.path.dirname(os.path.abspath(__file__))
    worker = subprocess.Popen(
        [sys.executable, "-m", "taskiq", "worker", "--workers", "1", "--ack-type", "when_executed", "--log-level", "ERROR", "taskiq_peer:broker"],
        cwd=folder,
        env=os.environ | {"PEER_SOCKET": SOCKET, "PEER_MESSAGES": str(MESSAGES)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        await broker.startup()
        await nothing.kiq(-1)
        if not await redis.blpop(["taskiq-peer:ready"], timeout=60):
            sys.exit("the worker did not start")
        start = time.monotonic()
        for first in range(0, MESSAGES, 50):
            await asyncio.gather(*(nothing.kiq(number) for number in range(first, min(first + 50, MESSAGES))))
        if not await redis.blpop(["taskiq-peer:done"], timeout=300):
            sys.exit("the tasks were not done in time")
        print(MESSAGES / (time.monotonic() - start))
        await broker.shutdown()
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


if __name__ == "__main__":
    asyncio.run(main())
