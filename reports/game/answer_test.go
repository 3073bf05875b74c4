package game_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/reports/game"
	"locklab/scenarios/play"
	"locklab/simulator/verdict"
)

// ask asks a table, and reads its answer.
func ask(t *testing.T, table *game.Table, r game.Request, answer any) string {
	t.Helper()
	request, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	out := table.Answer(t.Context(), request)
	if answer != nil {
		if err := json.Unmarshal(out, answer); err != nil {
			t.Fatalf("%s: %v: %.300s", request, err, out)
		}
	}
	return string(out)
}

// Levels look the same, whether they can be solved or not, until an answer is given; the answer is judged.
func TestCannotBeDone(t *testing.T) {
	var table game.Table
	defer table.Close()
	if out := string(jsonOf(t, game.Levels())); strings.Contains(out, `"par"`) || strings.Contains(out, `"possible"`) {
		t.Errorf("the course says how its levels end: %.300s", out)
	}
	for i, l := range play.Levels() {
		var start game.Position
		out := ask(t, &table, game.Request{Do: "level", Number: i + 1, Harm: l.Harm}, &start)
		if start.End != nil || len(start.Moves) < 2 {
			t.Errorf("level %d begins with %.300s", i+1, out)
		}
		want := l.Solution()
		var judged game.Judged
		ask(t, &table, game.Request{Do: "cannot", Link: start.Link, Harm: l.Harm}, &judged)
		says := fmt.Sprintf("was tried: %d positions.", want.States)
		if want.Possible {
			says = fmt.Sprintf("Faults needed: %d.", want.Par)
		}
		if judged.Right == want.Possible || !strings.Contains(judged.Said["en"], says) || judged.Said["zh"] == "" ||
			strings.HasPrefix(judged.Said["en"], "Right: ") == want.Possible {
			t.Errorf("level %d: %+v, want %+v", i+1, judged, want)
		}
		if want.Possible {
			continue
		}
		var hint game.Hint // which does not lead into losing
		if ask(t, &table, game.Request{Do: "hint", Link: start.Link, Harm: l.Harm}, &hint); hint.Move >= 0 ||
			!strings.HasSuffix(hint.Idea["en"], "?") ||
			!strings.Contains(hint.Said["en"], "say that it cannot be done") {
			t.Errorf("level %d: the hint is %+v", i+1, hint)
		}
		ask(t, &table, game.Request{Do: "way", Link: start.Link, Harm: l.Harm}, &judged)
		if !judged.Right || strings.HasPrefix(judged.Said["en"], "Right") ||
			!strings.Contains(judged.Said["en"], "was tried") {
			t.Errorf("level %d: who gives up is told %+v", i+1, judged)
		}
	}
}

// A solved level is answered with its par; a level in which nothing can go wrong, with the answer that it cannot be
// solved.
func TestGoals(t *testing.T) {
	var table game.Table
	defer table.Close()
	var at game.Position
	ask(t, &table, game.Request{Do: "level", Number: 1}, &at)
	for range 2 { // one is inside, and the other one must not wait until it has left
		n := slices.IndexFunc(at.Moves, func(m game.Move) bool { return m.Kind == "start" })
		if at.End != nil || len(at.Moves) < 2 {
			t.Errorf("level 1 leaves no choice: %v", at.Moves)
		}
		ask(t, &table, game.Request{Do: "move", Link: at.Link, Number: n, Harm: "OVERLAP"}, &at)
	}
	end := at.End["en"]
	if end != "Solved in 2 moves, with no fault. OVERLAP: c1 and c2 are inside at the same time." ||
		!strings.HasPrefix(at.Did["en"], "c2 assumes that the lock is its own: it enters.") {
		t.Errorf("level 1 is solved: %q, after %q", end, at.Did["en"])
	}
	var judged game.Judged
	for budget, right := range map[string]bool{"crash=1": true, "pause=1": false} {
		ask(t, &table, game.Request{Do: "start", Lock: "token", Budget: budget}, &at)
		ask(t, &table, game.Request{Do: "cannot", Link: at.Link}, &judged)
		if judged.Right != right {
			t.Errorf("token with %s: %+v", budget, judged)
		}
		if out := ask(t, &table, game.Request{Do: "hint", Link: at.Link}, nil); right != strings.Contains(out,
			"Can anything go wrong at all?") {
			t.Errorf("token with %s: the hint without a goal is %s", budget, out)
		}
	}
}

// A loss names the move, the event that closed the chance after it, and what to remember. It leads back to before that
// move, from where the harm is in reach. If the harm never was in reach, no move is to blame.
func TestLost(t *testing.T) {
	var table game.Table
	defer table.Close()
	to := func(number int, harm verdict.Word, kinds string) (at game.Position, l game.Lost) {
		ask(t, &table, game.Request{Do: "level", Number: number}, &at)
		for _, kind := range strings.Fields(kinds) {
			n := slices.IndexFunc(at.Moves, func(m game.Move) bool { return m.Kind == kind })
			ask(t, &table, game.Request{Do: "move", Link: at.Link, Number: n, Harm: harm}, &at)
		}
		ask(t, &table, game.Request{Do: "lost", Link: at.Link, Harm: harm}, &l)
		return at, l
	}
	tried := func(harm string) string {
		return "A search tried every order of what is left, and every fault that is left: none leads to " + harm + "."
	}
	for _, c := range []struct {
		level     int
		harm      verdict.Word
		way, says string // no words: not lost
	}{
		{1, "OVERLAP", "start wake",
			`move 2, "c1 writes v1, leaves; c2 wants the lock, enters, reads v1": c1 leaves before anybody else ` +
				`gets in. ` + tried("OVERLAP")},
		{2, "DEADLOCK", "start", ""},
		{3, "DEADLOCK", "start answer", ""},
		{3, "DEADLOCK", "start answer crash",
			`move 3, "c1 crashes": c1's EXPIRE was already on its way. It arrives, and the key ends by itself ` +
				`after 10 s. ` + tried("DEADLOCK")},
		{3, "DEADLOCK", "start answer arrive crash",
			`Lost with your move 4, "c1 crashes": the key ends by itself after 10 s. The run has ended.`},
		{5, "DEADLOCK", "start crash", `This did not do it: the key ends by itself after 10 s.`},
		{6, "WRONG-DEL", "start answer pause", ""},
		{6, "WRONG-DEL", "start answer pause resume",
			`: when c1 releases, there is nothing left to release. The run has ended.`},
		{6, "WRONG-DEL", "start answer start pass wake",
			`c1 releases its own lock, in good order. ` + tried("WRONG-DEL")},
		{7, "WRONG-DEL", "start answer start pause",
			`move 4, "c1 is paused": c1 sends GET before DEL, does not find its own ` +
				`value, and deletes nothing. Pause it after the GET. ` + tried("WRONG-DEL")},
		{12, "OVERLAP", "start replicate failover",
			"This did not do it: the replica already has what the master had."},
		{18, "DEADLOCK", "start crash", `This did not do it: the lock ends together with c1.`},
	} {
		at, l := to(c.level, c.harm, c.way)
		if said := l.Said["en"]; (c.says == "") != (said == "") || !strings.HasSuffix(said, c.says) {
			t.Errorf("level %d after %q: told %q", c.level, c.way, said)
		} else if impossible := !play.Levels()[c.level-1].Solution().Possible; said == "" || impossible {
			if l.Link != "" || l.Move != nil || (said != "") != (l.Remember["en"] != "") {
				t.Errorf("level %d after %q: a move is to blame: %+v", c.level, c.way, l)
			}
			continue
		}
		var before, after game.Position
		ask(t, &table, game.Request{Do: "at", Link: l.Link, Harm: c.harm}, &before)
		n := slices.IndexFunc(before.Moves, func(m game.Move) bool { return m.Said["en"] == l.Move["en"] })
		ask(t, &table, game.Request{Do: "move", Link: l.Link, Number: n, Harm: c.harm}, &after)
		if after.Link != at.Link || l.Event < 0 || l.Remember["en"] == "" ||
			strings.Contains(l.Remember["zh"], "play.") {
			t.Errorf("level %d after %q: back to before %q at %d, and remember %v",
				c.level, c.way, l.Move, l.Event, l.Remember)
		}
		var hint game.Hint
		ask(t, &table, game.Request{Do: "hint", Link: l.Link, Harm: c.harm}, &hint)
		if hint.Move < 0 || hint.Move == n {
			t.Errorf("level %d after %q: it leads back to where the hint is %+v", c.level, c.way, hint)
		}
		ask(t, &table, game.Request{Do: "way", Link: at.Link, Harm: c.harm}, &after)
		if said := after.End["en"]; !strings.Contains(said, "shortest way from the start") ||
			!slices.Contains(after.Verdicts, c.harm) {
			t.Errorf("level %d after %q: given up, it tells %q", c.level, c.way, said)
		}
	}
	if at, _ := to(2, "DEADLOCK", "start crash"); !slices.Contains(at.Verdicts, "DEADLOCK") {
		t.Errorf("what is no choice does not play itself: %v", at.Verdicts)
	}
}

// A hint says what to wait for where the chance of one client has passed, and what a wrong clock leads to.
func TestHintSaysWhatIsOff(t *testing.T) {
	var table game.Table
	defer table.Close()
	for n, c := range map[int][2]string{3: {"start answer arrive answer", "keep your fault until the key is c2's"},
		4: {"client-clock", "What if c1 takes c2's deadline for past"}} {
		var at game.Position
		ask(t, &table, game.Request{Do: "level", Number: n}, &at)
		r := game.Request{Link: at.Link, Harm: play.Levels()[n-1].Harm}
		for _, kind := range strings.Fields(c[0]) {
			r.Do, r.Number = "move", slices.IndexFunc(at.Moves, func(m game.Move) bool { return m.Kind == kind })
			at = game.Position{}
			ask(t, &table, r, &at)
			r.Link = at.Link
		}
		var hint game.Hint
		r.Do = "hint"
		if out := ask(t, &table, r, &hint); !strings.Contains(hint.Idea["en"], c[1]) {
			t.Errorf("level %d after %q: the hint is %s", n, c[0], out)
		}
	}
}

// What is told after a move begins with what the move does, and goes on without a gap.
func TestTold(t *testing.T) {
	var table game.Table
	defer table.Close()
	for _, c := range []struct {
		level     int
		way, told string // client and kind of each move; what is told after the last one
	}{
		{2, "1start 2start 2crash", "^c2 crashes\\."},
		{6, "1start 1pause 0pass 1resume 1answer",
			"^c1 sends SET .* it enters. OVERLAP.* reads .* c2 writes.* And 9 more, in the lines of the run\\.$"},
		{7, "1start 1pause", "^c1 is paused .* c2 sends SET .* nil: it is refused, .* Redis removes it\\.$"},
	} {
		var at game.Position
		ask(t, &table, game.Request{Do: "level", Number: c.level}, &at)
		for _, move := range strings.Fields(c.way) {
			n := slices.IndexFunc(at.Moves, func(m game.Move) bool { return fmt.Sprint(m.Client, m.Kind) == move })
			link := at.Link
			at = game.Position{}
			ask(t, &table, game.Request{Do: "move", Link: link, Number: n, Harm: play.Levels()[c.level-1].Harm}, &at)
		}
		if told := at.Did["en"]; !regexp.MustCompile(c.told).MatchString(told) || strings.Contains(told, "gives up") {
			t.Errorf("level %d after %q: told %q", c.level, c.way, told)
		}
	}
}

// Questions about a lesson are about the locks and races that it tells of; of a lesson that there is not the lessons
// that there are stand in the error.
func TestQuestionsOfALesson(t *testing.T) {
	table := game.Table{Cells: func(lesson string) ([][2]string, []string) {
		if lesson != "6" {
			return nil, []string{"token", "late-release"}
		}
		return [][2]string{{"token", "late-release"}}, nil
	}}
	for n := range 2 {
		var q game.Question
		if out := ask(t, &table, game.Request{Do: "question", Seed: 7, Name: "6", Number: n}, &q); q.Lock != "token" {
			t.Errorf("question %d is about %q: %.300s", n, q.Lock, out)
		}
	}
	if out := ask(t, &table, game.Request{Do: "question", Name: "60"}, nil); !strings.Contains(out,
		"token, late-release") {
		t.Errorf("of lesson 60: %s", out)
	}
}

// A move names what it acts on, and the run so far where each client's code is: a page offers the
// move there. Before the first event there is a picture too.
func TestMovesActOn(t *testing.T) {
	var table game.Table
	defer table.Close()
	position := func(r game.Request) (p game.Position) {
		t.Helper()
		ask(t, &table, r, &p)
		return p
	}
	p := position(game.Request{Do: "level", Number: 21})
	if m := p.Moving; m == nil || len(m.States) != 1 || len(m.At) != 1 || len(p.Moves) != 2 {
		t.Fatalf("at the beginning: %+v", p)
	}
	for i, m := range p.Moves {
		if m.Kind != "start" || m.Client != i+1 || m.Message != 0 {
			t.Errorf("at the beginning: %+v", m)
		}
	}
	p = position(game.Request{Do: "move", Link: p.Link}) // it asks, and the request arrives
	want := []game.Move{
		{Kind: "answer", Client: 1, Message: 1}, {Kind: "start", Client: 2},
		{Kind: "lose-reply", Client: 1, Message: 1, Fault: true},
	}
	if len(p.Moves) != len(want) {
		t.Fatalf("%+v", p.Moves)
	}
	for i, m := range p.Moves {
		if m.Kind != want[i].Kind || m.Client != want[i].Client || m.Message != want[i].Message ||
			m.Fault != want[i].Fault {
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

// Where a setting of a race is not its own, the title claims nothing of it. Where nothing was tested, a pause that the
// lease outlived is the reason, if the key was still the client's when it woke.
func TestSetRaces(t *testing.T) {
	var table game.Table
	defer table.Close()
	for _, c := range [][4]string{
		{"token", "gc-pause", "pause=312ms", "When c1 woke, the key was still its own for 8.7 s"},
		{"setnx", "gc-pause", "pause=312ms", "Nothing was tested"}, {"token", "failover", "lag=1ms", ""},
		{"token", "gc-pause", "", ""}, {"token", "gc-pause", "pause=7s", ""},
	} {
		var r game.RaceRun
		ask(t, &table, game.Request{Do: "race", Lock: c[0], Race: c[1], Settings: c[2]}, &r)
		claims := regexp.MustCompile("longer than|before its replica").MatchString(r.Title["en"])
		if claims != (c[2] == "") || !strings.HasPrefix(r.Vacuous["en"], c[3]) ||
			(r.Verdicts[0] == "VACUOUS") != (r.Vacuous != nil) {
			t.Errorf("%v: %q, %v, %q", c, r.Title["en"], r.Verdicts, r.Vacuous["en"])
		}
	}
}
