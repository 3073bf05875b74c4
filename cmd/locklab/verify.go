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
	Lock       string `json:"lock"`
	Subject    string `json:"subject"` // a race's ID, or the bounds of a search or a proof
	File       string `json:"file"`    // where the contract says so
	Line       int    `json:"line"`
	Expected   string `json:"expected"`  // verdicts
	Found      string `json:"found"`     // likewise; "": it was not run
	Reproduce  string `json:"reproduce"` // a line for a shell
	Trace      string `json:"trace,omitempty"`
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
			v.locks.add(f, f.e.Say("help.flag.locks.all"))
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
	found := &ci.Verification{Lang: e.Lang, Results: proofs, Uncovered: open,
		Certificate: func(r *contract.Result) string { return certificateOf(r, e.Langs()[0]) }}
	e.show("verify", verifyToJSON(found), func() {
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

// certificateOf says what a search or a proof covers; "" of others.
func certificateOf(r *contract.Result, lang string) string {
	switch {
	case r.Search != nil:
		return certificate.Of(r.Search, lang)
	case r.Proof != nil && r.Proof.Refused == nil:
		return certificate.OfProof(r.Proof, lang)
	}
	return ""
}

func verifyToJSON(v *ci.Verification) verifyJSON {
	j := verifyJSON{Searches: []contract.Result{}, Proofs: []contract.Result{},
		Deviations: []deviationJSON{}, Uncovered: v.Uncovered}
	for i := range v.Results {
		switch p := &v.Results[i]; {
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
		j.Deviations = append(j.Deviations, deviationJSON{c.Lock.ID, c.Subject(), c.File, c.Line, c.Want(), c.Found(),
			c.Command(), c.Trace(), c.Status == contract.Differs, v.Message(c)})
	}
	return j
}
