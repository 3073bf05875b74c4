package main

import (
	"cmp"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"locklab/reports"
	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator/explore"
)

// exploreFlags are the flags of "locklab explore".
type exploreFlags struct {
	search.Bounds
	files  []string
	memory int64 // in MB
}

func exploreCommand() *command {
	x := &exploreFlags{Bounds: search.OpenBounds(), memory: 4096}
	return &command{
		use: "explore LOCK", args: between(1, 1, "lock"), complete: aLock, run: x.run,
		flags: func(f *flags) {
			f.bounds(&x.Bounds, search.Names()...)
			f.add("all", &x.Causes)
			f.add("recheck", &x.Recheck)
			addMemory(f, &x.memory)
			runFiles(f, &x.files)
		},
		examples: []string{"explore token", "explore redlock --nodes 3 --budget restart=1",
			"explore setnx --clients 3 --budget crash=1 --json",
			"explore token --budget pause=1 -o pause.svg",
			"explore token --attempts any --budget crash=any"},
	}
}

func (x *exploreFlags) run(e *env, args []string) error {
	entry, err := race.Lock(args[0])
	if err != nil {
		return err
	}
	if err := search.CheckSearch(entry, x.Bounds); err != nil {
		return err
	}
	most, restore := keepWithin(x.memory)
	defer restore()
	x.MaxBytes, x.Progress, x.Boundary = most, searchProgress(e.console), true
	s, err := search.Explore(e.ctx, entry, x.Bounds)
	stopped, beside := stoppedBy(err), errors.Is(err, search.ErrBeside)
	if err != nil && !stopped || s == nil {
		return internal(err)
	}
	shown, unanswered := &shownSearch{Search: s, memory: x.memory}, error(nil)
	switch {
	case beside:
		unanswered = noAnswer("error.stopped.beside")
	case stopped && s.Result.Complete && x.Recheck && s.Rechecked == 0:
		unanswered = noAnswer("error.stopped.recheck")
	case stopped && s.Result.Complete:
		unanswered = noAnswer("error.stopped.boundary")
	}
	e.show("explore", shown.said(), func() { shown.print(e.console) })
	return cmp.Or(errors.Join(shown.status(), shown.writeWitness(e, x.files)), unanswered)
}

// searchProgress shows the progress of the searches that are made in turn: on a terminal in one line that changes,
// where standard error is another file or a pipe in a line now and then.
func searchProgress(e *console) func(r *explore.Result) {
	f, ok := terminal(e.stderr)
	if f == nil {
		return nil
	}
	form, between := "\r%s ", time.Duration(0)
	if !ok {
		form, between = "%s\n", betweenLines
	}
	number, states, reports, began, last, now := 1, 0, 0, time.Now(), time.Now(), &explore.Result{}
	show := paced(f, between, func(int) string {
		rate := float64(now.Transitions) / time.Since(began).Seconds() / 1e6
		return fmt.Sprintf(form, e.Say("progress.search", "number", fmt.Sprint(number),
			"states", fmt.Sprint(now.States), "rate", fmt.Sprintf("%.2f", rate),
			"open", fmt.Sprint(now.Open), "memory", fmt.Sprint(now.Bytes>>20)))
	})
	return func(r *explore.Result) {
		if r.States < states { // the next search; it began after the last report of the one before
			number, began = number+1, last
		}
		states, reports, now, last = r.States, reports+1, r, time.Now()
		show(reports)
	}
}

// shownSearch is a search with what is shown of it.
type shownSearch struct {
	*search.Search
	memory int64 // MB that it was given
}

// said returns the search with what its certificate says, for scripts.
func (s *shownSearch) said() *search.Search {
	said := *s.Search
	said.Said = &search.Said{Claim: certificate.Claim(s.Search, "en"),
		MayHappen: certificate.MayHappen(s.Search, "en"), Assumed: certificate.Assumed(s.Search, "en"),
		Cut:         text.SayMessage("en", s.Result.Limit),
		Certificate: certificate.Of(s.Search, "en")}
	return &said
}

// status returns the error of a search that leaves something unknown.
func (s *shownSearch) status() error {
	switch r := s.Result; {
	case r.OutOfMemory && s.memory > 0:
		return noAnswer("error.cut.memory", "states", fmt.Sprint(r.States), "given", s.memory, "more", 2*s.memory)
	case !r.Limit.IsZero():
		return noAnswer("error.cut.by", "limit", r.Limit)
	case !r.Complete:
		return noAnswer("error.cut")
	case s.Open != nil:
		return noAnswer("error.again.open", "verdicts", reports.Words(s.Open))
	case s.Unjudged() != nil:
		return noAnswer("error.unjudged", "verdicts", reports.Words(s.Unjudged()), "n", s.Bounds.Clients,
			"enough", s.Enough())
	case s.Inconclusive():
		return noAnswer("error.untriggered", "faults", strings.Join(s.Untriggered(), ", "))
	}
	return nil
}

// print prints what the search has shown: the verdicts, the run of the first if there is one, and what was covered.
func (s *shownSearch) print(e *console) {
	certificate.PrintClaim(e.Printer, s.Search)
	if len(s.Witnesses) > 0 {
		s.printWitnesses(e)
		first := s.Witnesses[0]
		if !printShortest(e, first, func() (*race.Outcome, error) { return search.ReplayOn(s.Lock, first.Trace) }) {
			return
		}
		e.Printf("\n%s\n", e.Say("explore.certificate"))
	}
	certificate.Print(e.Printer, s.Search)
	if len(s.Witnesses) == 0 {
		e.Next(fmt.Sprintf("locklab explore %s --clients %d", s.Lock.ID, max(s.Bounds.Clients+1, s.Enough())),
			"locklab explain "+s.Lock.ID)
		return
	}
	e.Printf("\n%s\n", e.Say("command.next"))
	for _, w := range s.Witnesses[:min(3, len(s.Witnesses))] {
		e.Printf("  # %s\n  locklab run %s\n", e.Say("explore.way", "verdict", string(w.Verdict),
			"par", fmt.Sprint(w.Par), "steps", fmt.Sprint(w.Steps)), w.Trace.Link())
	}
}

// printShortest prints the run of a witness, unless it cannot be played.
func printShortest(e *console, w search.Witness, play func() (*race.Outcome, error)) bool {
	o, err := play()
	if err != nil {
		e.Keep(err)
		return false
	}
	e.Printf("\n%s\n\n", e.Say("explore.shortest", "verdict", string(w.Verdict)))
	e.lanes(o)
	return true
}

func (s *shownSearch) printWitnesses(e *console) {
	cause := ""
	if s.Bounds.Causes {
		cause = "  " + e.Say("term.cause.name")
	}
	e.Printf("\n%s %s %s%s\n", text.Pad(e.Say("explore.verdict"), 12), " par",
		text.PadLeft(e.Say("term.steps.name"), 6), cause)
	var others []string // searches, as A, B and so on
	for _, w := range s.Witnesses {
		cause := ""
		if w.Cause != nil {
			cause = "  " + strings.Join(w.Cause, "; ")
		}
		if what := certificate.Elsewhere(s.Search, w, e.Langs()[0]); what != "" {
			if !slices.Contains(others, what) {
				others = append(others, what)
			}
			cause += fmt.Sprintf("  (%c)", 'A'+slices.Index(others, what))
		}
		if s.AtBoundary(w) == "only" {
			cause += "  " + e.Say("explore.boundary")
		}
		e.Printf("%-12s %4d %6d%s\n", w.Verdict, w.Par, w.Steps, cause)
	}
	for i, what := range others {
		e.Wrap(fmt.Sprintf("(%c) ", 'A'+i), e.Say("explore.elsewhere", "what", what))
	}
}

// writeWitness writes the first counterexample, if there is one.
func (s *shownSearch) writeWitness(e *env, files []string) error {
	if len(s.Witnesses) == 0 {
		for _, name := range files {
			e.inform("explore.nothing", "file", name)
		}
		return nil
	}
	if len(files) == 0 {
		return nil
	}
	o, err := search.ReplayOn(s.Lock, s.Witnesses[0].Trace)
	if err != nil {
		return internal(err)
	}
	return (&shownRun{Outcome: o}).writeFiles(e, files)
}

// leastMemory is the MB within which the program can keep: below, it needs more before a search begins.
const leastMemory = 50

// addMemory declares --max-memory, in MB; 0: no limit.
func addMemory(f *flags, megabytes *int64) {
	f.add("max-memory", megabytes)
	f.check("max-memory", func() error {
		if *megabytes != 0 && *megabytes < leastMemory || *megabytes > 1<<30 {
			return text.Errorf("error.memory", "value", *megabytes, "least", leastMemory)
		}
		return nil
	})
}

// code is about what the program takes of which the garbage collector knows nothing.
const code = 24 << 20

// garbage is a search's GOGC, half of the usual: most of what it keeps has no pointers and costs the collector no time.
const garbage = 50

// keepWithin has the garbage collector keep the program within --max-memory, and returns
// the bytes that are for searches; 0: no limit. A GOGC of the environment stays.
func keepWithin(megabytes int64) (bytes int64, restore func()) {
	percent, limit := debug.SetGCPercent(garbage), debug.SetMemoryLimit(-1)
	if percent != 100 {
		debug.SetGCPercent(percent)
	}
	if megabytes > 0 {
		bytes = megabytes << 20
		bytes -= min(code, bytes/2)
		debug.SetMemoryLimit(bytes)
	}
	return bytes, func() {
		debug.SetGCPercent(percent)
		debug.SetMemoryLimit(limit)
	}
}

// A boundFlag is a flag that sets a bound.
type boundFlag struct {
	search.Bound
	of *search.Bounds
}

func (f *boundFlag) String() string     { return f.Format(*f.of) }
func (f *boundFlag) Set(s string) error { return cmp.Or(f.Parse(f.of, s), f.Check(*f.of)) }
func (f *boundFlag) Type() string       { return f.Kind }

// bounds declares flags that set bounds of these names. Their defaults are there already.
func (f *flags) bounds(b *search.Bounds, names ...string) {
	for _, name := range names {
		one, _ := search.BoundOf(name)
		flag := f.set.VarPF(&boundFlag{one, b}, name, "", f.usage(name))
		if one.Kind == "bool" {
			flag.NoOptDefVal = "true"
		}
	}
}
