package game_test

import (
	"encoding/json"
	"testing"

	"locklab/reports/game"
)

// A move names what it acts on, and the run so far where each client's code is: a page offers the
// move there. Before the first event there is a picture too.
func TestMovesActOn(t *testing.T) {
	var table game.Table
	defer table.Close()
	position := func(r game.Request) (p game.PositionJSON) {
		t.Helper()
		request, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(table.Answer(t.Context(), request), &p); err != nil || p.Lock != "setnx" {
			t.Fatalf("%s: %v", request, err)
		}
		return p
	}
	const replyMayBeLost = 3 // the level
	p := position(game.Request{Do: "level", Number: replyMayBeLost})
	if m := p.Moving; m == nil || len(m.States) != 1 || len(m.At) != 1 || len(p.Moves) != 2 {
		t.Fatalf("at the beginning: %+v", p)
	}
	for i, m := range p.Moves {
		if m.Kind != "start" || m.Client != i+1 || m.Message != 0 {
			t.Errorf("at the beginning: %+v", m)
		}
	}
	for _, want := range [][]game.MoveJSON{
		{{Kind: "arrive", Client: 1, Message: 1}, {Kind: "start", Client: 2}},
		{
			{Kind: "answer", Client: 1, Message: 1}, {Kind: "start", Client: 2},
			{Kind: "lose-reply", Client: 1, Message: 1, Fault: true},
		},
	} {
		p = position(game.Request{Do: "move", Link: p.Link})
		if len(p.Moves) != len(want) {
			t.Fatalf("%+v", p.Moves)
		}
		for i, m := range p.Moves {
			if m.Kind != want[i].Kind || m.Client != want[i].Client || m.Message != want[i].Message || m.Fault != want[i].Fault {
				t.Errorf("%+v, want %+v", m, want[i])
			}
		}
		if m := p.Moving.Messages; len(m) != 1 || m[0].ID != 1 || m[0].Answered >= 0 {
			t.Errorf("on its way: %+v", m)
		}
		c := p.Moving.Calls
		if len(c) != 1 || c[0].Client != 1 || len(c[0].Lines) == 0 || len(p.Listings) <= c[0].Lines[0][0] {
			t.Errorf("in the code: %+v of %d", c, len(p.Listings))
		}
	}
}
