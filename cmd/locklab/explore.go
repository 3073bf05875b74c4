package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
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
	States      int            `json:"states"`
	Transitions int            `json:"transitions"`
	Depth       int            `json:"depth"`
	Complete    bool           `json:"complete"`
	Cut         string         `json:"cut,omitempty"` // the limit that ended it
	Seconds     float64        `json:"seconds"`
	Verdicts    []witnessJSON  `json:"verdicts"`
	Certificate string         `json:"certificate"`
	Doom        *doomJSON      `json:"doom,omitempty"` // of the first verdict's trace
}

type witnessJSON struct {
	Verdict verdict.Word `json:"verdict"`
	Par     int          `json:"par"`
	Steps   int          `json:"steps"`
	Cause   []string     `json:"cause,omitempty"`
	Trace   string       `json:"trace"`
}

func (a *app) explore() *cobra.Command {
	b := study.DefaultBounds()
	var (
		files   []string
		retries string
		memory  int64
		doom    bool
	)
	c := &cobra.Command{
		Use:   "explore STRATEGY",
		Short: "can it break? every interleaving and fault within bounds",
		Long: `Visits every state that a lock can come to within the bounds, and prints a
certificate of what was covered and, for every harm that was found, the fewest
unlucky moves (par) and steps to it, as a trace.

Each client asks for the lock so many times; when it has it, it reads the
resource, works for less than a lease, writes, and gives the lock back. What is
ready happens before time moves, in every order; only a pause lets time pass
somebody who is ready. A fault may strike wherever it can, as often as the
budget says: crash=1,pause=1@5s.

"Proved within these bounds" is said of a complete search only. One that was
cut short, by --max-states, Ctrl-C or something that the lab has no room for, says
what it covered and ends with 3.

With --checkpoint FILE the search is kept in FILE: now and then, and when it is
cut short. The same command goes on from there, after a kill or a power cut too,
and comes to the same result as if nothing had happened; --max-states and
--max-memory may be others. A file of a finished search answers at once. One of
another search or of another build of locklab is refused.

` + doomHelp + ` It is that of the first witness.`,
		Example: "  locklab explore token\n  locklab explore redlock --nodes 3 --budget restart=1\n  locklab explore setnx --clients 3 --budget crash=1 --json\n  locklab explore token --budget pause=1 --doom -o doom.png\n  locklab explore redlock --nodes 5 --max-states 0 --checkpoint redlock.search",
		Args:    exactly(1, "explore STRATEGY"),
		RunE: func(c *cobra.Command, args []string) error {
			entry, err := race.Strategy(args[0])
			if err != nil {
				return err
			}
			if b.Retries, err = study.ParseRetries(retries); err != nil {
				return fmt.Errorf("--%w", err)
			}
			if err := b.Check(entry); err != nil {
				return err
			}
			if memory < 0 || memory > 1<<30 {
				return fmt.Errorf("--max-memory %d: give MB, or 0 for no limit", memory)
			}
			curve, files, err := doomFiles(files, doom)
			if err != nil {
				return err
			}
			for _, file := range files {
				if runFormats[filepath.Ext(file)] == nil {
					return fmt.Errorf("-o %s: a witness can be written as .json, .txt or .html, and with --doom as .png, .svg or .csv", file)
				}
			}
			b.MaxBytes = memory << 20
			b.Progress, b.Now = a.searching(), time.Now
			began := time.Now()
			s, err := study.Explore(c.Context(), entry, b)
			if unfit := (*explore.CheckpointError)(nil); errors.As(err, &unfit) {
				return fmt.Errorf("--checkpoint %s: %s", unfit.File, unfit.Why)
			}
			stopped := errors.Is(err, context.Canceled)
			if err != nil && !stopped {
				return internal(err)
			}
			a.tellKept(b.Checkpoint, s.Result.Kept)
			took, untold := s.Result.Kept.Before+time.Since(began), error(nil)
			if doom && len(s.Witnesses) > 0 {
				w := s.Witnesses[0]
				if untold, err = a.foresee(c.Context(), entry, w.Trace, w.Verdict, curve); err != nil {
					return internal(err)
				}
			}
			if stopped && s.Result.Complete {
				untold = &exitError{exitUntold, errors.New("stopped while the shortest ways were looked for: what was found is there, but a shorter way may be")}
			}
			return cmp.Or(a.showSearch(s, took, files), untold)
		},
	}
	f := c.Flags()
	f.IntVar(&b.Clients, "clients", b.Clients, "how many clients contend")
	f.IntVar(&b.Attempts, "attempts", b.Attempts, "how often each wants the lock")
	f.StringVar(&retries, "retries", study.FormatRetries(b.Retries), "how often a refused client asks again within one attempt, 2/5, 1, 7/5, 2, 12/5 leases after it asked first: 0 to 5; auto: 0, or 1 where a clock may jump")
	f.IntVar(&b.Nodes, "nodes", 0, "servers; 0: as many as the lock wants")
	f.StringVar(&b.Budget, "budget", b.Budget, "how often each fault may strike")
	f.DurationVar(&b.TTL, "ttl", b.TTL, "the lease")
	f.BoolVar(&b.Fenced, "fenced", false, "fencing tokens, and a resource that looks at them")
	f.BoolVar(&b.Causes, "all", false, "one witness for each cause: what struck, and what its victim was at")
	f.IntVar(&b.MaxStates, "max-states", 20_000_000, "give up after so many states; 0: never")
	f.Int64Var(&memory, "max-memory", 4096, "give up when the program needs more MB; 0: never")
	f.StringVar(&b.Checkpoint, "checkpoint", "", "keep the search in FILE, and go on from what FILE holds")
	f.BoolVar(&doom, "doom", false, "how much is lost after each step of the first witness, and its point of no return")
	f.StringArrayVarP(&files, "out", "o", nil, "write the first witness to FILE: .json, .txt or .html, its doom curve as .png, .svg or .csv (repeatable)")
	return c
}

// searching shows how a long search comes along, on a terminal only.
func (a *app) searching() func(r *explore.Result) {
	f, ok := terminal(a.stderr)
	if !ok {
		return nil
	}
	began := time.Now()
	return func(r *explore.Result) {
		seconds := (r.Kept.Before + time.Since(began)).Seconds()
		fmt.Fprintf(f, "\r%d states, %.2f M transitions/s, %d waiting, %d MB ", r.States, float64(r.Transitions)/seconds/1e6, r.Open, r.Bytes>>20)
		if r.Kept.Has > 0 {
			fmt.Fprintf(f, "(%d states saved) ", r.Kept.Has)
		}
	}
}

// tellKept says what the checkpoint had to do with a search.
func (a *app) tellKept(file string, k explore.Kept) {
	switch {
	case k.Finished:
		fmt.Fprintf(a.stderr, "%s holds this search finished: nothing was searched anew\n", file)
	case k.Had > 0:
		fmt.Fprintf(a.stderr, "went on from %s, which held %d states\n", file, k.Had)
	}
	switch {
	case k.Failed != "":
		fmt.Fprintf(a.stderr, "%s could not be written, and holds %d states: %s\n", file, k.Has, k.Failed)
	case k.Open:
		fmt.Fprintf(a.stderr, "%s holds %d states: the same command goes on from there\n", file, k.Has)
	}
}

func (a *app) showSearch(s *study.Search, took time.Duration, files []string) error {
	r := s.Result
	for _, file := range files {
		if len(s.Witnesses) == 0 {
			break
		}
		if err := a.writeWitness(file, s.Strategy, s.Witnesses[0]); err != nil {
			return err
		}
	}
	if a.json {
		out := exploreJSON{
			Version: schema, Strategy: s.Strategy.ID, Clients: s.Bounds.Clients, Attempts: s.Bounds.Attempts, Nodes: s.Bounds.Nodes,
			Budget: map[string]int{}, States: r.States, Transitions: r.Transitions, Depth: r.Depth, Complete: r.Complete, Cut: r.Limit,
			Seconds: took.Seconds(), Verdicts: []witnessJSON{}, Certificate: s.Certificate(), Doom: a.doomToJSON(),
		}
		budget, _ := faults.ParseBudget(s.Bounds.Budget) // Check has read it
		for _, f := range budget {
			out.Budget[f.Fault.Name()] = f.Times
		}
		for _, w := range s.Witnesses {
			out.Verdicts = append(out.Verdicts, witnessJSON{w.Verdict, w.Par, w.Steps, w.Cause, w.Trace.Link()})
		}
		if err := a.printJSON(out); err != nil {
			return err
		}
	} else if err := a.tellSearch(s, took); err != nil {
		return err
	}
	if r.Limit != "" {
		return &exitError{exitUntold, fmt.Errorf("the search was cut short, and what it did not visit is unknown: %s", r.Limit)}
	}
	if !r.Complete {
		return &exitError{exitUntold, errors.New("the search was cut short: what it did not visit is unknown")}
	}
	return nil
}

func (a *app) tellSearch(s *study.Search, took time.Duration) error {
	a.printf("%s\n", s.Certificate())
	a.printf("%.2f s, %.2f million transitions/s, %d bytes a state\n", took.Seconds(), float64(s.Result.Transitions)/took.Seconds()/1e6, s.Result.Bytes/int64(max(s.Result.States, 1)))
	if len(s.Witnesses) == 0 {
		a.next("locklab explore "+s.Strategy.ID+" --clients 3", "locklab explain "+s.Strategy.ID)
		return nil
	}
	a.printf("\n%-12s %4s %6s%s\n", "verdict", "par", "steps", causeTitle(s.Bounds))
	for _, w := range s.Witnesses {
		a.printf("%-12s %4d %6d%s\n", w.Verdict, w.Par, w.Steps, cause(w))
	}
	first := s.Witnesses[0]
	o, err := study.ReplayOn(s.Strategy, first.Trace)
	if err != nil {
		return internal(err)
	}
	a.printf("\n%s\n\n", a.say("The shortest way to "+string(first.Verdict)+":", "到达 "+string(first.Verdict)+" 的最短路径："))
	if err := reports.Lanes(a.stdout, o.History, o.Judgement, a.options()); err != nil {
		return internal(err)
	}
	if err := a.tellDoom(); err != nil {
		return err
	}
	var again []string
	for _, w := range s.Witnesses {
		again = append(again, "locklab replay "+w.Trace.Link())
	}
	a.next(again...)
	return nil
}

func causeTitle(b study.Bounds) string {
	if b.Causes {
		return "  cause"
	}
	return ""
}

func cause(w study.Witness) string {
	if w.Cause == nil {
		return ""
	}
	return "  " + strings.Join(w.Cause, "; ")
}

func (a *app) writeWitness(name string, entry lock.Entry, w study.Witness) error {
	o, err := study.ReplayOn(entry, w.Trace)
	if err != nil {
		return internal(err)
	}
	return a.write(name, func(out io.Writer) error { return runFormats[filepath.Ext(name)](a, out, o) })
}
