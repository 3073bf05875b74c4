package locktest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/search"
	"locklab/simulator/explore"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A claim is what a test says of a verdict: how many faults it takes, and not fewer; or that it never comes about.
type claim struct {
	word verdict.Word
	par  int
}

const never = -1

// test returns the name of the sub-test of a claim.
func (c claim) test() string {
	if c.par == never {
		return "no " + string(c.word)
	}
	return string(c.word) + " can occur"
}

// claimed reads what a test says comes about: verdicts, each with one fault, or with as many as stand behind an @; or
// HOLDS. Of all others of words it says that they do not.
func claimed(finds []string, words []verdict.Word) ([]claim, error) {
	all := lists.Each(words, func(w verdict.Word) claim { return claim{w, never} })
	if strings.EqualFold(strings.TrimSpace(strings.Join(finds, " ")), string(verdict.Holds)) {
		return all, nil
	}
	for written := range strings.FieldsSeq(strings.Join(finds, " ")) {
		word, number, counted := strings.Cut(written, "@")
		par, err := strconv.Atoi(number)
		if !counted {
			par, err = 1, nil
		}
		at := slices.Index(words, verdict.Word(word))
		switch {
		case err != nil || par < 0:
			return nil, text.Errorf("locktest.claim.par", "claim", written)
		case at < 0:
			return nil, text.Errorf("locktest.claim.word", "verdict", word, "verdicts", reports.Words(words))
		case all[at].par != never:
			return nil, text.Errorf("locktest.claim.twice", "verdict", word)
		}
		all[at].par = par
	}
	return all, nil
}

// claims reads what a plan's test says, whose code has run alone: LIE wants Client.Says, the others their bounds.
func (p *plan) claims(finds []string) ([]claim, error) {
	words := p.study.Words()
	if p.any {
		words = explore.Provable
	}
	silent := func(w verdict.Word) bool {
		return w == verdict.Lie && !p.says.Load() || w == verdict.Fenced && !p.bounds.Fenced && p.bounds.Database == nil
	}
	words = slices.DeleteFunc(slices.Clone(words), silent)
	all, err := claimed(finds, words)
	for _, word := range []verdict.Word{verdict.Lie, verdict.Fenced, verdict.Slow, verdict.Noisy} {
		if err != nil && !slices.Contains(words, word) && strings.Contains(strings.Join(finds, " "), string(word)) {
			return nil, text.Errorf("locktest.claim.without", "verdict", word)
		}
	}
	return all, err
}

// An answer is what was found out about a verdict.
type answer struct {
	witness *search.Witness // nil: it was not found
	open    bool            // nor is it known that it does not come about
}

// contradicted returns why an answer about so many attempts contradicts the claim; "": it bears it out, or is none.
func (c claim) contradicted(a answer, attempts int) string {
	word, par := string(c.word), strconv.Itoa(c.par)
	switch {
	case a.witness == nil && c.par != never && !a.open && attempts == 1:
		return tell("locktest.judge.holds.once", "verdict", word, "par", par)
	case a.witness == nil && c.par != never && !a.open:
		return tell("locktest.judge.holds", "verdict", word, "par", par)
	case a.witness == nil:
		return ""
	case c.par == never:
		return tell("locktest.judge.breaks")
	case a.witness.Par != c.par:
		return tell("locktest.judge.par", "claim", par, "verdict", word, "par", strconv.Itoa(a.witness.Par))
	}
	return ""
}

// unclaimed returns what a test that claims nothing may claim: what was found; "": nothing, or it claims something.
func unclaimed(found *findings, finds []string, all []claim) string {
	var words []string
	if strings.TrimSpace(strings.Join(finds, "")) != "" {
		return ""
	}
	for _, c := range all {
		switch w := found.of(c.word).witness; {
		case w != nil && w.Par == 1:
			words = append(words, string(c.word))
		case w != nil:
			words = append(words, fmt.Sprintf("%s@%d", c.word, w.Par))
		}
	}
	return strings.Join(words, " ")
}

// judge compares what was found out with the claims: each in a test of its own, but for those that are open.
func (p *plan) judge(found *findings, finds []string, all []claim) {
	var open []claim // the search was cut
	first := unclaimed(found, finds, all)
	if first != "" {
		p.t.Error(say(text.Errorf("error.own.unclaimed", "test", p.t.Name(), "claim", first)))
	}
	if found.unanswered != "" {
		p.t.Error(found.unanswered)
	}
	if found.data != nil {
		found.data.Unclaimed, found.data.Unknown = first, found.unanswered
	}
	for _, c := range all {
		a := found.of(c.word)
		if a.open {
			open = append(open, c)
			continue
		}
		why := c.contradicted(a, p.bounds.Attempts)
		if found.data != nil && why != "" {
			found.data.Wrong = append(found.data.Wrong, string(c.word)+": "+why)
		}
		p.t.Run(c.test(), func(t *testing.T) {
			if first != "" && a.witness != nil {
				why = tell("locktest.judge.unclaimed")
			}
			if why != "" && a.witness != nil {
				t.Error(p.broken(*a.witness, why))
			} else if why != "" {
				t.Error(why)
			}
		})
	}
	if open != nil {
		words := lists.Each(open, func(c claim) verdict.Word { return c.word })
		said := tell("locktest.judge.open", "verdicts", reports.Words(words))
		if !p.any {
			said += p.tried(open)
		}
		p.t.Error(said)
	}
}
