package reports

import (
	"strings"
	"time"

	_ "locklab/faults" // what views say of faults stands there
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A script writes a history by hand, in the order in which things happen.
type script struct {
	H   *history.History
	Now time.Duration // true time of the events that are added
	Msg int           // of the latest request
}

// newScript begins a history at time 0.
func newScript(lock, raceID string, clients, nodes int, ttl time.Duration) *script {
	return &script{H: &history.History{
		Lock: lock, Race: raceID, Clients: clients, Nodes: nodes, Key: "lock", TTL: ttl,
	}}
}

// At sets the time of the events to come.
func (s *script) At(t time.Duration) *script { s.Now = t; return s }

// Add adds an event at this time.
func (s *script) Add(e history.Event) *script {
	e.At = s.Now
	s.H.Events = append(s.H.Events, e)
	s.H.End = s.Now
	return s
}

// Client adds events of a client that need no more than their kind.
func (s *script) Client(c int, kinds ...history.EventKind) *script {
	for _, k := range kinds {
		s.Add(history.Event{Kind: k, Client: c})
	}
	return s
}

// A keyChange is a change of the key: from one value to another, gone at until.
type keyChange struct {
	Before, After string
	Until         time.Duration
}

// changeTo is the keyChange of a key that goes from before to after, and is gone at until.
func changeTo(before, after string, until time.Duration) keyChange {
	return keyChange{before, after, until}
}

// Apply sends a command to a node that runs it at once.
func (s *script) Apply(c, node int, command, reply string, changes ...keyChange) []string {
	s.Msg++
	cmd := strings.Fields(command)
	s.Add(history.Event{Kind: history.Send, Client: c, Node: node, Msg: s.Msg, Cmd: cmd})
	s.Add(history.Event{Kind: history.Apply, Client: c, Node: node, Msg: s.Msg, Cmd: cmd, Reply: reply})
	for _, v := range changes {
		s.Add(history.Event{Kind: history.Change, Client: c, Node: node, Msg: s.Msg, Key: "lock",
			Before: v.Before, After: v.After, Until: v.Until})
	}
	return cmd
}

// Command sends a command that is run and answered at once.
func (s *script) Command(c, node int, command, reply string, changes ...keyChange) *script {
	cmd := s.Apply(c, node, command, reply, changes...)
	return s.Add(history.Event{Kind: history.Answer, Client: c, Node: node, Msg: s.Msg, Cmd: cmd, Reply: reply})
}

// Expire ends the key at a node.
func (s *script) Expire(node int, before string) *script {
	return s.Add(history.Event{Kind: history.Expire, Node: node, Key: "lock", Before: before})
}

// Read lets a client read the resource.
func (s *script) Read(c, version int) *script {
	return s.Add(history.Event{Kind: history.Read, Client: c, Node: history.Resource, Version: version})
}

// Write lets a client write the resource, which accepts.
func (s *script) Write(c, base, version int) *script {
	return s.Add(history.Event{Kind: history.Write, Client: c, Node: history.Resource, Base: base, Version: version,
		OK: true})
}

// Last is the index of the newest event.
func (s *script) Last() int { return len(s.H.Events) - 1 }

const unlock = "EVALSHA 3f2a9c01d4e5b6a7988899aabbccddeeff001122 1 lock "

// gcPause is a token lock whose owner stands still for longer than its lease.
func gcPause() (*history.History, verdict.Judgement) {
	s := newScript("token", "gc-pause", 2, 1, 10*time.Second)
	var findings []verdict.Finding
	s.Client(1, history.Acquire)
	s.Command(1, 1, "SET lock c1-1 NX PX 10000", "OK", changeTo("", "c1-1", 10*time.Second))
	s.Client(1, history.Enter).Read(1, 0)
	for t := 200 * ms; t < 2*time.Second; t += 200 * ms {
		s.At(t).Client(2, history.Acquire).Command(2, 1, "SET lock c2-1 NX PX 10000", "(nil)").Client(2, history.Refuse)
	}
	s.At(2 * time.Second).Add(history.Event{Kind: history.Pause, Client: 1, D: 12 * time.Second, Note: "GC"})
	s.At(9900*ms).Client(2, history.Acquire).Command(2, 1, "SET lock c2-1 NX PX 10000", "(nil)").
		Client(2, history.Refuse)
	s.At(10*time.Second).Expire(1, "c1-1")
	s.At(10200*ms).Client(2, history.Acquire)
	s.Command(2, 1, "SET lock c2-2 NX PX 10000", "OK", changeTo("", "c2-2", 20200*ms)).Client(2, history.Enter)
	overlap := s.Last()
	s.Read(2, 0)
	s.At(12*time.Second).Write(2, 0, 1)
	s.At(14*time.Second).Client(1, history.Resume).Write(1, 0, 2)
	findings = append(findings,
		verdict.Finding{Verdict: verdict.Overlap, Clients: []int{1, 2}, From: 10200 * ms, To: 14001 * ms,
			Event: overlap},
		verdict.Finding{Verdict: verdict.StaleWrite, Clients: []int{1, 2}, From: s.Now, To: s.Now, Event: s.Last()})
	s.At(14001*ms).Client(1, history.Leave, history.Release).Command(1, 1, unlock+"c1-1", "0").
		Client(1, history.Released, history.Done)
	s.At(15*time.Second).Client(2, history.Leave, history.Release)
	s.Command(2, 1, unlock+"c2-2", "1", changeTo("c2-2", "", 0)).Client(2, history.Released, history.Done)
	return s.H, verdict.Judgement{
		Verdicts: []verdict.Word{verdict.Overlap, verdict.StaleWrite}, Findings: findings, Contended: true}
}

// wrongDel is a lock with a constant value, whose late owner deletes the next
// one's lock. Its second client's clock is 5 s ahead, it has a timer, and a
// third client finds the door open.
func wrongDel() (*history.History, verdict.Judgement) {
	s := newScript("set-nx-ex", "slow-owner", 3, 1, 5*time.Second)
	skewed := func(e history.Event) history.Event { e.Client, e.Skew = 2, 5*time.Second; return e }
	s.Client(1, history.Acquire).Command(1, 1, "SET lock true EX 5 NX", "OK", changeTo("", "true", 5*time.Second))
	s.Client(1, history.Enter)
	s.At(5*time.Second).Expire(1, "true")
	s.At(5100*ms).Client(2, history.Acquire)
	s.Apply(2, 1, "SET lock true EX 5 NX", "OK", changeTo("", "true", 10100*ms))
	s.At(5100*ms + 500*time.Microsecond)
	s.Add(skewed(history.Event{Kind: history.Answer, Node: 1, Msg: s.Msg, Cmd: []string{"SET", "lock", "true", "EX",
		"5", "NX"}, Reply: "OK"}))
	s.Add(skewed(history.Event{Kind: history.Enter}))
	findings := []verdict.Finding{{Verdict: verdict.Overlap, Clients: []int{1, 2}, From: s.Now, To: 7 * time.Second,
		Event: s.Last()}}
	for t := 5500 * ms; t < 7*time.Second; t += 500 * ms {
		s.At(t).Command(2, 1, "EXPIRE lock 5", "1", changeTo("true", "true", t+5*time.Second))
		s.H.Events[s.Last()].Thread = 1
	}
	s.At(7*time.Second).Client(1, history.Leave, history.Release)
	s.Apply(1, 1, "DEL lock", "1", changeTo("true", "", 0))
	findings = append(findings, verdict.Finding{Verdict: verdict.WrongDel, Clients: []int{1, 2}, From: s.Now, To: s.Now,
		Event: s.Last()})
	s.Add(history.Event{Kind: history.Answer, Client: 1, Node: 1, Msg: s.Msg, Cmd: []string{"DEL", "lock"}, Reply: "1"})
	s.Client(1, history.Released)
	s.At(7100*ms).Client(3, history.Acquire).Command(3, 1, "SET lock true EX 5 NX", "OK",
		changeTo("", "true", 12100*ms))
	s.Client(3, history.Enter)
	findings = append(findings, verdict.Finding{Verdict: verdict.Overlap, Clients: []int{3, 2}, From: s.Now,
		To: 7500 * ms, Event: s.Last()})
	s.At(7500 * ms).Add(history.Event{Kind: history.Crash, Client: 2})
	s.At(8*time.Second).Client(3, history.Leave, history.Release)
	s.Apply(3, 1, "DEL lock", "1", changeTo("true", "", 0))
	s.At(8200 * ms).Add(history.Event{Kind: history.LoseReply, Client: 3, Node: 1, Msg: s.Msg,
		Cmd: []string{"DEL", "lock"}})
	s.At(9 * time.Second).Add(history.Event{Kind: history.Timeout, Client: 3, Node: 1, Msg: s.Msg,
		Cmd: []string{"DEL", "lock"}})
	return s.H, verdict.Judgement{
		Verdicts: []verdict.Word{verdict.Overlap, verdict.WrongDel}, Findings: findings, Contended: true}
}

// quorum is a Redlock on three nodes, one of which comes back empty.
func quorum() (*history.History, verdict.Judgement) {
	s := newScript("redlock", "node-restart", 2, 3, 10*time.Second)
	take := func(c int, node int, reply string) {
		command := "SET lock c" + string(rune('0'+c)) + " NX PX 10000"
		if reply == "OK" {
			s.Command(c, node, command, reply, changeTo("", "c"+string(rune('0'+c)), s.Now+10*time.Second))
			return
		}
		s.Command(c, node, command, reply)
	}
	s.Client(1, history.Acquire)
	take(1, 1, "OK")
	s.At(2 * ms)
	take(1, 2, "OK")
	s.At(4*ms).Apply(1, 3, "SET lock c1 NX PX 10000", "OK", changeTo("", "c1", s.Now+10*time.Second))
	s.At(4 * ms).Add(history.Event{Kind: history.LoseReply, Client: 1, Node: 3, Msg: s.Msg,
		Cmd: []string{"SET", "lock", "c1", "NX", "PX", "10000"}})
	s.At(54 * ms).Add(history.Event{Kind: history.Timeout, Client: 1, Node: 3, Msg: s.Msg,
		Cmd: []string{"SET", "lock", "c1", "NX", "PX", "10000"}})
	s.Client(1, history.Enter)
	s.At(1000 * ms).Add(history.Event{Kind: history.Down, Node: 2})
	s.At(1500 * ms).Add(history.Event{Kind: history.Up, Node: 2, Note: "empty"})
	s.Add(history.Event{Kind: history.Change, Node: 2, Key: "lock", Before: "c1"})
	s.At(1700*ms).Add(history.Event{Kind: history.ClockStep, Node: 3, D: 10 * time.Second}).Expire(3, "c1")
	s.At(2000*ms).Client(2, history.Acquire)
	take(2, 1, "(nil)")
	take(2, 2, "OK")
	take(2, 3, "OK")
	s.Client(2, history.Enter)
	f := verdict.Finding{Verdict: verdict.Overlap, Clients: []int{1, 2}, From: s.Now, To: s.Now, Forever: true,
		Event: s.Last()}
	return s.H, verdict.Judgement{Verdicts: []verdict.Word{verdict.Overlap}, Findings: []verdict.Finding{f},
		Contended: true}
}

// handmade are the runs on which every text is tried.
var handmade = []struct {
	Name string
	Make func() (*history.History, verdict.Judgement)
}{
	{"gc-pause", gcPause},
	{"wrong-del", wrongDel},
	{"quorum", quorum},
}
