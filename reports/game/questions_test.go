package game

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/simulator/verdict"
)

// A quiz begins where the articles begin, and with what is easy.
func TestQuizBeginsEasy(t *testing.T) {
	for seed := range uint64(12) {
		q, err := NewQuiz(seed, Scope{}).Next()
		if err != nil {
			t.Fatal(err)
		}
		if c := (Cell{q.Outcome.Strategy.ID, q.Outcome.Scenario.ID}); beginning(c) != 0 || difficultyOf(c) != Easy {
			t.Errorf("seed %d begins with %+v", seed, c)
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
			c := Cell{q.Outcome.Strategy.ID, q.Outcome.Scenario.ID}
			if len(scope.Races) > 0 && !slices.Contains(scope.Races, c.Race) || q.Kind != "survivor" &&
				(len(scope.Locks) > 0 && !slices.Contains(scope.Locks, c.Lock) || len(scope.Cells) > 0 && !slices.Contains(scope.Cells, c) ||
					scope.Difficulty != AnyDifficulty && difficultyOf(c) != scope.Difficulty) {
				t.Errorf("%+v asks about %+v", scope, c)
			}
			if asked > 100 {
				t.Fatalf("%+v: there is no end of questions", scope)
			}
		}
		if asked < 3 {
			t.Errorf("%+v: %d questions", scope, asked)
		}
	}
}

// A reason of a reply says what the command found, and in what circumstances each other answer would be right, which are
// others than the right one's. The run that is shown ends before the command.
func TestReplyReasons(t *testing.T) {
	found := 0
	for _, q := range questionsOf(t, "reply", 24) {
		found++
		ifs := map[string]bool{}
		for _, a := range q.Answers {
			_, circumstance, conditional := strings.Cut(a.Why["en"], " would be the answer if ")
			switch {
			case a.Right && (conditional || !strings.Contains(a.Why["en"], " answers "+a.Said["en"]+": the key")):
				t.Errorf("%s is right: %s", a.Said["en"], a.Why["en"])
			case !a.Right && (!conditional || ifs[circumstance] || !strings.HasPrefix(a.Why["en"], a.Said["en"]+" ")):
				t.Errorf("%s is wrong: %s", a.Said["en"], a.Why["en"])
			case !a.Right:
				ifs[circumstance] = true
			}
		}
		whole, err := NewQuiz(0, Scope{}).play(Cell{q.Outcome.Strategy.ID, q.Outcome.Scenario.ID})
		if err != nil {
			t.Fatal(err)
		}
		if next := whole.History.Events[len(q.Outcome.History.Events)]; next.Kind.String() != "apply" {
			t.Errorf("%s: the run stops before %s", q.Ask["en"], next.Kind)
		}
	}
	if found == 0 {
		t.Error("no reply was asked for")
	}
}

// Who survives is asked where the lock is what saves the data; whoever is right does not fail, and all others do.
func TestSurvivors(t *testing.T) {
	for _, q := range questionsOf(t, "survivor", 40) {
		id := q.Outcome.Scenario.ID
		if strings.Contains(id, "fenced") || strings.Contains(q.Ask["en"], "the same") {
			t.Errorf("asked: %s", q.Ask["en"])
		}
		z := NewQuiz(0, Scope{})
		for _, a := range q.Answers {
			o, err := z.play(Cell{a.Said["en"], id})
			if err != nil || verdict.Fails(o.Verdicts) == a.Right {
				t.Errorf("%s in %s: %v, %v", a.Said["en"], id, o.Verdicts, err)
			}
		}
	}
}

// The verdict of a run is no verdict that another answer names.
func TestVerdictReasons(t *testing.T) {
	z := NewQuiz(0, Scope{})
	for _, q := range questionsOf(t, "verdict", 24) {
		o, err := z.play(Cell{q.Outcome.Strategy.ID, q.Outcome.Scenario.ID})
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range q.Answers {
			if slices.Contains(o.Verdicts, verdict.Word(a.Said["en"])) != a.Right {
				t.Errorf("%s in %s comes to %v; %+v", o.Strategy.ID, o.Scenario.ID, o.Verdicts, a)
			}
			for _, lang := range text.Languages() {
				if strings.Contains(a.Why[lang], "quiz.") {
					t.Errorf("%s: %s", lang, a.Why[lang])
				}
			}
		}
	}
}

// questionsOf are those of a kind among the first so many.
func questionsOf(t *testing.T, kind string, most int) (all []*Question) {
	t.Helper()
	quiz := NewQuiz(7, Scope{})
	for range most {
		q, err := quiz.Next()
		if err != nil {
			t.Fatal(err)
		}
		if q.Kind == kind {
			all = append(all, q)
		}
	}
	if len(all) < 2 {
		t.Errorf("%d questions of kind %s", len(all), kind)
	}
	return all
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
	for _, scope := range []Scope{{Locks: []string{"setnx", "token", "watchdog"}}, {Locks: []string{"redlock", "zk-recheck"}}} {
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
			run := q.JSON().Run
			switch q.Kind {
			case "inside":
				var lanes strings.Builder
				if err := reports.Lanes(&lanes, q.Outcome.History, q.Outcome.Judgement, reports.Look{Brief: true, Width: 200}); err != nil {
					t.Fatal(err)
				}
				states, err := json.Marshal(run.Moving.States)
				if err != nil || len(run.Moving.Marks) > 0 || strings.ContainsAny(lanes.String(), "|~!") || strings.Contains(string(states), `"inside`) {
					t.Errorf("the run shows who is inside: %v, %s\n%s", err, states, &lanes)
				}
			case "verdict":
				right := q.Answers[slices.IndexFunc(q.Answers, func(a Answer) bool { return a.Right })].Said["en"]
				for _, m := range run.Moving.Marks {
					if string(m.Word) == right {
						t.Errorf("%s in %s shows the verdict that it asks for, %s", run.Lock, q.Outcome.Scenario.ID, right)
					}
				}
			case "survivor":
				if run != nil {
					t.Errorf("a question about several locks shows a run of %s", run.Lock)
				}
			}
		}
		if kinds["inside"] == 0 || kinds["verdict"] == 0 {
			t.Errorf("%+v: kinds of questions: %v", scope, kinds)
		}
	}
}
