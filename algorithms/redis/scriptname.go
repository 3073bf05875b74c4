package redis

import "github.com/redis/go-redis/v9"

// ScriptName returns a short name for the script with this SHA1, for readers of a
// transcript. It returns "" for a script that is not of this package.
func ScriptName(sha string) string {
	for name, script := range map[string]*redis.Script{
		"delandtell":     deleteAndPublishScript,
		"delifequals":    compareAndDeleteScript, // article 002 wishes for a command of this name
		"expireifequals": compareAndExpireScript,
		"enqueue":        acquireInTurnScript,
		"lock":           acquireHashScript,
		"lockfenced":     acquireFencedScript,
		"obtain":         obtainScript,
		"renew":          renewHashScript,
		"unlock":         releaseHashScript,
	} {
		if script.Hash() == sha {
			return name
		}
	}
	return ""
}
