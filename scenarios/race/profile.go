package race

import (
	"context"
	"slices"
	"strings"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/simulator/client"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Profile is what a lock shows when hardly anything goes wrong: a client
// acquires it, works for one and a half leases, gives it back and shuts down;
// another comes upon the lock of one that has died over its acquire; and one that
// has it asks for it again, and tries whatever else its lease can do. It is
// observed, not declared, and decides where a question has no meaning.
type Profile struct {
	Nodes           int  // servers that it asks
	TwoSteps        bool // its acquire leaves a key without TTL behind one command and goes on
	NeverExpires    bool // its key has no time to live when its acquire is done
	ChecksOwner     bool // its release looks whose lock it is before or while it deletes
	UsesGETSET      bool // its acquire uses GETSET where the key exists
	Deletes         bool // its acquire deletes what it finds
	Closes          bool // its process has something to tell the server when it is shut down in good order
	Renews          bool // it prolongs the lease while its client works
	Expires         bool // while its client works, its key has a time to live
	UsesWAIT        bool // it asks how many replicas have heard of it
	Excludes        bool // it keeps another process out while nothing goes wrong
	Remote          bool // it asks a server at all
	Reenters        bool // it lets its holder in once more
	LocksPerKey     bool // with one key locked it asks for another as well
	Extends         bool // its lease can be prolonged by its holder
	Checks          bool // its lease can be asked whether it still stands
	StopsAtMajority bool // refused by a majority, it asks no further
	ZooKeeper       bool // it locks on a ZooKeeper
	Shares          bool // it lets two in together, as it says it does
	UsesEVALSHA     bool // it calls a script by its digest
	WaitsInLine     bool // it can wait for its turn by itself
}

// ProfileOf plays the lock alone, and then against a leftover whose owner has
// died, where a lock that takes over shows how. It does so with the standard
// numbers: what a lock is does not depend on those of a run.
func ProfileOf(entry lock.Entry) (Profile, error) {
	p := Profile{Nodes: entry.Servers(), ZooKeeper: entry.OnZooKeeper()}
	s := Standard()
	s.Clients = 1
	alone := Scenario{Settings: s, Clients: func(s Settings) []Client {
		return []Client{{Work: s.TTL * 3 / 2, Play: func(a *ClientRun) { a.Play(); a.ShutDown() }}}
	}}
	s.Clients = 2
	leftover := Scenario{
		Settings: s,
		Budget:   FixedBudget("crash=1"),
		Clients:  func(s Settings) []Client { return []Client{{Work: s.TTL}, {Start: s.TTL / 2}} },
		Script: func(s Settings, _ int) []Trigger {
			return []Trigger{{On: CreatesKey(1), Do: Inject(0, faults.CrashOf(1))}}
		},
	}
	again := Scenario{Settings: alone.Settings, Clients: func(Settings) []Client { return []Client{{Play: tryPowers}} }}
	for _, sc := range []Scenario{alone, leftover, again} {
		out, err := sc.Play(entry, sc.Settings)
		if err != nil {
			return p, err
		}
		p.observe(out.History)
	}
	out, err := Calm.Play(entry, Calm.Settings)
	if err != nil {
		return p, err
	}
	p.Excludes = !slices.Contains(out.Verdicts, verdict.Overlap)
	p.StopsAtMajority = stops(out.History)
	p.Shares = p.Excludes && InOrderWithout(out.History, Event(history.Leave, 1), Event(history.Enter, 1), Event(history.Enter, 2))
	return p, nil
}

// stops says whether c2, refused for the first time, had not asked all servers.
func stops(h *history.History) bool {
	asked := map[int]bool{}
	for i := range h.Events {
		switch e := &h.Events[i]; {
		case Event(history.Send, 2)(e) && e.Node != history.Resource:
			asked[e.Node] = true
		case Event(history.Refuse, 2)(e):
			return len(asked) > 0 && len(asked) < h.Nodes
		}
	}
	return false
}

func (p *Profile) observe(h *history.History) {
	var acquiring, releasing, inside, bare, done [3]bool
	var held [3]int // leases that have not been given back
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
			// what a session keeps ends with it
			bare[c] = acquiring[c] && e.After != "" && e.Until == history.Forever && !p.ZooKeeper
		case history.Send:
			if e.Node == history.Resource {
				continue
			}
			name := strings.ToUpper(e.Cmd[0])
			p.Remote = true
			p.TwoSteps = p.TwoSteps || acquiring[c] && bare[c]
			p.ChecksOwner = p.ChecksOwner || releasing[c] && name != "DEL"
			p.UsesEVALSHA = p.UsesEVALSHA || name == "EVALSHA"
			p.UsesWAIT = p.UsesWAIT || slices.ContainsFunc(e.Cmd, func(arg string) bool { return strings.EqualFold(arg, "WAIT") })
			p.UsesGETSET = p.UsesGETSET || acquiring[c] && name == "GETSET"
			p.Deletes = p.Deletes || acquiring[c] && name == "DEL"
			p.Closes = p.Closes || done[c] && e.Thread == 0
			p.Renews = p.Renews || inside[c] && e.Thread > 0
		}
	}
}

// again gives back at once what was granted.
func again(lease lock.Lease, err error) error {
	if err == nil {
		_ = lease.Release(context.Background()) // whether it was granted is the question
	}
	return err
}

// tryPowers is a client that has the lock and asks for it again, and then whether
// it still has it, in all the ways that its lease offers.
func tryPowers(a *ClientRun) {
	lease := client.Acquire(a.Client, a.Lock, a.Def.Retry)
	if inner, err := client.Try(a.Client, a.Lock); err == nil {
		client.Release(a.Client, inner)
	}
	a.Renew(lease)
	a.Check(lease)
	if q, ok := a.Bare.(lock.Queuer); ok {
		a.Ask(client.Waiting, func(ctx context.Context) error { return again(q.Await(ctx, client.Key, 0)) })
	}
	if second, err := a.Lock.Acquire(context.Background(), client.OtherKey); err == nil {
		_ = second.Release(context.Background()) // whether it was asked for is the question
	}
	a.Record(history.Event{Kind: history.Leave})
	client.Release(a.Client, lease)
}
