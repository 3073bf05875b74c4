package game

import (
	"encoding/json"
	"errors"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// Locks come as they were invented, three questions each, and no two in a row are about one run.
func TestQuizOrder(t *testing.T) {
	for seed := range uint64(12) {
		quiz, before := NewQuiz(seed, Scope{}), Cell{}
		for n := range 9 {
			q, err := quiz.Next()
			if err != nil {
				t.Fatal(err)
			}
			c := Cell{q.Outcome.Lock.ID, q.Outcome.Race.ID}
			if want := Usual.Locks[n/3]; c.Lock != want || c == before {
				t.Errorf("seed %d, question %d is about %v after %v, want %s", seed, n+1, c, before, want)
			}
			before = c
		}
	}
}

// A quiz asks only questions of its scope, and ends when all of them have been asked.
func TestQuizScope(t *testing.T) {
	for _, scope := range []Scope{
		{Locks: []string{"token"}, Races: []string{"gc-pause", "slow-work"}},
		{Cells: []Cell{{"watchdog", "failover"}, {"redlock", "gc-pause"}}, Difficulty: Medium},
		{Difficulty: Hard, Races: []string{"clock-jump"}},
	} {
		quiz, asked := NewQuiz(3, scope), 0
		for {
			q, err := quiz.Next()
			if none := (*NoQuestionError)(nil); errors.As(err, &none) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			asked++
			c := Cell{q.Outcome.Lock.ID, q.Outcome.Race.ID}
			if !scope.holds(c) || len(scope.Cells) > 0 && !slices.Contains(scope.Cells, c) ||
				scope.Difficulty != "" && difficultyOf(c) != scope.Difficulty {
				t.Errorf("%+v asks about %+v", scope, c)
			}
			if asked > 1000 {
				t.Fatalf("%+v: there is no end of questions", scope)
			}
		}
		if asked < 3 {
			t.Errorf("%+v: %d questions", scope, asked)
		}
	}
}

// TestReasons looks at forty questions.
func TestReasons(t *testing.T) {
	quiz, z, met, caused := NewQuiz(7, Scope{}), NewQuiz(0, Scope{}), map[string]int{}, map[string]int{}
	for range 40 {
		q, err := quiz.Next()
		if err != nil {
			t.Fatal(err)
		}
		met[q.Kind]++
		ifs, whys, id := map[string]bool{}, map[string]bool{}, q.Outcome.Race.ID
		whole := z.play(Cell{q.Outcome.Lock.ID, id})
		if whole == nil {
			t.Fatal(z.err)
		}
		for _, a := range q.Answers {
			said, why := a.Said["en"], a.Why["en"]
			if whys[why] {
				t.Errorf("%s: two answers have the same reason: %s", q.Ask["en"], why)
			}
			whys[why] = true
			switch q.Kind {
			// what the command found, and in what circumstances, which are others, each other answer would be right
			case "reply":
				_, circumstance, conditional := strings.Cut(why, " would be the answer if ")
				if a.Right && (conditional || !strings.Contains(why, " answers "+said+": the key")) ||
					!a.Right && (!conditional || ifs[circumstance] || !strings.HasPrefix(why, said+" ")) {
					t.Errorf("%s, right %t: %s", said, a.Right, why)
				}
				ifs[circumstance] = true
			case "prevents": // the run of who is right does not fail, and all others do
				lock, _, _ := strings.Cut(said, ":")
				c := Cell{lock, id}
				switch said {
				case "the same lock, and a resource that checks its fencing tokens":
					c = Cell{whole.Lock.ID, id + "-fenced"}
				case "the same lock, with a lease of 20 s":
					c = Cell{whole.Lock.ID, id + ".ttl=20s"}
				}
				if o := z.play(c); o == nil || verdict.Fails(o.Verdicts) == a.Right || a.Right && o.Forever() ||
					!verdict.Fails(whole.Verdicts) {
					t.Errorf("%s in %s: %v; asked: %s", said, id, o, q.Ask["en"])
				}
			case "cause": // with what is said to have been, events of its kind come before the key is another's
				if a.Right != strings.HasPrefix(why, "At that moment of this run the key ") ||
					!slices.Contains(whole.Verdicts, verdict.Overlap) {
					t.Errorf("%s in %s, %s: %s", whole.Lock.ID, id, said, why)
				}
				if a.Right {
					caused[said]++
				}
			case "verdict": // no other answer names a verdict of the run
				named := func(w verdict.Word) bool { return strings.HasSuffix(said, " ("+string(w)+")") }
				if slices.ContainsFunc(whole.Verdicts, named) != a.Right || strings.Contains(why+a.Why["zh"], "quiz.") {
					t.Errorf("%s in %s comes to %v; %+v", whole.Lock.ID, id, whole.Verdicts, a)
				}
			}
		}
		if q.Kind == "reply" && whole.History.Events[len(q.Outcome.History.Events)].Kind != history.Apply {
			t.Errorf("%s: the run stops before another event", q.Ask["en"])
		}
	}
	if met["reply"] < 2 || met["prevents"] < 2 || met["verdict"] < 2 || len(caused) < 2 {
		t.Errorf("kinds of questions: %v, causes: %v", met, caused)
	}
}

// Where the server's clock jumped, that is the cause of a lease that ended.
func TestClockThatJumped(t *testing.T) {
	c := Cell{"token", "clock-jump"}
	q := NewQuiz(1, Scope{}).causeAt(c, 0)
	for _, a := range q.Answers {
		if why := a.Why["en"]; a.Right != strings.Contains(why,
			"the server's clock jumped at 1 s, and with it c1's lease ended") {
			t.Errorf("%s, right %t: %s", a.Said["en"], a.Right, why)
		}
	}
}

// Letters and numbers both answer.
func TestChosenBy(t *testing.T) {
	for line, want := range map[string]int{"a": 0, "1": 0, "d": 3, "4": 3, "": -1, "0": -1, "ab": -1, "?": -1} {
		if got := chosenBy(line); got != want {
			t.Errorf("%q chooses %d, want %d", line, got, want)
		}
	}
}

// What a question asks for is not shown beside it: not where clients are, nor the verdict.
func TestRunsDoNotAnswerTheirQuestions(t *testing.T) {
	for _, scope := range []Scope{{Locks: []string{"setnx", "token", "watchdog"}},
		{Locks: []string{"redlock", "zk-recheck"}}} {
		quiz, kinds := NewQuiz(1, scope), map[string]int{}
		for {
			q, err := quiz.Next()
			if errors.As(err, new(*NoQuestionError)) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			kinds[q.Kind]++
			run := q.Run
			switch q.Kind {
			case "inside": // the keys that are shown are those that the reasons speak of
				whole := quiz.play(Cell{q.Lock, q.Outcome.Race.ID})
				there := whole.state(len(q.Outcome.History.Events))
				if now := reports.StateOf(q.Outcome.History); !reflect.DeepEqual(now.Keys, there.Keys) {
					t.Errorf("%s in %s: the run shows %v, and the reasons speak of %v",
						q.Lock, q.Outcome.Race.ID, now.Keys, there.Keys)
				}
				if truth, err := json.Marshal(q.Shown); err != nil || !strings.Contains(string(truth), `"inside`) {
					t.Errorf("%s in %s: the truth shows nobody inside", q.Lock, q.Outcome.Race.ID)
				}
				var lanes strings.Builder
				if err := reports.Lanes(&lanes, q.Outcome.History, q.Outcome.Judgement,
					reports.Look{Brief: true, Width: 200}); err != nil {
					t.Fatal(err)
				}
				states, err := json.Marshal(run.Moving.States)
				if err != nil || len(run.Moving.Marks) > 0 || strings.ContainsAny(lanes.String(), "|~!") ||
					strings.Contains(string(states), `"inside`) {
					t.Errorf("the run shows who is inside: %v, %s\n%s", err, states, &lanes)
				}
			case "verdict":
				right := q.Answers[slices.IndexFunc(q.Answers, func(a Answer) bool { return a.Right })].Said["en"]
				for _, m := range run.Moving.Marks {
					if strings.Contains(right, string(m.Word)) {
						t.Errorf("%s in %s shows the verdict that it asks for, %s", run.Lock, q.Outcome.Race.ID, right)
					}
				}
			}
		}
		if kinds["inside"] == 0 || kinds["verdict"] == 0 {
			t.Errorf("%+v: kinds of questions: %v", scope, kinds)
		}
	}
}

// Nothing that is said of a lock whose key never expires speaks of its lease; another lock may have one.
func TestNoLeaseWithoutExpiry(t *testing.T) {
	lease, z := regexp.MustCompile(`(?i)\bleases?\b|租约`), NewQuiz(1, Scope{Locks: []string{"setnx"}})
	about := func(c Cell, w Words) {
		if lease.MatchString(w["en"] + w["zh"]) {
			t.Errorf("%v: %v", c, w)
		}
	}
	for _, r := range scenarios.All() {
		if o := z.play(Cell{"setnx", r.ID}); o != nil {
			about(Cell{"setnx", r.ID}, OwnTitle(o.Outcome))
		}
	}
	for range 40 {
		q, err := z.Next()
		if err != nil {
			t.Fatal(err)
		}
		c := Cell{q.Lock, q.Outcome.Race.ID}
		about(c, q.Ask)
		for _, a := range q.Answers {
			if !strings.Contains(a.Said["en"], ": ") {
				about(c, a.Said)
				about(c, a.Why)
			}
			if held := a.Right && q.Kind == "verdict" && c.Race == "gc-pause"; held &&
				!strings.Contains(a.Why["en"], "outlives the pause") {
				t.Errorf("%v: %s", c, a.Why["en"])
			}
		}
	}
}

// Of the answers to what let a client in one is true of what happened to the key by then, whatever its reason says.
func TestOneCauseIsTrue(t *testing.T) {
	z, kinds := NewQuiz(0, Scope{}), map[string]int{}
	for _, c := range grid(append([]string{"takeover-del", "getset-check"}, Usual.Locks...), Usual.Races) {
		o := z.play(c)
		if o == nil {
			continue
		}
		q := z.causeAt(c, 0)
		if q == nil {
			continue
		}
		var happened []string
		i := slices.IndexFunc(o.Judgement.Findings,
			func(f verdict.Finding) bool { return f.Verdict == verdict.Overlap })
		in := o.Judgement.Findings[i].Event
		for _, e := range o.History.Events[:in] {
			switch {
			case e.Kind == history.Expire:
				happened = append(happened, "lease had ended")
			case e.Kind == history.Failover, e.Kind == history.Down:
				happened = append(happened, "server had lost")
			case e.Kind == history.Change && e.Key == o.History.Key && e.Client > 0:
				if e.After == "" {
					happened = append(happened, "a client had deleted")
				} else if e.Before != "" && e.Before != e.After && e.Client == o.History.Events[in].Client {
					happened = append(happened, "was overwritten")
				}
			}
		}
		for _, a := range q.Answers {
			is := slices.ContainsFunc(happened, func(h string) bool { return strings.Contains(a.Said["en"], h) })
			if a.Right != is {
				t.Errorf("%v: %v, %q is right: %t", c, happened, a.Said["en"], a.Right)
			}
			if a.Right {
				kinds[a.Said["en"][3:]]++
			}
			if strings.Contains(a.Said["en"], "lease") && o.Lock.Expiry != lock.ExpiryServer {
				t.Errorf("%v: no server ends a lease of this lock: %q", c, a.Said["en"])
			}
		}
	}
	if len(kinds) < 4 {
		t.Errorf("causes: %v", kinds)
	}
}
