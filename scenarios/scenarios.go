// Package races contains the races between users of a distributed lock, as values of
// race.Race. A file has the races of one fault, or of one way to use a lock.
//
// To add a race, write a variable in a file of this package and its line in All, behind those of its group; see
// words.go for what races are written with. The tests of this package, of contract, reports/text and cmd/locklab then
// print the lines that its texts, its transcript and its section in contract/contract.txt need. A run in
// triggered_test.go looks like the race, and it does not happen there.
package scenarios

import (
	"strings"
	"sync"

	"locklab/scenarios/race"
	"locklab/simulator/i18n"
)

// ByName finds a race by its ID or its race, in any case of letters. The error
// suggests the nearest name.
func ByName(name string) (race.Race, error) {
	all := listed()
	for i := range all {
		if strings.EqualFold(name, all[i].ID) || strings.EqualFold(name, all[i].Code) {
			return all[i], nil
		}
	}
	var names []string
	for _, sc := range all {
		names = append(names, sc.ID, sc.Code)
	}
	return race.Race{}, i18n.Errorf("error.race", "name", name, "near", i18n.Near(name, names))
}

// listed are those of All, made once.
var listed = sync.OnceValue(All)

// All returns every race in the order of the races: first those of articles,
// documentation and bug reports, then those found by search.
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
