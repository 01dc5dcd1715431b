"""Measures Celery on Redis: one worker process, a task that does nothing.

Usage: celery_peer.py REDIS_SOCKET MESSAGES. Prints messages a second, from the first publication to the last task done; the
worker runs before the clock starts. Acknowledged late, as a task that must not be lost has to be, and without results.
"""

import os
import signal
import subprocess
import sys
import time

from celery import Celery
from redis import Redis

SOCKET, MESSAGES = sys.argv[-2], int(sys.argv[-1])
app = Celery("celery_peer", broker=f"redis+socket://{SOCKET}")
app.conf.update(
    task_acks_late=True,
    task_ignore_result=True,
    worker_prefetch_multiplier=64,
    task_default_queue="celery-peer",
    broker_connection_retry_on_startup=True,
)
done = 0


@app.task(name="peer.nothing")
def nothing(number):
    global done
    done += 1
    if number < 0:
        Redis(unix_socket_path=SOCKET).rpush("celery-peer:ready", 1)
        done = 0
    elif done == MESSAGES:
        Redis(unix_socket_path=SOCKET).rpush("celery-peer:done", 1)


def main():
    redis = Redis(unix_socket_path=SOCKET)
    redis.delete("celery-peer", "celery-peer:ready", "celery-peer:done")
    worker = subprocess.Popen(
        [sys.executable, __file__, "worker", SOCKET, str(MESSAGES)],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        nothing.delay(-1)
        if not redis.blpop("celery-peer:ready", timeout=60):
            sys.exit("the worker did not start")
        start = time.monotonic()
        with app.producer_pool.acquire() as producer:
            for number in range(MESSAGES):
                nothing.apply_async((number,), producer=producer)
        if not redis.blpop("celery-peer:done", timeout=300):
            sys.exit("the tasks were not done in time")
        print(MESSAGES / (time.monotonic() - start))
    finally:
        os.killpg(worker.pid, signal.SIGKILL)
        worker.wait()


if __name__ == "__main__":
    if sys.argv[1] == "worker":
        # One process that runs its tasks itself: a pool of one would only add a pipe.
        app.worker_main(["worker", "--pool=solo", "--without-gossip", "--without-mingle", "--without-heartbeat", "--loglevel=error"])
    else:
        main()
