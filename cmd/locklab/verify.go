package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/certificate"
	"locklab/reports/ci"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
)

type verifyJSON struct {
	Incomplete bool              `json:"incomplete,omitempty"`
	Cells      int               `json:"cells"` // how many races were played
	Searches   []contract.Result `json:"searches"`
	Proofs     []contract.Result `json:"proofs"` // for any number of clients
	Deviations []deviationJSON   `json:"deviations"`
	Uncovered  []ci.Uncovered    `json:"uncovered,omitempty"` // what the contract does not cover
}

type deviationJSON struct {
	*ci.Check
	Conclusive bool   `json:"conclusive"` // false: it is unknown whether the result is as contracted
	Message    string `json:"message"`
}

// verifyFlags are the flags of "locklab verify".
type verifyFlags struct {
	locks    lockFlags
	contract string // a file; "": locklab's own

	junit, summary, annotations string // where else the results go

	memory int64 // in MB; 0: no limit
}

func verifyCommand() *command {
	v := &verifyFlags{memory: 4096}
	return &command{
		use: "verify", args: noArguments, run: v.run, divides: true,
		flags: func(f *flags) {
			v.locks.add(f, "all")
			f.add("contract", &v.contract)
			f.add("junit", &v.junit)
			f.add("summary", &v.summary)
			addMemory(f, &v.memory)
			f.add("annotations", &v.annotations)
			f.check("annotations", func() error {
				if v.annotations != "github" {
					return text.Errorf("error.annotations", "value", v.annotations)
				}
				return nil
			})
		},
		examples: []string{`verify --junit verify.xml --annotations github --summary "$GITHUB_STEP_SUMMARY"`,
			"verify --contract my-contract.txt --json"},
	}
}

func (v *verifyFlags) run(e *env, _ []string) error {
	locks, err := v.locks.pick(algorithms.All())
	if err != nil {
		return err
	}
	rows := contract.Own()
	if v.contract != "" {
		content, err := e.input(v.contract, maxContract)
		if err != nil {
			return text.Errorf("error.contract", "cause", err)
		}
		if rows, err = contract.Parse(text.Visible(v.contract), content); err != nil {
			return err
		}
	}
	if rows = contractOf(rows, locks); len(rows) == 0 {
		return text.Errorf("error.contract.locks", "names", strings.Join(v.locks.names, ","))
	}
	if err := cmp.Or(e.replace("--junit", v.junit), e.outputs.open("--summary", v.summary, true)); err != nil {
		return err
	}
	open := []ci.Uncovered(nil)
	if v.contract == "" { // a contract of a user is expected to be incomplete
		open = uncovered(locks)
	}
	return v.prove(e, rows, open)
}

// contractOf are the rows of a contract that are about locks.
func contractOf(rows []contract.Expectation, locks []lock.Entry) []contract.Expectation {
	return lists.Pick(rows, func(r contract.Expectation) bool {
		return slices.ContainsFunc(locks, func(entry lock.Entry) bool { return entry.ID == r.Lock.ID })
	})
}

// uncovered returns what the lab's own contract does not cover of locks.
func uncovered(locks []lock.Entry) (open []ci.Uncovered) {
	for _, entry := range locks {
		if silent := contract.Uncovered(entry); lessons.Uncovered(entry) {
			open = append(open, ci.Uncovered{Lock: entry.ID})
		} else if len(silent) > 0 {
			open = append(open, ci.Uncovered{Lock: entry.ID,
				Races: lists.Each(silent, func(sc race.Race) string { return sc.ID })})
		}
	}
	return open
}

func (v *verifyFlags) prove(e *env, rows []contract.Expectation, open []ci.Uncovered) error {
	most, restore := keepWithin(v.memory)
	defer restore()
	for i := range rows {
		rows[i].Bounds.MaxBytes = most
	}
	w, end := e.work(len(rows), "progress.proofs")
	proofs, err := contract.Verify(e.ctx, rows, w)
	end()
	stopped := stoppedBy(err)
	if err != nil && !stopped {
		return internal(err)
	}
	found := toVerification(e.console, proofs)
	found.Uncovered = open
	e.show("verify", verifyToJSON(proofs, found), func() {
		e.Keep(found.Text(e.Out))
		e.Printf("%s\n", found.Counts())
	})
	worst := contract.Met
	for i := range proofs {
		worst = max(worst, proofs[i].Status)
	}
	ended := asMet(worst) // without text: the output has said the rest
	if stopped {
		ended = noAnswer("error.stopped")
	}
	return errors.Join(ended, v.write(e, found))
}

// write writes the results to where else they go.
func (v *verifyFlags) write(e *env, found *ci.Verification) error {
	if v.annotations != "" {
		out := e.Out
		if e.json { // which is one JSON value; GitHub reads both streams
			out = e.stderr
		}
		if err := found.Annotations(out); err != nil {
			return internal(err)
		}
	}
	return errors.Join(e.write(v.junit, found.JUnit),
		e.write(v.summary, found.Summary)) // every step of a job adds its part
}

// asMet returns an error with the exit status of an expectation that was not met.
func asMet(s contract.Status) error {
	switch s {
	case contract.Differs:
		return &exitError{exitDiffers, nil}
	case contract.Inconclusive:
		return &exitError{exitNoAnswer, nil}
	}
	return nil
}

// verification turns proofs into what reports write.
func toVerification(e *console, proofs []contract.Result) *ci.Verification {
	v := &ci.Verification{Lang: e.Lang}
	for i := range proofs {
		p := &proofs[i]
		c := ci.Check{
			Lock: p.Lock.ID, Subject: p.Subject(), File: p.File, Line: p.Line,
			Want: contract.FormatVerdicts(p.Expected, p.Instants), Got: contract.FormatVerdicts(p.Got, p.AtInstants()),
			Status: p.Status, Reproduce: p.Command(),
			Why: e.Each(func(lang string) string { return text.SayMessages(lang, p.Reasons) }),
		}
		if p.IsProof() {
			c.Kind = ci.Proof
		} else if p.IsSearch() {
			c.Kind = ci.Search
		}
		switch lang := e.Langs()[0]; {
		case p.Search != nil:
			c.Certificate = certificate.Of(p.Search, lang)
		case p.Proof != nil && p.Proof.Refused == nil:
			c.Certificate = certificate.OfProof(p.Proof, lang)
		}
		if p.Outcome != nil {
			c.Trace, c.History, c.Judgement = p.Outcome.Trace.Link(), p.Outcome.History, p.Outcome.Judgement
		}
		v.Checks = append(v.Checks, c)
	}
	return v
}

func verifyToJSON(proofs []contract.Result, v *ci.Verification) verifyJSON {
	j := verifyJSON{Searches: []contract.Result{}, Proofs: []contract.Result{},
		Deviations: []deviationJSON{}, Uncovered: v.Uncovered}
	for i := range proofs {
		switch p := &proofs[i]; {
		case p.Status == contract.NotRun:
			j.Incomplete = true
		case p.IsSearch():
			j.Searches = append(j.Searches, p.Told())
		case p.IsProof():
			j.Proofs = append(j.Proofs, p.Told())
		default:
			j.Cells++
		}
	}
	for _, c := range v.Deviations() {
		j.Deviations = append(j.Deviations, deviationJSON{c, c.Status == contract.Differs, v.Message(c)})
	}
	return j
}
