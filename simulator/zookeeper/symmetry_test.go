package zookeeper

import (
	"errors"
	"testing"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/table"
	"locklab/simulator/memo"
	"locklab/simulator/node"
)

// An ensemble that did something else for a client of another name is found out, whatever it
// did. This one does not, so that an effect is altered.
func TestInterchange(t *testing.T) {
	for name, alter := range map[string]func(x *Executor, before uint32, eff *effect){
		"nothing":      func(*Executor, uint32, *effect) {},
		"the contents": func(_ *Executor, before uint32, eff *effect) { eff.to = before },
		"the answer": func(x *Executor, _ uint32, eff *effect) {
			eff.answer = x.answers.ID(storedAnswer{reply: Reply{Code: NoNode}})
		},
		"a refusal":     func(_ *Executor, _ uint32, eff *effect) { eff.refused = true },
		"a line's head": func(_ *Executor, _ uint32, eff *effect) { eff.lines[0].owner = 1 },
		"no line":       func(_ *Executor, _ uint32, eff *effect) { eff.lines = nil },
		"a watch":       func(_ *Executor, _ uint32, eff *effect) { eff.fired[0].client = 2 },
		"no watch":      func(_ *Executor, _ uint32, eff *effect) { eff.fired = nil },
	} {
		room := table.NewRoom()
		k := NewKind(Config{Session: time.Second}, memo.New(room))
		k.CountCreations(true)
		x := k.Executor
		begin := k.Start(1, 2).(EnsembleState)
		left := x.look(act{begin.contents, x.internRequest(Request{Op: GetChildren, Path: "/", Watch: true}), ActServe, 2})
		a := act{left.to, x.internRequest(Request{Op: Create, Path: "/c1.1-", Mode: Ephemeral | Sequential}), ActServe, 1}
		x.look(a)
		other := x.renamedAct(a, history.Swap(1, 2))
		alter(x, other.contents, x.look(other))
		x.memo.Symmetric = 2
		x.look(a)
		asymmetric := (*node.AsymmetricError)(nil)
		if found := errors.As(room.Take(), &asymmetric); found != (name != "nothing") {
			t.Errorf("%s is another: found out: %v", name, found)
		} else if found && asymmetric.Command[0] != "CREATE" {
			t.Errorf("%s is another: at %q", name, asymmetric.Command)
		}
	}
}
