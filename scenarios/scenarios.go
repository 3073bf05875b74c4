// Package races contains the races between users of a distributed lock, as values of
// race.Race. A file has the races of one fault, or of one way to use a lock.
//
// To add a race:
//
//   - a variable in a file of this package: Settings, Clients, Script, and Triggered, which
//     proves that a run shows the race; see words.go for what they are written with;
//   - its line in All;
//   - its texts, title.race.<id>, story.race.<id> and numbers.race.<id>, in reports/text/en/stories.txt and
//     reports/text/zh/stories.txt, and race.<id>.why, .mends and .not in races.txt beside them;
//   - its section in contract/contract.txt: the locks that do not hold in it, and why;
//   - its transcript: go test ./scenarios -run Transcripts -update;
//   - a run in triggered_test.go that looks like the race and in which it does not happen.
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
