package explore_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/simulator"
	"locklab/simulator/checkpoint"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/memo"
	"locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/schedule"
	"locklab/simulator/verdict"
)

// registers is a third kind of server: each holds one text, which clients exchange for another by
// compare-and-set. It has no clock, never fails, and keeps nothing of connections.
type registers struct {
	swaps  *memo.Table[swap, swap]
	values *memo.Table[string, string]
}

// swap replaces Old by New, if Old is what the register holds. The answer is what it held.
type swap struct{ Old, New string }

// cell is a register: the number of what it holds.
type cell struct{ value uint32 }

var _ node.Kind = (*registers)(nil)

func newRegisters(_ *simulator.Config, m *memo.Memo) (node.Kind, error) {
	return &registers{
		swaps: memo.NewTable(m, memo.Entries[swap, swap]{
			What: "limit.of.requests",
			Key:  func(s swap) swap { return s },
			Text: func(s swap) []string { return []string{"CAS", s.Old, s.New} },
		}),
		values: memo.NewTable(m, memo.Entries[string, string]{
			What:  "limit.of.replies",
			Key:   func(v string) string { return v },
			Text:  func(v string) []string { return []string{v} },
			First: []string{""},
		}),
	}, nil
}

func (k *registers) Library(p *process.Code) process.Library { return &swapper{k, p} }
func (k *registers) Words() node.Words {
	return node.Words{Requests: k.swaps, Answers: k.values}
}

func (k *registers) Start(int8, int) node.State { return cell{} }
func (k *registers) Enabled(_ time.Duration, _ node.State, _ int8, buf []node.Choice) []node.Choice {
	return buf
}
func (k *registers) Offers(_ node.World, _ int8, _ bool, buf []node.Choice) []node.Choice { return buf }
func (k *registers) Due(time.Duration, node.State) time.Duration                          { return simulator.Never }
func (k *registers) Relative(_ time.Duration, s node.State, _ bool) node.State            { return s }
func (k *registers) Absolute(_ time.Duration, s node.State) node.State                    { return s }
func (k *registers) Has(s node.State) bool                                                { return k.values.Has(s.(cell).value) }
func (k *registers) Rename(s node.State, to *history.Names) node.State {
	return cell{k.values.Renamed(s.(cell).value, to)}
}

func (k *registers) Step(w node.World, e node.Event) (why string, err error) {
	switch e.What {
	case node.Arrived:
		th := &w.Client(e.Client).Threads[e.Thread]
		th.Answer(k.apply(w, w.Op(e.Client, e.Thread), e.Client, th.Msg))
	case node.ArrivedOrphan:
		k.apply(w, &e.Orphan.Op, e.Orphan.From, e.Orphan.Msg)
	case node.GaveUp:
		if w.Client(e.Client).Threads[e.Thread].Phase == node.Asking {
			w.Orphan(e.Client, e.Thread)
		}
	}
	return "", nil
}

// apply runs a request. That equal texts are equal does not depend on which client is which.
func (k *registers) apply(w node.World, o *process.Op, from int8, msg uint32) (answer uint32) {
	s, was := *k.swaps.At(o.Arg), w.State(o.Node).(cell).value
	held := *k.values.At(was)
	e := w.Emit(history.Apply)
	e.Client, e.Node, e.Lease, e.Msg, e.Cmd, e.Reply = int(from), int(o.Node), int(o.Lease), int(msg), k.swaps.Words(o.Arg), held
	if held == s.Old && s.New != s.Old {
		w.SetState(o.Node, cell{k.values.ID(s.New)})
		e := w.Emit(history.Change)
		e.Client, e.Node, e.Lease, e.Key, e.Before, e.After = int(from), int(o.Node), int(o.Lease), "lock", held, s.New
		if s.New != "" {
			e.Until = history.Forever
		}
	}
	return was
}

// TestRegister: a kind of server that only tests know is searched with symmetry, in lockstep and at any
// timing; what is found is played again, drawn, and found again by a search that goes on from a file.
func TestRegister(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	const ttl = 9 * time.Second
	for _, timing := range []*explore.Durations{nil, {Timing: simulator.Timing{Step: ttl / 3, Latency: ttl / 3}, Work: ttl / 3, Timeout: ttl, Idle: simulator.Never}} {
		allowed, err := faults.Budget("crash=1").Parse()
		if err != nil {
			t.Fatal(err)
		}
		b := &explore.Model{
			Entry: lock.Entry{ID: "cas", Nodes: 1, TTL: ttl, New: func(env lock.Env) lock.Strategy {
				return &swapLock{server: env.Server.(*swapper), new: env.Tokens.Token}
			}},
			Scope:  explore.Scope{Clients: 2, Attempts: 1, Nodes: 1, TTL: ttl},
			Faults: allowed, Timing: timing, Servers: newRegisters,
			Checkpoint: checkpoint.Config{File: filepath.Join(t.TempDir(), "search"), Search: "cas", Now: time.Now},
		}
		whole, err := explore.Search(t.Context(), b)
		if err != nil {
			t.Fatal(err)
		}
		if !whole.Complete || !whole.Symmetry || !slices.Equal(whole.Pars(), []string{"DEADLOCK@1"}) {
			t.Errorf("complete %v, symmetry %v, found %q", whole.Complete, whole.Symmetry, whole.Pars())
		}
		b.MaxStates, b.Checkpoint.File = whole.States/2, b.Checkpoint.File+"2"
		for range 2 {
			again, err := explore.Search(t.Context(), b)
			if err != nil {
				t.Fatal(err)
			}
			if finished := b.MaxStates == 0; again.Complete != finished || finished && (again.States != whole.States || !slices.Equal(again.Pars(), whole.Pars())) {
				t.Errorf("from a file: complete %v, %d states, %q, want %d and %q", again.Complete, again.States, again.Pars(), whole.States, whole.Pars())
			}
			b.MaxStates = 0
		}
		sim, err := b.Simulator()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(sim.Close)
		if timing == nil {
			raced, err := schedule.Play(sim, schedule.Conditions{Latency: time.Millisecond, Horizon: time.Minute})
			if err != nil || !slices.ContainsFunc(raced.Events, func(e history.Event) bool { return e.Kind == history.Enter }) {
				t.Errorf("in a timed run nobody comes in: %v", err)
			}
		}
		run, err := schedule.Replay(sim, whole.Found[0].Choices)
		if err != nil {
			t.Fatal(err)
		}
		h := b.Case()
		h.Events, h.End = run.Events, run.End
		var lanes strings.Builder
		if err := reports.Lanes(&lanes, &h, verdict.Judge(&h), reports.Look{Width: 100}); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"CAS -> c", "CRASH"} {
			if !strings.Contains(lanes.String(), want) {
				t.Errorf("the lanes do not show %q:\n%s", want, lanes.String())
			}
		}
	}
}

// swapper is the client library.
type swapper struct {
	kind *registers
	p    *process.Code
}

func (*swapper) Start(uint32)   {}
func (*swapper) Stop()          {}
func (*swapper) Idle() bool     { return true }
func (*swapper) Memory() uint32 { return 0 }
func (*swapper) Close()         {}

// Swap returns what the register held.
func (s *swapper) Swap(before, after string) (was string, err error) {
	seen := s.p.MustAsk(process.Op{Kind: process.Request, Node: 1, Arg: s.kind.swaps.ID(swap{before, after})})
	if err := seen.Err("read"); err != nil {
		return "", err
	}
	return *s.kind.values.At(uint32(seen.Val)), nil
}

// A swapLock is a lock on a register: who puts a token into an empty one has it.
type swapLock struct {
	server *swapper
	token  string
	new    func() string
}

func (l *swapLock) Acquire(context.Context, string) (lock.Lease, error) {
	token := l.new()
	switch was, err := l.server.Swap("", token); {
	case err != nil:
		return nil, err
	case was != "":
		return nil, lock.ErrNotAcquired
	}
	return &swapLock{server: l.server, token: token}, nil
}

func (l *swapLock) Release(context.Context) error {
	was, err := l.server.Swap(l.token, "")
	if err == nil && was != l.token {
		return lock.ErrNotHeld
	}
	return err
}
