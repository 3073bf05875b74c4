package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/checkpoint"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

type exploreJSON struct {
	Version     int            `json:"version"`
	Strategy    string         `json:"strategy"`
	Clients     int            `json:"clients"`
	Attempts    int            `json:"attempts"`
	Nodes       int            `json:"nodes"`
	Budget      map[string]int `json:"budget"`
	Bounds      string         `json:"bounds"` // all of them, as links have them
	Timing      string         `json:"timing"`
	Uses        []string       `json:"uses"` // what clients may do besides acquiring, working and releasing
	Retries     int            `json:"client_retries"`
	Skew        time.Duration  `json:"skew_ns"`
	Tokens      string         `json:"tokens"`
	Untriggered []string       `json:"not_injected"`
	Claim       string         `json:"claim"` // headline of the certificate
	Scope       string         `json:"scope"` // what it is about: any (timing), instants (those searched), lockstep
	MayHappen   []string       `json:"may_happen"`
	Assumed     []string       `json:"assumed"`
	States      int            `json:"states"`
	Transitions int            `json:"transitions"`
	Depth       int            `json:"depth"`
	Complete    bool           `json:"complete"`
	Cut         string         `json:"cut,omitempty"`         // the limit that ended it
	Beside      []otherJSON    `json:"also_proved,omitempty"` // searches of what this one leaves out
	Tried       []otherJSON    `json:"not_proved,omitempty"`  // searches that were cut short
	FromFile    string         `json:"from_file,omitempty"`   // what was taken from --checkpoint's file, not searched here: "part" or "all"
	Seconds     float64        `json:"seconds,omitempty"`     // only with --time
	Verdicts    []witnessJSON  `json:"verdicts"`
	Certificate string         `json:"certificate"`
	Doom        *doomJSON      `json:"doom,omitempty"` // of the first verdict's trace
}

// otherJSON is another search of the same lock. What it has found is among the verdicts.
type otherJSON struct {
	Bounds string   `json:"bounds"`
	Scope  string   `json:"scope"`
	States int      `json:"states"`
	Found  []string `json:"found"` // each verdict with its par
}

type witnessJSON struct {
	Verdict verdict.Word `json:"verdict"`
	Par     int          `json:"par"`
	Steps   int          `json:"steps"`
	Cause   []string     `json:"cause,omitempty"`
	Bounds  string       `json:"bounds,omitempty"` // of another search that has found it
	// Boundary is "only" where the verdict is met at the instant at which something ends and not beyond it, at
	// the steps searched, and "unchecked" where that is not known.
	Boundary string `json:"boundary,omitempty"`
	Trace    string `json:"trace"`
}

func (a *app) explore() *cobra.Command {
	b := study.DefaultBounds()
	var (
		files    []string
		memory   int64
		attempts string
		retries  string
		timing   string
		late     lateFlags
		uses     string
		tokens   string
		doom     bool
	)
	c := &cobra.Command{
		Use: "explore STRATEGY",
		Example: a.examples("explore", "explore token", "explore redlock --nodes 3 --budget restart=1", "explore setnx --clients 3 --budget crash=1 --json",
			"explore token --budget pause=1 --doom -o doom.png", "explore redlock --nodes 5 --max-states 0 --checkpoint redlock.search"),
		Args: a.exactly(1),
		RunE: func(c *cobra.Command, args []string) error {
			entry, err := race.Strategy(args[0])
			if err != nil {
				return err
			}
			if b.Attempts, err = study.ParseAttempts(attempts); err != nil {
				return err
			}
			if b.Retries, err = a.parseRetries(retries); err != nil {
				return err
			}
			if b.Timing, err = study.ParseTiming(timing); err != nil {
				return err
			}
			if err = late.read(&b); err != nil {
				return err
			}
			if b.Uses, err = study.ParseUses(uses); err != nil {
				return err
			}
			if b.Tokens, err = study.ParseTokens(tokens); err != nil {
				return err
			}
			if err := b.WithUsualAttempts().Check(entry); err != nil {
				return err
			}
			if err := a.checkMemory(memory); err != nil {
				return err
			}
			if b.Checkpoint != "" {
				if err := a.checkOutputs("--checkpoint", b.Checkpoint); err != nil {
					return err
				}
			}
			curve, files, err := a.doomFiles(files, doom)
			if err != nil {
				return err
			}
			for _, file := range files {
				if runFormats[filepath.Ext(file)] == nil {
					return text.Errorf("error.witness.format", "file", file)
				}
			}
			if err := a.checkOutputs("-o", append(files, curve...)...); err != nil {
				return err
			}
			most, restore := a.keepWithin(memory)
			defer restore()
			b.MaxBytes = most
			b.Progress, b.Now = a.searching(), checkpointClock
			began := time.Now()
			s, err := a.search(c.Context(), entry, b)
			if unfit := (*checkpoint.Error)(nil); errors.As(err, &unfit) {
				return text.Errorf("error.checkpoint", "file", unfit.File, "why", unfit.Why)
			}
			stopped, beside := errors.Is(err, context.Canceled), errors.Is(err, study.ErrBeside)
			if err != nil && !stopped {
				return internal(err)
			}
			if s == nil {
				return noAnswer("error.stopped")
			}
			a.reportCheckpoint(b.Checkpoint, s.Result.Kept)
			took, unanswered := s.Result.Kept.Before+time.Since(began), error(nil)
			if doom && len(s.Witnesses) > 0 {
				w := s.Witnesses[0]
				if unanswered, err = a.findDoom(c.Context(), entry, w.Trace, w.Verdict); err != nil {
					return internal(err)
				}
			}
			switch {
			case beside:
				unanswered = noAnswer("error.stopped.beside")
			case stopped && s.Result.Complete:
				unanswered = noAnswer("error.stopped.shortest")
			}
			return cmp.Or(a.showSearch(s, took, append(files, curve...)), unanswered)
		},
	}
	f, usage := c.Flags(), a.usage("explore")
	f.IntVar(&b.Clients, "clients", b.Clients, usage("clients"))
	f.StringVar(&attempts, "attempts", "auto", usage("explore.attempts"))
	f.StringVar(&retries, "retries", "auto", usage("retries"))
	f.IntVar(&b.Nodes, "nodes", 0, usage("nodes"))
	f.StringVar(&b.Budget, "budget", b.Budget, usage("budget"))
	f.DurationVar(&b.TTL, "ttl", b.TTL, usage("ttl"))
	f.StringVar(&timing, "timing", study.AutoTiming.String(), usage("timing"))
	f.DurationVar(&b.Work, "work", 0, usage("work"))
	late.add(f, usage)
	f.StringVar(&uses, "uses", study.FormatUses(study.AutoUses), usage("uses"))
	f.IntVar(&b.ClientRetries, "client-retries", 0, usage("client-retries"))
	f.DurationVar(&b.Skew, "skew", 0, usage("skew"))
	f.StringVar(&tokens, "tokens", client.Unique.String(), usage("tokens"))
	f.BoolVar(&b.Fenced, "fenced", false, usage("fenced"))
	f.BoolVar(&b.Causes, "all", false, usage("all"))
	f.IntVar(&b.MaxStates, "max-states", 20_000_000, usage("max-states"))
	f.Int64Var(&memory, "max-memory", 4096, usage("max-memory"))
	f.StringVar(&b.Checkpoint, "checkpoint", "", usage("checkpoint"))
	f.BoolVar(&a.timed, "time", false, usage("time"))
	f.BoolVar(&doom, "doom", false, usage("doom"))
	f.StringArrayVarP(&files, "out", "o", nil, usage("out"))
	return c
}

// checkpointClock paces how often searches are saved. It is a variable for tests.
var checkpointClock = time.Now

// lateFlags are those of how long messages take and how late timers are.
type lateFlags struct{ latency, lateness string }

func (l *lateFlags) add(f *pflag.FlagSet, usage func(flag string, pairs ...string) string) {
	f.StringVar(&l.latency, "latency", "auto", usage("latency"))
	f.StringVar(&l.lateness, "lateness", "auto", usage("lateness"))
}

func (l *lateFlags) read(b *study.Bounds) (err error) {
	if b.Latency, err = study.ParseLate(l.latency); err != nil {
		return text.Errorf("error.late.flag", "flag", "--latency", "cause", err)
	}
	if b.Lateness, err = study.ParseLate(l.lateness); err != nil {
		return text.Errorf("error.late.flag", "flag", "--lateness", "cause", err)
	}
	return nil
}

// search searches, and finds out which verdicts are met at a boundary only.
func (a *app) search(ctx context.Context, entry lock.Entry, b study.Bounds) (*study.Search, error) {
	s, err := study.Explore(ctx, entry, b)
	if err == nil {
		err = s.FindBoundary(ctx)
	}
	return s, err
}

// parseRetries returns how many requests an attempt has at most; 0: as many as the
// faults need.
func (a *app) parseRetries(value string) (retries int, err error) {
	if retries, err = study.ParseRetries(value); err != nil {
		return 0, text.Errorf("error.retries", "value", value, "most", explore.MaxRetries)
	}
	return retries, nil
}

// searching shows the progress of a search, on a terminal only.
func (a *app) searching() func(r *explore.Result) {
	f, ok := terminal(a.stderr)
	if !ok {
		return nil
	}
	began := time.Now()
	return func(r *explore.Result) {
		seconds := (r.Kept.Before + time.Since(began)).Seconds()
		fmt.Fprint(f, "\r"+a.Say("progress.search", "states", fmt.Sprint(r.States), "rate", fmt.Sprintf("%.2f", float64(r.Transitions)/seconds/1e6),
			"open", fmt.Sprint(r.Open), "memory", fmt.Sprint(r.Bytes>>20))+" ")
		if r.Kept.Has > 0 {
			fmt.Fprint(f, a.Say("progress.saved", "states", fmt.Sprint(r.Kept.Has))+" ")
		}
	}
}

// reportCheckpoint says what a search read from its checkpoint and wrote to it.
func (a *app) reportCheckpoint(file string, k checkpoint.Kept) {
	switch {
	case k.Finished:
		a.inform("checkpoint.finished", "file", file)
	case k.Had > 0:
		a.inform("checkpoint.continued", "file", file, "states", fmt.Sprint(k.Had))
	}
	switch {
	case k.Failed != "":
		a.inform("checkpoint.failed", "file", file, "states", fmt.Sprint(k.Has), "why", k.Failed)
	case k.Open:
		a.inform("checkpoint.saved", "file", file, "states", fmt.Sprint(k.Has))
	}
}

func (a *app) showSearch(s *study.Search, took time.Duration, files []string) error {
	if a.json {
		if err := a.printJSON(a.exploreToJSON(s, took)); err != nil {
			return err
		}
	} else if err := a.printSearch(s, took); err != nil {
		return err
	}
	return errors.Join(a.openSearch(s), a.writeWitness(files, s))
}

// exploreToJSON is a search as JSON.
func (a *app) exploreToJSON(s *study.Search, took time.Duration) exploreJSON {
	r := s.Result
	out := exploreJSON{
		Version: schema, Strategy: s.Strategy.ID, Clients: s.Bounds.Clients, Attempts: s.Bounds.Attempts, Nodes: s.Bounds.Nodes,
		Budget: map[string]int{}, Bounds: s.Bounds.String(), Timing: s.Bounds.Timing.String(), Uses: append([]string{}, s.Bounds.Uses.Names()...), Retries: s.Bounds.ClientRetries, Skew: s.Bounds.Skew, Tokens: s.Bounds.Tokens.String(), Untriggered: append([]string{}, s.Untriggered()...),
		Claim: s.Claim("en"), Scope: s.Scope(), MayHappen: s.MayHappen("en"), Assumed: s.Assumed("en"), States: r.States, Transitions: r.Transitions, Depth: r.Depth, Complete: r.Complete, Cut: text.SayMessage("en", r.Limit),
		FromFile: s.FromFile(), Seconds: a.seconds(took), Verdicts: []witnessJSON{}, Certificate: s.Certificate(), Doom: a.doomToJSON(),
	}
	budget, _ := faults.ParseBudget(s.Bounds.Budget) // Check has read it
	for _, f := range budget {
		out.Budget[f.Fault.Name()] = f.Times
	}
	out.Beside, out.Tried = othersToJSON(s.Beside), othersToJSON(s.Cut)
	for _, w := range s.Witnesses {
		elsewhere := ""
		if s.Elsewhere(w, "en") != "" {
			elsewhere = w.Trace.Settings
		}
		out.Verdicts = append(out.Verdicts, witnessJSON{w.Verdict, w.Par, w.Steps, w.Cause, elsewhere, boundaryOf(s, w), w.Trace.Link()})
	}
	return out
}

func othersToJSON(searches []*study.Search) (list []otherJSON) {
	for _, s := range searches {
		list = append(list, otherJSON{s.Bounds.String(), s.Scope(), s.States, s.Pars()})
	}
	return list
}

// openSearch returns the error of a search that leaves something unknown.
func (a *app) openSearch(s *study.Search) error {
	switch r := s.Result; {
	case r.OutOfMemory:
		return noAnswer("error.cut.memory", "states", fmt.Sprint(r.States), "given", a.memory, "more", 2*a.memory)
	case !r.Limit.IsZero():
		return noAnswer("error.cut.by", "limit", r.Limit)
	case !r.Complete:
		return noAnswer("error.cut")
	case s.FromFile() == study.FromFile:
		return noAnswer("error.unsearched")
	case s.Inconclusive():
		return noAnswer("error.untriggered", "faults", strings.Join(s.Untriggered(), ", "))
	}
	return nil
}

// seconds returns how long something took, if that is to be shown; 0: it is not.
func (a *app) seconds(took time.Duration) float64 {
	if !a.timed {
		return 0
	}
	return took.Seconds()
}

// printCertificate prints what a search has covered and, with --time, how fast.
func (a *app) printCertificate(s *study.Search, took time.Duration) {
	for _, lang := range a.Langs() {
		a.Printf("%s\n", s.CertificateIn(lang))
	}
	if a.timed {
		a.printSpeed(s, took)
	}
}

func (a *app) printSearch(s *study.Search, took time.Duration) error {
	a.printCertificate(s, took)
	if len(s.Witnesses) == 0 {
		a.Next("locklab explore "+s.Strategy.ID+" --clients 3", "locklab explain "+s.Strategy.ID)
		return nil
	}
	o, err := study.ReplayOn(s.Strategy, s.Witnesses[0].Trace)
	if err != nil {
		return internal(err)
	}
	if err := a.printFound(s, o); err != nil {
		return err
	}
	if err := a.printDoom(); err != nil {
		return err
	}
	a.Printf("\n%s\n", a.Say("command.next"))
	for _, w := range s.Witnesses[:min(3, len(s.Witnesses))] {
		a.Printf("  # %s\n  locklab replay %s\n", a.Say("explore.way", "verdict", string(w.Verdict), "par", fmt.Sprint(w.Par), "steps", fmt.Sprint(w.Steps)), w.Trace.Link())
	}
	return nil
}

// printFound prints the verdicts that were found, and the run of the first.
func (a *app) printFound(s *study.Search, first *race.Outcome) error {
	a.printWitnesses(s)
	a.Printf("\n%s\n\n", a.Say("explore.shortest", "verdict", string(s.Witnesses[0].Verdict)))
	return internal(reports.Lanes(a.Out, first.History, first.Judgement, a.options()))
}

func (a *app) printSpeed(s *study.Search, took time.Duration) {
	a.Printf("%s\n", a.Say("explore.speed", "seconds", fmt.Sprintf("%.2f", took.Seconds()),
		"rate", fmt.Sprintf("%.2f", float64(s.Result.Transitions)/took.Seconds()/1e6), "bytes", fmt.Sprint(s.Result.Bytes/int64(max(s.Result.States, 1)))))
}

// boundaryOf is witnessJSON.Boundary.
func boundaryOf(s *study.Search, w study.Witness) string {
	switch {
	case slices.Contains(s.ByBoundary(explore.BoundaryOnly), string(w.Verdict)):
		return "only"
	case slices.Contains(s.ByBoundary(explore.Unchecked), string(w.Verdict)):
		return "unchecked"
	}
	return ""
}

// printWitnesses prints the verdicts that were found.
func (a *app) printWitnesses(s *study.Search) {
	cause := ""
	if s.Bounds.Causes {
		cause = "  " + a.Say("explore.cause")
	}
	a.Printf("\n%s %s %s%s\n", text.Pad(a.Say("explore.verdict"), 12), " par", text.PadLeft(a.Say("explore.steps"), 6), cause)
	for _, w := range s.Witnesses {
		cause := ""
		if w.Cause != nil {
			cause = "  " + strings.Join(w.Cause, "; ")
		}
		if what := s.Elsewhere(w, a.Langs()[0]); what != "" {
			cause += "  " + a.Say("explore.elsewhere", "what", what)
		}
		if boundaryOf(s, w) == "only" {
			cause += "  " + a.Say("explore.boundary")
		}
		a.Printf("%-12s %4d %6d%s\n", w.Verdict, w.Par, w.Steps, cause)
	}
}

// writeWitness writes the first counterexample, if there is one.
func (a *app) writeWitness(files []string, s *study.Search) error {
	if len(s.Witnesses) == 0 {
		for _, name := range files {
			a.inform("explore.nothing", "file", name)
		}
		return nil
	}
	if len(files) == 0 {
		return nil
	}
	o, err := study.ReplayOn(s.Strategy, s.Witnesses[0].Trace)
	if err != nil {
		return internal(err)
	}
	return a.writeRuns(files, o)
}
