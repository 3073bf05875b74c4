package race

import (
	"context"
	"math"
	"path"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
	"locklab/simulator/zookeeper"
)

// A Profile is how a lock behaves when little goes wrong, observed in runs, not declared. It decides which races apply.
type Profile struct {
	Nodes           int  // number of servers that it asks for one key
	TwoSteps        bool // its acquire creates a key without TTL in one command and goes on with another
	NeverExpires    bool // its key has no TTL after the acquire
	ChecksOwner     bool // its release checks the owner before or while it deletes
	UsesGETSET      bool // its acquire uses GETSET on an existing key
	Deletes         bool // its acquire deletes an existing key
	Closes          bool // its process sends something to the server when it shuts down normally
	Renews          bool // it renews the lease by itself while its client works
	Expires         bool // its key has a TTL while its client works
	UsesWAIT        bool // it uses WAIT, which counts the replicas that have acknowledged
	Excludes        bool // it keeps another process out while nothing goes wrong
	Remote          bool // it uses a server at all
	Reenters        bool // it lets its holder in once more
	LocksPerKey     bool // while one key is locked it asks the server for another
	Extends         bool // its lease can be renewed by its holder
	Checks          bool // its lease can be checked by its holder
	StopsAtMajority bool // once refused by a majority, it asks no further server
	ZooKeeper       bool // its servers are an ensemble; see lock.Entry.Ensemble
	Database        bool // its server is a database
	Keyless         bool // a database keeps it for a session: there is no row that names the holder
	Transacts       bool // it lasts as long as a transaction, in which its client writes
	NoCounter       bool // there is no counter from which it has fencing tokens
	Shards          bool // its client chooses the server of a key from a list
	Shares          bool // it has several holders by design
	Unlocked        bool // it is no lock; see lock.Guard
	UsesEVALSHA     bool // it calls a script by its digest
	WaitsInLine     bool // it has a queue in which it waits for its turn
}

// ProfileOf plays the lock with the standard numbers: a client that works for one and a half leases and shuts down; one
// that finds the lock of another that crashed in its acquire; a holder that tries all that its lease offers; and Calm.
func ProfileOf(entry lock.Entry) (Profile, error) { return profileOf(entry, nil) }

func profileOf(entry lock.Entry, code *Code) (Profile, error) {
	inDatabase := entry.Database != ""
	p := Profile{
		Nodes: entry.Asked(), Shards: entry.Shards > 0, ZooKeeper: entry.Ensemble(), Unlocked: entry.Guard != "",
		Database: inDatabase, Keyless: inDatabase && entry.Sessions(), NoCounter: inDatabase && !entry.Fences(),
	}
	for _, sc := range profiled {
		out, err := sc.play(entry, code.settings(sc.Settings), code, false)
		if err != nil {
			return p, err
		}
		p.observe(code.renamed(out.History))
	}
	out, err := Calm.play(entry, code.settings(Calm.Settings), code, false)
	if err != nil {
		return p, err
	}
	p.Excludes = !p.Unlocked && !slices.Contains(out.Verdicts, verdict.Overlap)
	p.StopsAtMajority = stopsAtMajority(out.History)
	p.Shares = p.Excludes &&
		InOrderWithout(out.History, Event(history.Leave, 1), Event(history.Enter, 1), Event(history.Enter, 2))
	return p, nil
}

// profiled are the races in which a lock is observed, besides Calm.
var profiled = []Race{
	{
		Settings: StandardWith(func(s *Settings) { s.Clients = 1 }),
		Clients: func(s Settings) []ClientSpec {
			return []ClientSpec{{Work: s.TTL * 3 / 2, Run: func(a *ClientRun) { a.AcquireWorkRelease(); a.ShutDown() }}}
		},
	},
	{
		Settings: Standard(),
		Budget:   FixedBudget("crash=1"),
		Clients:  func(s Settings) []ClientSpec { return []ClientSpec{{Work: s.TTL}, {Start: s.TTL / 2}} },
		Script: func(Settings, int) []Trigger {
			return []Trigger{{On: CreatesKey(1), Do: Inject(0, faults.CrashOf(1))}}
		},
	},
	{
		Settings: StandardWith(func(s *Settings) { s.Clients = 1 }),
		Clients:  func(Settings) []ClientSpec { return []ClientSpec{{Run: tryEverything}} },
	},
}

// ofAnyOwner reports whether a statement changes the row of a key without a look at its owner.
func ofAnyOwner(cmd []string) bool {
	_, where, found := strings.Cut(strings.Join(cmd, " "), " WHERE ")
	return found && !strings.Contains(where, "owner")
}

// stopsAtMajority reports whether c2, when it is refused for the first time, has not asked all servers.
func stopsAtMajority(h *history.History) bool {
	asked := map[int]bool{}
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case Event(history.Send, 2)(e) && e.Node != history.Resource:
			asked[e.Node] = true
		case Event(history.Refuse, 2)(e):
			return len(asked) > 0 && len(asked) < h.Asked()
		}
	}
	return false
}

// observe adds what one of the runs shows.
func (p *Profile) observe(h *history.History) {
	var acquiring, releasing, inside, bare, done [3]bool
	var held [3]int // leases not yet released
	for i := range h.Events {
		e := &h.Events[i]
		c := e.Client
		switch e.Kind {
		case history.Acquire:
			acquiring[c], bare[c] = true, false
			p.Extends = p.Extends || e.Note == client.Renewing
			p.Checks = p.Checks || e.Note == client.Checking
			p.WaitsInLine = p.WaitsInLine || e.Note == client.Waiting
		case history.Enter:
			p.Reenters = p.Reenters || inside[c] && e.Note == ""
			acquiring[c], inside[c] = false, true
			if e.Note == "" {
				held[c]++
			}
			p.NeverExpires = p.NeverExpires || bare[c]
		case history.Refuse:
			acquiring[c] = false
		case history.Leave:
			inside[c] = false
		case history.Release:
			releasing[c] = true
		case history.Released:
			releasing[c], held[c] = false, held[c]-1
			done[c] = held[c] == 0
		case history.Change:
			p.Expires = p.Expires || e.Key == client.Key && e.After != "" && e.Until != history.Forever
			p.LocksPerKey = p.LocksPerKey || e.Key == client.OtherKey
			if e.Key == client.Key { // and not, say, a counter beside it; a znode without TTL ends with its session
				bare[c] = acquiring[c] && e.After != "" && e.Until == history.Forever && !p.ZooKeeper
			}
		case history.Send:
			if e.Node == history.Resource {
				continue
			}
			name := strings.ToUpper(e.Cmd[0])
			p.Remote = true
			p.TwoSteps = p.TwoSteps || acquiring[c] && bare[c]
			p.ChecksOwner = p.ChecksOwner || releasing[c] && name != "DEL" && !ofAnyOwner(e.Cmd)
			p.UsesEVALSHA = p.UsesEVALSHA || name == "EVALSHA"
			p.UsesWAIT = p.UsesWAIT ||
				slices.ContainsFunc(e.Cmd, func(arg string) bool { return strings.EqualFold(arg, "WAIT") })
			p.Transacts = p.Transacts || acquiring[c] && name == "BEGIN"
			p.UsesGETSET = p.UsesGETSET || acquiring[c] && name == "GETSET"
			p.Deletes = p.Deletes || acquiring[c] && name == "DEL"
			p.Closes = p.Closes || done[c] && e.Thread == 0
			p.Renews = p.Renews || inside[c] && e.Thread > 0
		}
	}
}

// tryEverything is a holder that acquires the lock again, renews and checks its lease,
// waits in the queue, and acquires another key, as far as its lease and lock offer that.
func tryEverything(a *ClientRun) {
	lease := client.Acquire(a.Client, a.Lock, a.Spec.Retry)
	if inner, err := client.Try(a.Client, a.Lock); err == nil {
		client.Release(a.Client, inner)
	}
	a.Renew(lease)
	a.Check(lease)
	if q, ok := a.Unwrapped.(lock.Queuer); ok {
		client.Ask(a.Client, client.Waiting, func(ctx context.Context) error {
			return releaseAtOnce(q.Await(ctx, client.Key, 0))
		})
	}
	_ = releaseAtOnce(a.Lock.Acquire(context.Background(), client.OtherKey)) // only whether it asks the server counts
	a.Record(history.Event{Kind: history.Leave})
	client.Release(a.Client, lease)
}

// releaseAtOnce releases what was acquired, and returns the error of the acquire.
func releaseAtOnce(lease lock.Lease, err error) error {
	if err == nil {
		_ = lease.Release(context.Background()) // only whether it was acquired counts
	}
	return err
}

// Calm is the race without any fault: two clients want the lock, one after the other has it. It
// is here, not with the other races, because a Profile is observed in it.
var Calm = Race{
	ID: "calm", Code: "R00", Group: "calm",
	Data:                true,
	AllowsShared:        true,
	Settings:            Standard(),
	IncludeNonExclusive: true,
	Clients: func(s Settings) []ClientSpec {
		return []ClientSpec{{Work: s.TTL / 2}, {Start: s.Retry / 2, Work: s.Retry}}
	},
	Triggered: Sequence(Event(history.Enter, 1), EventOfOther(history.Acquire, 1), Event(history.Leave, 1)),
}

// exhaustedQueues returns the contents of a ZooKeeper whose queues have given out all numbers but the last. Which
// queues a lock uses is observed in a run; a user's code queues at its key. Of another kind of server contents stay.
func exhaustedQueues(entry lock.Entry, code *Code, contents any) (any, error) {
	all, ok := contents.(zookeeper.Contents)
	if !ok {
		return contents, nil
	}
	if code != nil {
		all.Znodes = client.QueuedAt(code.Key).SetCounter(code.Key, math.MaxInt32)
		return all, nil
	}
	out, err := Calm.play(entry, Calm.Settings, nil, false)
	if err != nil {
		return nil, err
	}
	var queues []string
	for i := range out.History.Events {
		if e := &out.History.Events[i]; JoinsQueue(e.Client)(e) {
			queues = append(queues, path.Dir(e.Reply))
		}
	}
	all.Znodes = client.QueuedAt(queues...)
	for _, queue := range queues {
		all.Znodes = all.Znodes.SetCounter(queue, math.MaxInt32)
	}
	return all, nil
}
