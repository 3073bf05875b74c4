package scenarios_test

// storyLocks names, for each race, the lock for which the article tells it: its run is drawn. Where the articles tell
// a race for several locks, it is the one that comes to the end in the title; where they do not tell it, the plainest
// lock that the story is about. Token where none is named.
var storyLocks = map[string]string{
	"calm":                "setnx",
	"crash-holding":       "setnx",
	"crash-before-expire": "setnx-expire",
	"slow-work":           "setnx-expire",
	"late-release":        "threadlocal",
	"double-del":          "takeover-del",

	"getset-nil":        "getset-nil",
	"get-nil":           "getset",
	"get-nil-taken":     "getset-timeout",
	"overwritten-stamp": "getset-check",

	"client-skew":   "getset",
	"client-behind": "client-expiry",
	"same-second":   "getset-retry",

	"foreign-shutdown": "cron-v2",
	"own-shutdown":     "cron-v2",

	"same-thread": "thread-id-lua",

	"nested":        "reentrant",
	"pooled-thread": "reentrant",
	"second-try":    "reentrant",
	"second-key":    "reentrant",
	"late-re-entry": "reentrant",
	"two-keys":      "threadlocal",

	"late-renewal":      "daemon-29",
	"zombie-daemon":     "daemon-29",
	"zombie-keeps":      "daemon-29",
	"failed-renewal":    "watchdog",
	"dead-business":     "watchdog",
	"dead-process":      "watchdog",
	"renewal-in-flight": "daemon-20",

	"check-then-pause": "getset-check",

	"failover-other": "token-wait",
	"replica-gone":   "token-wait",
	"split-renewed":  "watchdog",
	"restart":        "redlock",
	"quorum-restart": "redlock",

	"clock-jump":      "redlock",
	"pause-in-flight": "redlock",
	"clock-drift":     "redlock",
	"server-drift":    "redlock",

	"split-vote":        "redlock",
	"split-vote-spread": "redlock",
	"partial-acquire":   "redlock",

	"release-again": "constant",
	"renew-held":    "redlock-extend",
	"renew-free":    "redlock-extend",
	"renew-late":    "redisson-lease",
	"renew-partly":  "redlock-extend",

	"missed-wake":  "naive-wake",
	"silent-crash": "naive-wake",
	"herd":         "redisson-lock",
	"watch-herd":   "zk-herd",
	"in-line":      "zk-recheck",

	"lost-create":       "zk-recheck",
	"session-pause":     "zk-recheck",
	"session-ends":      "zk-recheck",
	"suspended":         "zk-recheck",
	"suspended-ignored": "zk-recheck",
	"waiter-dies":       "zk-naive",
	"waiter-leaves":     "zk-naive",
	"numbers-end":       "zk-protected",

	"double-run":        "cron-v2",
	"no-finally":        "cron-v2",
	"opposite-order":    "setnx",
	"script-cache-lost": "evalsha",
	"shard-list":        "sharded",
	"rolling-deploy":    "sharded",

	"quorum-failover": "redlock",
	"late-unlock":     "watchdog",
}
