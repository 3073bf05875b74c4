package redis

import "github.com/redis/go-redis/v9"

// ScriptName says what the script with this SHA1 does, without a space, for transcripts; "": it is not of this package.
func ScriptName(sha string) string {
	for name, script := range map[string]*redis.Script{
		"compare-and-DEL":     compareAndDeleteScript, // delifequals in article 002
		"compare-and-PEXPIRE": compareAndExpireScript,
		"compare-DEL-PUBLISH": deleteAndPublishScript,
		"lock":                acquireHashScript,
		"lock-and-INCR":       acquireFencedScript,
		"lock-in-turn":        acquireInTurnScript,
		"obtain":              obtainScript, // the name that redislock has for it
		"renew":               renewHashScript,
		"unlock":              releaseHashScript,
	} {
		if script.Hash() == sha {
			return name
		}
	}
	return ""
}
