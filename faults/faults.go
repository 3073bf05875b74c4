// Package faults is what goes wrong. Each fault is one file: a small value that
// adds choices to a world while its budget lasts, and pulls one of the world's
// levers when it is chosen.
//
// A fault that is not in a run's budget cannot happen in it. Delay beyond the
// ordinary is a fault like any other (Pause): without it every lock with a
// time to live would fall to an endless sleep, and nothing would be learned.
package faults

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/agnivade/levenshtein"

	"locklab/simulator"
)

// The verbs stand in saved traces: they are never given to another fault.
const (
	verbCrash = simulator.FaultVerb + iota
	verbPause
	verbLoseReply
	verbLoseRequest
	verbClientClock
	verbNodeClock
	verbRestart
	verbFailover
	verbSplit
	verbHang
	verbDelay
	verbFailCall
	verbEvict
	verbFlush
	verbDelete
	verbExpireSession
)

// An Entry is a fault's place in the list.
type Entry struct {
	simulator.Fault
	Title string // one line
}

// All is every fault, in the order in which the docs tell them.
func All() []Entry {
	return []Entry{
		{Crash{}, "a client process is killed, before or after its request took effect"},
		{Pause{}, "a whole client process stands still: garbage collection, SIGSTOP, a moving virtual machine"},
		{LoseReply{}, "a command is executed and its sender never hears of it"},
		{LoseRequest{}, "a command is lost on the way and never executed"},
		{ClientClock{}, "a client's clock jumps"},
		{NodeClock{}, "a server's clock jumps, and with it the end of every lease it keeps"},
		{Restart{}, "a server crashes and comes back, at once or later, with what it keeps on disk: mostly nothing"},
		{Failover{}, "a server is replaced by its replica, which may lag behind"},
		{Split{}, "a server is cut off with some clients and lives on, while its replica serves the others"},
		{Hang{}, "a server stands still: what reaches it meanwhile is executed afterwards"},
		{Delay{}, "one message is held up in the network, until its sender may have given up"},
		{FailCall{}, "a server answers one request with an error and does not execute it"},
		{Evict{}, "memory is short, and a key that has a time to live goes before its time"},
		{Flush{}, "somebody empties a server"},
		{Delete{}, "somebody deletes a key that is not theirs"},
		{ExpireSession{}, "a ZooKeeper ends a client's session before its time"},
	}
}

// ByName finds a fault. The error names the nearest one.
func ByName(name string) (Entry, error) {
	best, distance := "", len(name)
	for _, e := range All() {
		if e.Name() == name {
			return e, nil
		}
		if d := levenshtein.ComputeDistance(name, e.Name()); d < distance {
			best, distance = e.Name(), d
		}
	}
	if best != "" {
		return Entry{}, fmt.Errorf("unknown fault %q: did you mean %s?", name, best)
	}
	return Entry{}, fmt.Errorf("unknown fault %q: locklab list faults shows all", name)
}

// ParseBudget reads "crash=1,pause=2@5s": how often each fault may strike, and
// how long or how large a strike may be. "" is no faults at all.
func ParseBudget(s string) (budget []simulator.Allowance, err error) {
	if s == "" {
		return nil, nil
	}
	seen := map[string]bool{}
	for _, item := range strings.Split(s, ",") {
		a, err := parseAllowance(strings.TrimSpace(item))
		if err != nil {
			return nil, fmt.Errorf("budget %q: %w", item, err)
		}
		if seen[a.Fault.Name()] {
			return nil, fmt.Errorf("budget %q: %s is named twice", item, a.Fault.Name())
		}
		seen[a.Fault.Name()] = true
		budget = append(budget, a)
	}
	return budget, nil
}

func parseAllowance(item string) (a simulator.Allowance, err error) {
	name, rest, ok := strings.Cut(item, "=")
	if !ok {
		return a, fmt.Errorf("write fault=times, for example crash=1")
	}
	e, err := ByName(name)
	if err != nil {
		return a, err
	}
	times, size, sized := strings.Cut(rest, "@")
	n, err := strconv.ParseUint(times, 10, 8)
	if err != nil {
		return a, fmt.Errorf("%q is no number of times from 0 to 255", times)
	}
	a = simulator.Allowance{Fault: e.Fault, Times: int(n)}
	if !sized {
		return a, nil
	}
	if a.Max, err = time.ParseDuration(size); err != nil || a.Max <= 0 {
		return a, fmt.Errorf("%q is no length above 0, such as 5s", size)
	}
	return a, nil
}

// FormatBudget writes a budget as ParseBudget reads it.
func FormatBudget(budget []simulator.Allowance) string {
	items := make([]string, len(budget))
	for i, a := range budget {
		items[i] = fmt.Sprintf("%s=%d", a.Fault.Name(), a.Times)
		if a.Max > 0 {
			items[i] += "@" + a.Max.String()
		}
	}
	return strings.Join(items, ",")
}
