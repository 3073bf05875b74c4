package main

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"locklab/faults"
	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/verdict"
)

// proveFlags are the flags of "locklab prove".
type proveFlags struct {
	search.Bounds
	views bool // as a table
}

func proveCommand() *command {
	p := &proveFlags{Bounds: search.ProofBounds()}
	p.Budget, p.Endless = "crash=1", true
	return &command{
		use: "prove LOCK...", args: between(1, math.MaxInt, "lock"), complete: locks, run: p.run,
		flags: func(f *flags) {
			f.add("views", &p.views)
			f.bounds(&p.Bounds, search.ProofNames()...)
		},
		examples: []string{"prove token", "prove token --budget crash=any,pause=any@2s",
			"prove setnx-expire --budget pause=1",
			"prove token --views", "prove setnx token redlock"},
	}
}

func (p *proveFlags) run(e *env, args []string) error {
	entry, err := race.Lock(args[0])
	if err != nil {
		return err
	}
	if len(args) > 1 {
		return p.table(e, args)
	}
	p.Progress = searchProgress(e.console)
	proof, err := search.Prove(e.ctx, entry, p.Bounds)
	if stoppedBy(err) {
		return noAnswer("error.stopped")
	}
	if err != nil {
		return err
	}
	e.show("prove", saidOfProof(proof), func() { p.print(e.console, proof) })
	if proof.Refused != nil || len(proof.Open) > 0 {
		return noAnswer("error.prove.open")
	}
	if proof.Search.Scope() == search.ScopeInstants {
		return noAnswer("error.prove.instants")
	}
	return nil
}

// table proves several locks, and shows which verdicts are excluded for each, as the chart of theorems does.
func (p *proveFlags) table(e *env, names []string) error {
	if p.views {
		return text.Errorf("error.noarguments", "command", "locklab prove --views", "name", names[1])
	}
	entries, err := locksNamed(names)
	if err != nil {
		return err
	}
	if err := checkBudgets(entries, search.DefaultBounds(), []string{string(p.Budget)}); err != nil {
		return err
	}
	drawn, err := findTheorems(e, entries, []string{p.Faults()})
	d := &figure{chartFiles: &chartFiles{}, next: []string{"locklab chart theorems", "locklab prove " + entries[0].ID}}
	return d.show(e, drawn, err)
}

// saidOfProof returns the proof with what its certificate says, for scripts.
func saidOfProof(proof *search.Proof) *search.Proof {
	said := *proof
	if said.Said = (&search.Said{Refused: whyNot(proof, "en")}); proof.Refused == nil {
		said.Said.Assumed = certificate.AnyNumber(proof, "en")
	}
	return &said
}

// whyNot says why there is no proof; "": there is one.
func whyNot(proof *search.Proof, lang string) string {
	why := (*explore.NotProvableError)(nil)
	switch {
	case proof.Refused == nil:
		return ""
	case errors.As(proof.Refused, &why):
		return text.SayMessage(lang, why.Why)
	}
	return proof.Refused.Error()
}

func (p *proveFlags) print(e *console, proof *search.Proof) {
	lock := proof.Search.Lock
	e.Lines("", func(lang string) string { return certificate.HeadOfProof(proof, p.faults(proof, lang), lang) })
	if proof.Refused != nil {
		e.Lines("  ", func(lang string) string { return text.Say(lang, "prove.refused", "why", whyNot(proof, lang)) })
	} else {
		e.Lines("  ", func(lang string) string { return certificate.Proved(proof, lang) })
	}
	var next []string
	if proof.Refused == nil && !proof.Search.Bounds.Allows(faults.Pause) {
		e.Lines("  ", func(lang string) string { return text.Say(lang, "prove.nopause", "lock", lock.ID) })
		next = append(next, "locklab prove "+lock.ID+" --budget pause=1")
	}
	all := proof.Witnesses()
	for _, w := range all {
		e.Wrap("  "+text.Pad(string(w.Verdict), 12),
			e.Each(func(lang string) string { return certificate.Broken(proof, w, lang) }))
	}
	for _, w := range proof.Open {
		if proof.Refused == nil {
			e.Wrap("  "+text.Pad(string(w), 12), e.Each(func(lang string) string {
				return text.Say(lang, "prove.open", "size", certificate.World(proof, lang))
			}))
			printViolation(e, proof, w)
		}
	}
	first := func() (*race.Outcome, error) { return search.ReplayOn(lock, all[0].Trace) }
	if len(all) > 0 && !printShortest(e, all[0], first) {
		return
	}
	if proof.Refused != nil {
		e.Next("locklab explore " + lock.ID)
		return
	}
	e.Printf("\n%s\n", e.Say("explore.certificate"))
	for _, lang := range e.Langs() {
		for _, line := range certificate.AnyNumber(proof, lang) {
			e.Wrap("  - ", line)
		}
	}
	e.Lines("", func(lang string) string { return certificate.Size(proof, lang) })
	if p.views {
		printViews(e, proof)
	}
	e.Next(append(next, "locklab explore "+lock.ID+" --budget '"+string(p.Bounds.Budget)+"' --timing any",
		"locklab explain "+lock.ID)...)
}

// printViolation prints the views that come to a verdict.
func printViolation(e *console, proof *search.Proof, word verdict.Word) {
	views, move := proof.Violation(word)
	if move == "" {
		return
	}
	e.Lines(text.Pad("", 14), func(lang string) string {
		shown := ""
		for c, v := range views {
			one := text.Say(lang, "prove.violation.view", "c", fmt.Sprint("c", c+1),
				"stage", text.Say(lang, "prove.views.stage."+v.Stage),
				"key", text.Say(lang, "prove.views.owner."+v.Owner))
			if c > 0 {
				one = text.Say(lang, "prove.violation.views", "views", shown, "view", one)
			}
			shown = one
		}
		return text.Say(lang, "prove.violation", "views", shown, "move", move)
	})
}

// printViews prints a row for all views that agree in where the client is and whose the key is, and what holds in all.
func printViews(e *console, proof *search.Proof) {
	rows := search.ViewRows(proof)
	if rows == nil {
		e.Sentence("prove.views.several")
		return
	}
	for _, lang := range e.Langs() {
		say := func(key string) string { return text.Say(lang, "prove.views."+key) }
		line := func(client, key, left, views string) {
			e.Printf("%s\n", "  "+text.Pad(client, 22)+text.Pad(key, 22)+text.Pad(left, 20)+views)
		}
		e.Printf("%s\n", say("head"))
		line(say("client"), say("key"), say("left"), say("views"))
		for _, r := range rows {
			left := fmt.Sprintf("%v .. %v", r.Least, r.Most)
			switch {
			case r.Owner == "free":
				left = "-"
			case r.Least == simulator.Never:
				left = say("noend")
			case r.Most == simulator.Never:
				left = fmt.Sprintf("%v .. %s", r.Least, say("noend"))
			}
			line(say("stage."+r.Stage), say("owner."+r.Owner), left, fmt.Sprint(r.Views))
		}
		printLemmas(e, lang, rows)
	}
}

func printLemmas(e *console, lang string, rows []search.ViewRow) {
	for _, l := range search.Lemmas(rows) {
		how := "holds"
		switch {
		case l.Of == 0:
			how = "vacuous"
		case l.Against > 0:
			how = "fails"
		}
		e.Wrap("", text.Say(lang, "prove.lemma."+how, "lemma", text.Say(lang, "prove.lemma."+l.Key),
			"against", fmt.Sprint(l.Against), "of", fmt.Sprint(l.Of)))
	}
}

// faults says which faults may strike, and how often.
func (p *proveFlags) faults(proof *search.Proof, lang string) string {
	switch b := proof.Search.Bounds; {
	case b.Budget == "":
		return text.Say(lang, "play.nofaults")
	case b.Endless:
		return text.Say(lang, "prove.endless", "faults", strings.ReplaceAll(b.Faults(), "=any", ""))
	default:
		return b.Faults()
	}
}
