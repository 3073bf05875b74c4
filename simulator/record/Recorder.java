// Java, around Redisson's RLock. With Curator's InterProcessMutex: acquire(0, SECONDS) and release() in place of
// tryLock() and unlock(), and record("lost", ...) and stop when a ConnectionStateListener says LOST.
static final PrintStream LOG;
static final String PROCESS;
static {
    long pid = ProcessHandle.current().pid();
    try {
        LOG = new PrintStream(new FileOutputStream("events-" + pid + ".jsonl", true), true, "UTF-8");
        PROCESS = InetAddress.getLocalHost().getHostName() + "-" + pid + "-";
    } catch (IOException e) {
        throw new UncheckedIOException(e);
    }
}

// synchronized: lines of all threads are in the order of their instants. Keys have no quotes and backslashes.
static synchronized void record(String event, String key, Instant since, Boolean ok) {
    LOG.println("{\"at\":\"" + Instant.now() + "\",\"client\":\"" + PROCESS + Thread.currentThread().getId()
        + "\",\"event\":\"" + event + "\",\"key\":\"" + key + "\""
        + (since == null ? "" : ",\"from\":\"" + since + "\"") + (ok == null ? "" : ",\"ok\":" + ok) + "}");
}

static void guarded(RLock lock, Runnable work) {
    String key = lock.getName();
    Instant since = Instant.now();
    if (!lock.tryLock()) { record("refused", key, since, null); return; }
    record("acquired", key, since, null);
    try {
        work.run();
    } finally {
        record("leaving", key, null, null);
        since = Instant.now();
        boolean ok = true;
        try { lock.unlock(); } catch (IllegalMonitorStateException e) { ok = false; }   // no longer its own
        record("released", key, since, ok);
    }
}
