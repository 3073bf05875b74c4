# Python, around any lock (redis-py, pottery, kazoo): one line for each call.
import json, os, socket, threading, time, redis

log = open("events-%d.jsonl" % os.getpid(), "a", buffering=1)
order = threading.Lock()                    # lines of all threads are in the order of their instants

def record(event, key, since=None, **more):
    line = {"client": "%s-%d-%d" % (socket.gethostname(), os.getpid(), threading.get_ident())}
    if since is not None:
        line["from"] = since
    with order:
        log.write(json.dumps({"at": time.time_ns(), **line, "event": event, "key": key, **more}) + "\n")

def guarded(lock, key, work):               # lock = redis.Redis().lock(key, timeout=10)
    since = time.time_ns()
    if not lock.acquire(blocking=False):
        return record("refused", key, since)
    record("acquired", key, since)          # token=... if there is one, until=... if it is left to expire
    try:
        work()                              # record("wrote", key, since, version=..., base=...) inside
    finally:
        record("leaving", key)
        since, ok = time.time_ns(), True
        try:
            lock.release()                  # redis-py raises if the lock is no longer its own
        except redis.exceptions.LockNotOwnedError:
            ok = False
        record("released", key, since, ok=ok)
