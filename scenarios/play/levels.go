package play

import (
	"cmp"
	"context"
	_ "embed"
	"fmt"
	"strings"

	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Level is a game with a goal.
type Level struct {
	ID       string // names its texts
	Lock     string
	Budget   string
	Harm     verdict.Word // to be brought about, if it can be
	Attempts int          // of each client; 0: 2
	Timing   search.Mode  // "": lockstep
	Fenced   bool
	Topic    string // of "locklab explain interview"; "": its long answer
}

// Course is the number of levels that tell one story: the claim of each is what was said to mend the one before. Those
// behind it are for who wants more.
const Course = 20

var levels = []Level{
	{ID: "mutex", Lock: "mutex", Harm: verdict.Overlap, Attempts: 1, Timing: search.AnyTiming},
	{ID: "crash", Lock: "setnx", Budget: "crash=1", Harm: verdict.Deadlock},
	{ID: "two-commands", Lock: "setnx-expire", Budget: "crash=1", Harm: verdict.Deadlock, Topic: "two-commands"},
	{ID: "clock", Lock: "getset", Budget: "client-clock=1@11s", Harm: verdict.Overlap, Topic: "clock"},
	{ID: "one-command", Lock: "constant", Budget: "crash=1", Harm: verdict.Deadlock, Topic: "two-commands"},
	{ID: "wrong-delete", Lock: "constant", Budget: "pause=1", Harm: verdict.WrongDel, Topic: "wrong-delete"},
	{ID: "get-and-del", Lock: "thread-id", Budget: "pause=1", Harm: verdict.WrongDel, Topic: "wrong-delete"},
	{ID: "token-pause", Lock: "token", Budget: "pause=1", Harm: verdict.Overlap, Topic: "ttl"},
	{ID: "watchdog", Lock: "watchdog", Budget: "pause=1", Harm: verdict.Overlap, Topic: "watchdog"},
	{ID: "fence", Lock: "token", Budget: "pause=1", Harm: verdict.Fenced, Fenced: true, Topic: "fencing"},
	{ID: "failover", Lock: "token", Budget: "failover=1", Harm: verdict.Overlap, Topic: "failover"},
	{ID: "wait", Lock: "token-wait", Budget: "failover=1", Harm: verdict.Overlap, Topic: "failover"},
	{ID: "restart", Lock: "redlock", Budget: "restart=1", Harm: verdict.Overlap, Attempts: 1, Topic: "redlock"},
	{ID: "redlock-pause", Lock: "redlock", Budget: "pause=1", Harm: verdict.Overlap, Topic: "redlock"},
	{ID: "fence-failover", Lock: "token", Budget: "failover=1", Harm: verdict.StaleWrite, Fenced: true,
		Topic: "fencing"},
	{ID: "session", Lock: "zk-protected", Budget: "expire-session=1", Harm: verdict.Overlap, Topic: "zookeeper"},
	{ID: "row", Lock: "db-row", Budget: "crash=1", Harm: verdict.Deadlock, Topic: "database"},
	{ID: "get-lock", Lock: "db-get-lock", Budget: "crash=1", Harm: verdict.Deadlock, Topic: "database"},
	{ID: "killed", Lock: "db-get-lock", Budget: "expire-session=1", Harm: verdict.Overlap, Topic: "database"},
	{ID: "late-write", Lock: "token", Budget: "delay=1@9s", Harm: verdict.StaleWrite, Topic: "fencing"},

	{ID: "lost-reply", Lock: "setnx", Budget: "lose-reply=1", Harm: verdict.Orphan, Topic: "testing"},
	{ID: "token-reply", Lock: "token", Budget: "lose-reply=1", Harm: verdict.Orphan, Topic: "testing"},
	{ID: "lease", Lock: "setnx-expire", Budget: "pause=1", Harm: verdict.Overlap, Topic: "ttl"},
	{ID: "takeover", Lock: "takeover-del", Budget: "pause=1", Harm: verdict.WrongDel, Topic: "wrong-delete"},
	{ID: "lie", Lock: "getset", Budget: "pause=1", Harm: verdict.Lie, Topic: "clock"},
	{ID: "reentrant", Lock: "reentrant", Harm: verdict.Overlap, Topic: "reentrancy"},
	{ID: "server-clock", Lock: "token", Budget: "node-clock=1@11s", Harm: verdict.Overlap, Topic: "clock"},
	{ID: "majority", Lock: "redlock", Budget: "lose-reply=1", Harm: verdict.Orphan, Attempts: 1, Topic: "redlock"},
	{ID: "line", Lock: "zk-recheck", Budget: "lose-reply=1", Harm: verdict.Orphan, Topic: "zookeeper-claim"},
	{ID: "shards", Lock: "sharded-token", Budget: "server-list=1", Harm: verdict.Overlap, Topic: "production"},
	{ID: "commit", Lock: "db-deadline-now", Budget: "failover=1", Harm: verdict.Overlap, Topic: "database"},
}

// codes are the levels' locks as one writes them on a whiteboard: a line with the name, and code up to an empty line.
//
//go:embed code.txt
var codes string

// Code is the level's lock in a few lines. A comment is a name, for which package game has the text.
func (l Level) Code() string {
	name := l.Lock
	if l.Fenced {
		name += " fenced"
	}
	_, rest, _ := strings.Cut("\n\n"+codes, "\n\n"+name+"\n")
	code, _, _ := strings.Cut(rest, "\n\n")
	return strings.TrimSpace(code)
}

// Levels is all levels, those of the course first.
func Levels() []Level { return append([]Level(nil), levels...) }

// pars are the results of a search of each level: a line "id par steps states clicks", with no steps for a
// harm that cannot be brought about. A test writes it.
//
//go:embed levels.txt
var pars string

// A Solution is what a search has found of a level.
type Solution struct {
	Par, Steps int  // fewest faults to the harm, and the fewest steps with so many
	Possible   bool // the harm can be brought about; false: it was proved that it cannot
	States     int  // of the search
	Clicks     int  // moves of a player who follows Next
}

// Solution is that of the search of the level, which a test repeats.
func (l Level) Solution() (s Solution) {
	for line := range strings.Lines(pars) {
		var id string
		if _, err := fmt.Sscan(line, &id, &s.Par, &s.Steps, &s.States, &s.Clicks); err == nil && id == l.ID {
			s.Possible = s.Steps > 0
			return s
		}
	}
	return Solution{}
}

// Bounds are those of the level's search and game.
func (l Level) Bounds() search.Bounds {
	b := DefaultBounds()
	b.Budget, b.Fenced, b.Timing = faults.Budget(l.Budget), l.Fenced, cmp.Or(l.Timing, b.Timing)
	if l.Attempts > 0 {
		b.Attempts = l.Attempts
	}
	return b
}

// Game opens the level.
func (l Level) Game(ctx context.Context) (*Game, error) {
	entry, err := race.Lock(l.Lock)
	if err != nil {
		return nil, err
	}
	return New(ctx, entry, l.Bounds())
}

// LevelAt is the n-th level, from 1.
func LevelAt(n int) (Level, error) {
	if n < 1 || n > len(levels) {
		return Level{}, i18n.Errorf("error.play.level", "value", n, "most", len(levels))
	}
	return levels[n-1], nil
}
