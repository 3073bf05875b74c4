package locktest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/reports"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/bubble"
	"locklab/simulator/history"
	"locklab/simulator/process"
	"locklab/simulator/verdict"
)

// broken is what a test prints of a verdict that it did not expect.
func (p *plan) broken(s *study.Search, w study.Witness, why string) string {
	out := fmt.Sprintf("%s with %s: %s\n%s\n\n", w.Verdict, faultsOf(w), why, reports.Meaning(w.Verdict, "en"))
	o, err := p.play(w.Choices)
	if err != nil {
		return out + "its shortest witness could not be played again: " + err.Error()
	}
	return out + p.show(o) + "\n" + p.certificate(s) + "\n\n" + again(p.t.Name(), w.Trace)
}

// again is how to play a trace once more, and against another lock.
func again(test string, trace simulator.Trace) string {
	return tell("locktest.again") + "\n  " + commandOf(test, trace) + "\n" + tell("locktest.against") + "\n  locklab replay " + trace.Link() + " --against token"
}

// certificate is what a search covered, and what it relies on.
func (p *plan) certificate(s *study.Search) string {
	clock := "what it does does not depend on its clock, as far as executions with more time between show"
	if p.timed {
		clock = "it was told the time with every observation"
	}
	return s.Certificate() + "\n  carried      the code as it is, every history executed at least twice; " + clock
}

// faultsOf names the faults of a witness.
func faultsOf(w study.Witness) string {
	if names := study.InjectedFaults(w.Choices); names != "" {
		return fmt.Sprintf("par %d (%s) in %d steps", w.Par, names, w.Steps)
	}
	return fmt.Sprintf("no fault at all in %d steps", w.Steps)
}

// commandOf is what plays a trace of a test.
func commandOf(test string, trace simulator.Trace) string {
	var parts []string
	for _, name := range strings.Split(test, "/") {
		parts = append(parts, "^"+regexp.QuoteMeta(name)+"$")
	}
	return fmt.Sprintf("go test -run '%s' -v -locklab.replay=%s", strings.Join(parts, "/"), trace.Link())
}

// show is a run: its lanes, and the lines of the code that asked for each step.
func (p *plan) show(o *race.Outcome) string {
	var out strings.Builder
	reports.Lanes(&out, o.History, o.Judgement, reports.Options{Width: 120, Brief: true})
	out.WriteString("\nthe code at each step\n")
	for i := range o.History.Events {
		e := &o.History.Events[i]
		if len(e.Code) == 0 || e.Kind != history.Send && e.Kind != history.Sleep {
			continue
		}
		what := "sleeps " + e.D.String()
		switch {
		case e.Node == history.Resource:
			what = "asks the resource"
		case e.Kind == history.Send:
			what = fmt.Sprintf("n%d %.60s", e.Node, strings.ReplaceAll(strings.Join(e.Cmd, " "), "\n", " "))
		}
		fmt.Fprintf(&out, "%7d  c%d  %-66s %s\n", e.At/time.Millisecond, e.Client, what, strings.Join(e.Code, " < "))
	}
	return out.String()
}

// explain is an error of a search in words for whoever wrote the code.
func (p *plan) explain(err error) string {
	var (
		stall    *bubble.StallError
		panicked *bubble.PanicError
		limit    *simulator.LimitError
	)
	switch {
	case errors.As(err, &stall):
		return "locktest: this cannot be carried, and nothing is proved.\n" + strings.TrimPrefix(stall.Error(), "simulator: ") +
			"\nA goroutine of the code must wait only for connections of c.Dial, for time, and for channels, locks and conditions of its own process. A mutex that is held while a request is under way, a channel, pool or goroutine that was made outside the client's function, and a system call are none of these."
	case errors.As(err, &panicked):
		return fmt.Sprintf("locktest: the code of c%d panicked: %v\n%s", panicked.Client, panicked.Value, panicked.Stack)
	case errors.As(err, &limit):
		return "locktest: the search is not complete, and nothing is proved: " + limit.Error()
	}
	return "locktest: " + strings.TrimPrefix(strings.TrimPrefix(err.Error(), "explore: "), "simulator: ")
}

// sampled is what a test says of code that is not deterministic.
func (p *plan) sampled(different *process.NondeterministicError, claims []Claim) string {
	out := fmt.Sprintf("locktest: sampled, not proved: on equal answers c%d first did\n  %s\nthen\n  %s\n", different.Client, different.Was, different.Is) +
		"A search wants code that does the same when it sees the same. Random numbers of crypto/rand are seeded; those of math/rand are if the test file says //go:debug randseednop=0; those of math/rand/v2 cannot be. The order of a map, of goroutines, a select with two cases that are ready, or a state outside the client's function may be the reason too. Use Sample to accept samples.\n"
	found, n, err := p.sample()
	if err != nil {
		return out + err.Error()
	}
	return out + p.sampleReport(found, n, claims)
}

func (p *plan) sampleReport(found map[verdict.Word]*race.Outcome, n int, claims []Claim) string {
	out := ""
	for _, c := range claims {
		if o := found[c.word]; o != nil {
			out += fmt.Sprintf("\n%s was found in %d random schedules:\n%s", c.word, n, p.show(o))
		} else {
			out += fmt.Sprintf("\n%s was not found in %d random schedules\n", c.word, n)
		}
	}
	return out
}

// folderOfWitnesses is where the witnesses of the test are kept.
func (p *plan) folderOfWitnesses() string {
	return filepath.Join("testdata", "locklab", filepath.FromSlash(p.t.Name()))
}

// keep writes a witness, with -locklab.keep.
func (p *plan) keep(t *testing.T, w study.Witness) {
	if !*keepFlag {
		return
	}
	name := filepath.Join(p.folderOfWitnesses(), string(w.Verdict)+".link")
	err := os.MkdirAll(filepath.Dir(name), 0o777)
	if err == nil {
		err = os.WriteFile(name, []byte(w.Trace.Link()+"\n"), 0o666)
	}
	if err != nil {
		t.Errorf("-locklab.keep: %v", err)
		return
	}
	t.Logf("kept as %s", name)
}

// playKept plays the witnesses that were kept. It says whether one of them still leads
// where the test says that nothing leads: then no search is needed.
func (p *plan) playKept(claims []Claim) (failed bool) {
	files, _ := filepath.Glob(filepath.Join(p.folderOfWitnesses(), "*.link"))
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			p.reportTo.Errorf("a kept witness: %v", err)
			continue
		}
		trace, err := simulator.ParseLink(string(text))
		if err != nil {
			p.reportTo.Errorf("%s: %v: delete the file", file, err)
			continue
		}
		word := verdict.Word(strings.TrimSuffix(filepath.Base(file), ".link"))
		if trace.Settings != p.study.String() {
			p.reportTo.Logf("%s is of other bounds (%s) and is not played", file, trace.Settings)
			continue
		}
		o, err := p.play(trace.Choices)
		if err != nil {
			p.reportTo.Logf("%s: the code does something else by now, which is as it should be if it was mended: %v", file, err)
			continue
		}
		claim := slices.IndexFunc(claims, func(c Claim) bool { return c.word == word && !c.breaks })
		if claim >= 0 && slices.Contains(o.Verdicts, word) {
			p.reportTo.Errorf("%s: the witness in %s still leads there\n%s", word, file, p.show(o))
			failed = true
		}
	}
	return failed
}
