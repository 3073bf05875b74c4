package explore_test

import (
	"context"
	"time"

	"locklab/algorithms/lock"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/memo"
	"locklab/simulator/node"
	"locklab/simulator/process"
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
