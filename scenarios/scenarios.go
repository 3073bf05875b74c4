// Package races contains the races between users of a distributed lock, as values of
// race.Race. A file has the races of one fault, or of one way to use a lock.
//
// To add a race, write a variable in a file of this package and its line in All, behind those of its group; see
// words.go for what races are written with. The tests of this package, of contract, reports/text and cmd/locklab then
// print the lines that its texts, its transcript and its section in contract/contract.txt need. A run in
// triggered_test.go looks like the race, and it does not happen there.
package scenarios

import (
	"regexp"
	"slices"
	"strings"
	"sync"

	"locklab/scenarios/race"
	"locklab/simulator/i18n"
)

// ByName finds a race by its ID or its race, in any case of letters. The error suggests the nearest name.
func ByName(name string) (race.Race, error) {
	all := listed()
	for i := range all {
		if strings.EqualFold(name, all[i].ID) || strings.EqualFold(name, all[i].Code) {
			return all[i], nil
		}
	}
	var names []string
	last := map[string]string{} // numbers, by their first letter
	for _, sc := range all {
		names = append(names, sc.ID, sc.Code)
		last[sc.Code[:1]] = sc.Code
	}
	if IsNumber(name) {
		return race.Race{}, i18n.Errorf("error.race.number", "name", name, "first", all[0].Code, "last", last["R"],
			"found", last["S"])
	}
	return race.Race{}, i18n.Errorf("error.race", "name", name, "near", i18n.Near(name, names))
}

// IsNumber reports whether a name is the number of a race (R18), even of one that is not there.
var IsNumber = regexp.MustCompile(`^[RSrs]\d+[A-Za-z]?$`).MatchString

// listed are those of All, made once.
var listed = sync.OnceValue(All)

// Known returns the races to begin with.
func Known() []race.Race {
	known := strings.Fields(`
		calm crash-holding crash-before-expire slow-work late-release client-skew same-thread nested late-renewal
		zombie-daemon failed-renewal dead-business gc-pause gc-pause-fenced check-then-pause late-write failover
		split-brain restart clock-jump lost-reply overtaken session-ends waiter-leaves quorum-failover`)
	return slices.DeleteFunc(All(), func(sc race.Race) bool { return !slices.Contains(known, sc.ID) })
}

// All returns the races in order: first those of articles, documentation and bug reports, then those found by search.
func All() []race.Race {
	return []race.Race{
		race.Calm,
		crashHolding,
		crashBeforeExpire,
		slowWork,
		lateRelease,
		doubleDel,
		getsetNil,
		getNil,
		getNilTaken,
		overwrittenStamp,
		clientSkew,
		clientBehind,
		sameSecond,
		foreignShutdown,
		ownShutdown,
		sameThread,
		sameToken,
		nested,
		pooledThread,
		secondTry,
		secondKey,
		lateReentry,
		twoKeys,
		lateRenewal,
		zombieDaemon,
		zombieKeeps,
		failedRenewal,
		deadBusiness,
		deadProcess,
		renewalInFlight,
		gcPause,
		gcPauseFenced,
		gcPauseCAS,
		checkThenPause,
		lateWrite,
		lateWriteFenced,
		lateWriteCAS,
		failover,
		failoverBehind,
		failoverOther,
		replicaGone,
		splitBrain,
		splitInStep,
		splitRenewed,
		splitBounded,
		restartEverysec,
		restartAlways,
		restartDelayed,
		restart,
		quorumRestart,
		clockJump,
		slowAcquire,
		pauseInFlight,
		clockDrift,
		serverDrift,
		splitVote,
		splitVoteSpread,
		partialAcquire,
		lostReply,
		releaseAgain,
		renewHeld,
		renewFree,
		renewLate,
		renewPartly,
		missedWake,
		silentCrash,
		herd,
		watchHerd,
		overtaken,
		inLine,
		strayDelete,
		eviction,
		flush,
		lostCreate,
		sessionPause,
		sessionEnds,
		suspended,
		suspendedIgnored,
		waiterDies,
		waiterLeaves,
		numbersEnd,
		doubleRun,
		noFinally,
		oppositeOrder,
		scriptCacheLost,
		shardList,
		rollingDeploy,
		lateAnswer,
		twoPauses,
		failoverInStep,
		undoneRelease,
		quorumFailover,
		failoverFenced,
		lostRelease,
		lateUnlock,
	}
}
