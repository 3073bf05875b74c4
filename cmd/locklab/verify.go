package main

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/ci"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/simulator/verdict"
)

type verifyJSON struct {
	Version    int             `json:"version"`
	Incomplete bool            `json:"incomplete,omitempty"`
	Cells      int             `json:"cells"` // how many races were played
	Searches   []searchJSON    `json:"searches"`
	Deviations []deviationJSON `json:"deviations"`
	Uncovered  []uncoveredJSON `json:"uncovered,omitempty"` // what the contract does not cover
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
	Strategy   string `json:"strategy"`
	Subject    string `json:"subject"`
	File       string `json:"file"`
	Line       int    `json:"line"`
	Conclusive bool   `json:"conclusive"` // false: it is unknown whether the result is as contracted
	Message    string `json:"message"`
	Expected   string `json:"expected"`
	Found      string `json:"found"`
	Reproduce  string `json:"reproduce"`
	Trace      string `json:"trace,omitempty"`
}

// verifyFlags say where the contract comes from and where else the results go.
type verifyFlags struct {
	contract, junit, summary, annotations string

	memory int64 // in MB; 0: no limit
}

func (a *app) verify() *cobra.Command {
	var (
		flags    verifyFlags
		families []string
	)
	c := &cobra.Command{
		Use: "verify",
		Example: a.examples("verify", "verify", `verify --junit verify.xml --annotations github --summary "$GITHUB_STEP_SUMMARY"`,
			"verify --contract my-contract.txt --json"),
		Args: a.noArguments,
		RunE: func(c *cobra.Command, _ []string) error {
			if flags.annotations != "" && flags.annotations != "github" {
				return text.Errorf("error.annotations", "value", flags.annotations)
			}
			if err := a.checkMemory(flags.memory); err != nil {
				return err
			}
			rows, err := a.contractRows(flags.contract)
			if err == nil && families != nil {
				rows, err = a.rowsOf(families, rows)
			}
			if err != nil {
				return err
			}
			open, err := a.uncovered(flags.contract, families)
			if err != nil {
				return err
			}
			for name, file := range map[string]string{"junit": flags.junit, "summary": flags.summary} {
				if file == "" {
					continue
				}
				if err := a.checkOutputs("--"+name, file); err != nil {
					return err
				}
			}
			return a.proveRows(c.Context(), rows, open, flags)
		},
	}
	f, usage := c.Flags(), a.usage("verify")
	a.addFamilies(f, &families)
	f.StringVar(&flags.contract, "contract", "", usage("contract"))
	f.StringVar(&flags.junit, "junit", "", usage("junit"))
	f.StringVar(&flags.summary, "summary", "", usage("summary"))
	f.Int64Var(&flags.memory, "max-memory", 4096, usage("max-memory"))
	f.StringVar(&flags.annotations, "annotations", "", usage("annotations"))
	return c
}

// contractRows reads a user's contract; without a file it returns locklab's own.
func (a *app) contractRows(file string) ([]contract.Expectation, error) {
	if file == "" {
		return contract.Own(), nil
	}
	content, err := a.input(file, maxContract)
	if err != nil {
		return nil, text.Errorf("error.contract", "cause", err)
	}
	return contract.Parse(text.Visible(file), content)
}

// rowsOf returns the rows about locks of these families.
func (a *app) rowsOf(families []string, rows []contract.Expectation) ([]contract.Expectation, error) {
	locks, err := a.ofFamilies(families)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(r contract.Expectation) bool {
		return !slices.ContainsFunc(locks, func(e lock.Entry) bool { return e.ID == r.Strategy.ID })
	})
	if len(rows) == 0 {
		return nil, text.Errorf("error.contract.families", "families", strings.Join(families, ","))
	}
	return rows, nil
}

// uncovered returns what the lab's own contract does not cover. A contract of a user is
// expected to be incomplete.
func (a *app) uncovered(file string, families []string) (open []ci.Uncovered, err error) {
	if file != "" {
		return nil, nil
	}
	locks := algorithms.All()
	if families != nil {
		if locks, err = a.ofFamilies(families); err != nil {
			return nil, err
		}
	}
	for _, e := range locks {
		silent := contract.Uncovered(e)
		if len(silent) == 0 {
			continue
		}
		u := ci.Uncovered{Strategy: e.ID}
		if !lessons.Uncovered(e) {
			for _, sc := range silent {
				u.Scenarios = append(u.Scenarios, sc.ID)
			}
		}
		open = append(open, u)
	}
	return open, nil
}

func (a *app) proveRows(ctx context.Context, rows []contract.Expectation, open []ci.Uncovered, flags verifyFlags) error {
	most, restore := a.keepWithin(flags.memory)
	defer restore()
	for i := range rows {
		rows[i].Bounds.MaxBytes = most
	}
	done, end := a.progress(len(rows), "progress.proofs")
	proofs, err := contract.Verify(ctx, rows, done)
	end()
	stopped := errors.Is(err, context.Canceled)
	if err != nil && !stopped {
		return internal(err)
	}
	v := a.verification(proofs)
	v.Uncovered = open
	if a.json {
		err = a.printJSON(verifyToJSON(proofs, v))
	} else {
		err = a.printVerification(v)
	}
	if err != nil {
		return err
	}
	return errors.Join(a.verifyStatus(v, stopped), a.writeVerification(v, flags))
}

func (a *app) printVerification(v *ci.Verification) error {
	if err := v.Text(a.Out); err != nil {
		return internal(err)
	}
	a.Printf("%s\n", v.Counts())
	return nil
}

func (a *app) writeVerification(v *ci.Verification, flags verifyFlags) error {
	if flags.annotations != "" {
		out := a.Out
		if a.json { // which is one JSON value; GitHub reads both streams
			out = a.stderr
		}
		if err := v.Annotations(out); err != nil {
			return internal(err)
		}
	}
	var junit, summary error
	if flags.junit != "" {
		junit = a.write(flags.junit, replaces, v.JUnit)
	}
	if flags.summary != "" { // every step of a job adds its part
		summary = a.write(flags.summary, appends, v.Summary)
	}
	return errors.Join(junit, summary)
}

// verifyStatus returns an error with the exit status, without text: the output has said
// the rest.
func (a *app) verifyStatus(v *ci.Verification, stopped bool) error {
	if stopped {
		return noAnswer("error.stopped")
	}
	worst := ci.OK
	for i := range v.Checks {
		worst = max(worst, v.Checks[i].Status)
	}
	switch worst {
	case ci.Differs:
		return &exitError{exitDiffers, nil}
	case ci.Inconclusive:
		return &exitError{exitNoAnswer, nil}
	}
	return nil
}

var checkStatus = map[contract.Status]ci.Status{
	contract.NotRun:       ci.NotRun,
	contract.Met:          ci.OK,
	contract.Inconclusive: ci.Inconclusive,
	contract.Differs:      ci.Differs,
}

// verification turns proofs into what reports write.
func (a *app) verification(proofs []contract.Result) *ci.Verification {
	v := &ci.Verification{Lang: a.Lang}
	for i := range proofs {
		p := &proofs[i]
		c := ci.Check{
			Strategy: p.Strategy.ID, Subject: p.Subject(), IsSearch: p.IsSearch(), File: p.File, Line: p.Line,
			Want: contract.FormatVerdicts(p.Expected), Got: contract.FormatVerdicts(p.Got),
			Status: checkStatus[p.Status], Why: a.Each(func(lang string) string { return text.SayMessages(lang, p.Reasons) }), Reproduce: p.Command(),
		}
		if p.Search != nil {
			c.Certificate = p.Search.CertificateIn(a.Langs()[0])
		}
		if p.Outcome != nil {
			c.Trace, c.History, c.Judgement = p.Outcome.Trace.Link(), p.Outcome.History, p.Outcome.Judgement
		}
		v.Checks = append(v.Checks, c)
	}
	return v
}

func verifyToJSON(proofs []contract.Result, v *ci.Verification) verifyJSON {
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
			c.Strategy, c.Subject, c.File, c.Line, c.Status == ci.Differs, v.Message(c), c.Want, c.Got, c.Reproduce, c.Trace,
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
