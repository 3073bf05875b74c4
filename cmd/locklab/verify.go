package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/scenarios/contract"
	"locklab/simulator/verdict"
)

type verifyJSON struct {
	Version    int             `json:"version"`
	Incomplete bool            `json:"incomplete,omitempty"`
	Cells      int             `json:"cells"` // races played
	Searches   []searchJSON    `json:"searches"`
	Deviations []deviationJSON `json:"deviations"`
	Uncovered  []uncoveredJSON `json:"uncovered,omitempty"` // what the contract says nothing of
}

type uncoveredJSON struct {
	Strategy  string   `json:"strategy"`
	Scenarios []string `json:"scenarios,omitempty"` // absent: all
}

type searchJSON struct {
	Strategy   string               `json:"strategy"`
	Bounds     string               `json:"bounds"`
	Verdicts   []verdict.Word       `json:"verdicts"`
	Expected   []string             `json:"expected"` // as the contract has them, with par
	AsExpected bool                 `json:"as_expected"`
	Complete   bool                 `json:"complete"`
	States     int                  `json:"states"`
	Par        map[verdict.Word]int `json:"par"`
	Trace      string               `json:"trace,omitempty"` // of the first verdict
}

type deviationJSON struct {
	Strategy  string `json:"strategy"`
	Subject   string `json:"subject"`
	File      string `json:"file"`
	Line      int    `json:"line"`
	Told      bool   `json:"told"` // false: it could not be told whether it is as contracted
	Message   string `json:"message"`
	Expected  string `json:"expected"`
	Found     string `json:"found"`
	Reproduce string `json:"reproduce"`
	Trace     string `json:"trace,omitempty"`
}

// verifyFlags are where the answer goes beside standard output.
type verifyFlags struct{ contract, junit, summary, annotations string }

func (a *app) verify() *cobra.Command {
	var (
		flags    verifyFlags
		families []string
	)
	c := &cobra.Command{
		Use:   "verify",
		Short: "prove the contract, in both directions",
		Long: `Plays every lock in every race and searches every lock within the contract's
bounds, on all cores. What must hold is proved by a complete search; what must
break must still break, and to as little bad luck: otherwise the lab itself has
gone blind. Prints what is not as contracted, each with a line that shows it. A
lock of which the lab's contract says nothing is named as not covered; that is no
failure.

--contract FILE holds your own contract against the locks, instead of the lab's:

  [gc-pause]                                what a race must come to
  token   OVERLAP STALE-WRITE
  [search clients=3 budget=crash=1]         what a search must come to; bounds are
  token   HOLDS                             clients, attempts, nodes, ttl, fenced,
  [search budget=pause=1]                   budget and max-states
  token   OVERLAP@1 STALE-WRITE@1           with the fewest unlucky moves to each

Exit status: 0 as contracted, 1 a verdict differs, 2 wrong use, 3 it could not be
told (a search was cut short, or Ctrl-C), 4 a mistake of locklab.`,
		Example: "  locklab verify\n  locklab verify --junit verify.xml --annotations github --summary \"$GITHUB_STEP_SUMMARY\"\n  locklab verify --contract my-contract.txt --json",
		Args:    cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if flags.annotations != "" && flags.annotations != "github" {
				return fmt.Errorf("--annotations %q: write github", flags.annotations)
			}
			rows, err := contractRows(flags.contract)
			if err == nil && families != nil {
				rows, err = rowsOf(families, rows)
			}
			if err != nil {
				return err
			}
			open, err := uncovered(flags.contract, families)
			if err != nil {
				return err
			}
			for _, f := range []string{flags.junit, flags.summary} {
				if err := writable(filepath.Dir(f)); f != "" && err != nil {
					return fmt.Errorf("%s: %w", f, err)
				}
			}
			return a.proveRows(c.Context(), rows, open, flags)
		},
	}
	f := c.Flags()
	addFamilies(f, &families)
	f.StringVar(&flags.contract, "contract", "", "a contract of your own, from FILE")
	f.StringVar(&flags.junit, "junit", "", "write JUnit XML to FILE")
	f.StringVar(&flags.summary, "summary", "", "write a summary in GitHub markdown to FILE")
	f.StringVar(&flags.annotations, "annotations", "", "mark deviations in the contract: github")
	return c
}

// contractRows reads a user's contract; "" is the lab's own.
func contractRows(file string) ([]contract.Expectation, error) {
	if file == "" {
		return contract.Own(), nil
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("--contract: %w", err)
	}
	return contract.Parse(file, string(text))
}

// rowsOf are the rows that speak of locks of these families.
func rowsOf(families []string, rows []contract.Expectation) ([]contract.Expectation, error) {
	locks, err := ofFamilies(families)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r contract.Expectation) bool {
		return !slices.ContainsFunc(locks, func(e lock.Entry) bool { return e.ID == r.Strategy.ID })
	})
	if len(rows) == 0 {
		return nil, fmt.Errorf("--families %s: the contract says nothing of their locks", strings.Join(families, ","))
	}
	return rows, nil
}

// uncovered is what the lab's own contract says nothing of. A user's speaks of what it
// wants to, and leaves out the rest on purpose.
func uncovered(file string, families []string) (open []reports.Uncovered, err error) {
	if file != "" {
		return nil, nil
	}
	locks := algorithms.All()
	if families != nil {
		if locks, err = ofFamilies(families); err != nil {
			return nil, err
		}
	}
	for _, e := range locks {
		silent := contract.Uncovered(e)
		if len(silent) == 0 {
			continue
		}
		u := reports.Uncovered{Strategy: e.ID}
		if !uncontracted(e) {
			for _, sc := range silent {
				u.Scenarios = append(u.Scenarios, sc.ID)
			}
		}
		open = append(open, u)
	}
	return open, nil
}

func (a *app) proveRows(ctx context.Context, rows []contract.Expectation, open []reports.Uncovered, flags verifyFlags) error {
	done, end := a.progress(len(rows), "proofs")
	proofs, err := contract.Verify(ctx, rows, done)
	end()
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return internal(err)
	}
	v := verification(proofs)
	v.Uncovered = open
	if a.json {
		err = a.printJSON(verifyToJSON(proofs, v))
	} else {
		err = a.printVerification(v)
	}
	if err == nil {
		err = a.writeVerification(v, flags)
	}
	if err != nil {
		return err
	}
	return verifyStatus(v, stopped)
}

func (a *app) printVerification(v *reports.Verification) error {
	if err := v.Text(a.stdout); err != nil {
		return internal(err)
	}
	a.printf("%s\n", v.Counts())
	return nil
}

func (a *app) writeVerification(v *reports.Verification, flags verifyFlags) error {
	if flags.annotations != "" {
		out := a.stdout
		if a.json { // which is one JSON value; GitHub reads both streams
			out = a.stderr
		}
		if err := v.Annotations(out); err != nil {
			return internal(err)
		}
	}
	for _, f := range []struct {
		name string
		fill func(io.Writer) error
	}{{flags.junit, v.JUnit}, {flags.summary, v.Summary}} {
		if f.name == "" {
			continue
		}
		if err := a.write(f.name, f.fill); err != nil {
			return err
		}
	}
	return nil
}

// verifyStatus turns what came out into an exit status. The output has said the
// rest.
func verifyStatus(v *reports.Verification, stopped bool) error {
	if stopped {
		return &exitError{exitUntold, errors.New("stopped before the end: what is printed is incomplete")}
	}
	worst := reports.CheckOK
	for i := range v.Checks {
		worst = max(worst, v.Checks[i].Status)
	}
	switch worst {
	case reports.CheckDiffers:
		return &exitError{exitDiffers, nil}
	case reports.CheckUntold:
		return &exitError{exitUntold, nil}
	}
	return nil
}

var checkStatus = map[contract.Status]reports.CheckStatus{
	contract.NotRun:       reports.CheckUnasked,
	contract.Met:          reports.CheckOK,
	contract.Inconclusive: reports.CheckUntold,
	contract.Differs:      reports.CheckDiffers,
}

// verification turns proofs into what reports write.
func verification(proofs []contract.Result) *reports.Verification {
	v := &reports.Verification{}
	for i := range proofs {
		p := &proofs[i]
		c := reports.Check{
			Strategy: p.Strategy.ID, Subject: p.Subject(), IsSearch: p.IsSearch(), File: p.File, Line: p.Line,
			Want: contract.FormatVerdicts(p.Expected), Got: contract.FormatVerdicts(p.Got),
			Status: checkStatus[p.Status], Reasons: p.Reasons, Reproduce: p.Command(),
		}
		if p.Search != nil {
			c.Certificate = p.Search.Certificate()
		}
		if p.Outcome != nil {
			c.Trace, c.History, c.Judgement = p.Outcome.Trace.Link(), p.Outcome.History, p.Outcome.Judgement
		}
		v.Checks = append(v.Checks, c)
	}
	return v
}

func verifyToJSON(proofs []contract.Result, v *reports.Verification) verifyJSON {
	j := verifyJSON{Version: schema, Searches: []searchJSON{}, Deviations: []deviationJSON{}}
	for i := range proofs {
		switch p := &proofs[i]; {
		case p.Status == contract.NotRun:
			j.Incomplete = true
		case p.IsSearch():
			j.Searches = append(j.Searches, searchToJSON(p))
		default:
			j.Cells++
		}
	}
	for _, u := range v.Uncovered {
		j.Uncovered = append(j.Uncovered, uncoveredJSON(u))
	}
	for _, c := range v.Deviations() {
		j.Deviations = append(j.Deviations, deviationJSON{
			c.Strategy, c.Subject, c.File, c.Line, c.Status == reports.CheckDiffers, c.Message(), c.Want, c.Got, c.Reproduce, c.Trace,
		})
	}
	return j
}

func searchToJSON(p *contract.Result) searchJSON {
	s := searchJSON{
		Strategy: p.Strategy.ID, Bounds: p.Subject(), Verdicts: []verdict.Word{}, AsExpected: p.Status == contract.Met,
		Complete: p.Search.Result.Complete, States: p.Search.Result.States, Par: map[verdict.Word]int{},
	}
	for _, w := range p.Expected {
		s.Expected = append(s.Expected, w.String())
	}
	for _, g := range p.Got {
		s.Verdicts = append(s.Verdicts, g.Verdict)
		if g.Verdict != verdict.Holds {
			s.Par[g.Verdict] = g.Par
		}
	}
	if p.Outcome != nil {
		s.Trace = p.Outcome.Trace.Link()
	}
	return s
}
