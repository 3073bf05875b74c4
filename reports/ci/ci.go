// Package ci writes what build servers read: JUnit, the annotations and the summary of
// GitHub.
package ci

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Verification is what came out, compared with a contract.
type Verification struct {
	Lang   string  // in which to write, as for text.Chosen
	Checks []Check // in the contract's order
	// Uncovered are locks in races of which the contract says nothing: nothing was
	// checked, and nothing deviates.
	Uncovered []Uncovered
}

// An Uncovered is a lock of which a contract says nothing.
type Uncovered struct {
	Lock  string   `json:"lock"`
	Races []string `json:"races,omitempty"` // IDs; nil: in none does it say anything
}

func (v *Verification) say(key string, pairs ...string) string {
	return (&text.Printer{Lang: v.Lang}).Say(key, pairs...)
}

// about names the lock, and where there are others the scenarios.
func (v *Verification) about(u *Uncovered) string {
	if u.Races == nil {
		return u.Lock
	}
	return v.say("verify.in", "lock", u.Lock, "races", strings.Join(u.Races, ", "))
}

// A Check is one line of a contract.
type Check struct {
	Lock        string            `json:"lock"`
	Subject     string            `json:"subject"` // a race's ID, or the bounds of a search or a proof
	Kind        Kind              `json:"-"`
	File        string            `json:"file"` // where the contract says so
	Line        int               `json:"line"`
	Want        string            `json:"expected"` // verdicts
	Got         string            `json:"found"`    // likewise; "": it was not run
	Status      contract.Status   `json:"-"`
	Why         string            `json:"-"`               // it is not as contracted, in the Verification's language
	Reproduce   string            `json:"reproduce"`       // a line for a shell
	Trace       string            `json:"trace,omitempty"` // link to the run that shows it; "": there is none
	Certificate string            `json:"-"`               // of the coverage of a search; "": none
	History     *history.History  `json:"-"`               // of the counterexample; nil: none
	Judgement   verdict.Judgement `json:"-"`
}

// A Kind is what a check has done.
type Kind int

// Races are played, searches made, and proofs are for any number of clients.
const (
	Race Kind = iota
	Search
	Proof
	kinds
)

// Name is the check's, and no other's.
func (c *Check) Name() string { return c.Lock + "/" + c.Subject }

// Message returns the reason for which a check is not as contracted, in one line.
func (v *Verification) Message(c *Check) string {
	switch c.Status {
	case contract.NotRun:
		return v.say("verify.not-run")
	case contract.Inconclusive:
		return v.say("verify.inconclusive", "reasons", c.Why)
	}
	return c.Why
}

// Deviations are the checks that were run and are not as contracted.
func (v *Verification) Deviations() (list []*Check) {
	for i := range v.Checks {
		if s := v.Checks[i].Status; s == contract.Differs || s == contract.Inconclusive {
			list = append(list, &v.Checks[i])
		}
	}
	return list
}

// evidence is what explains a deviation: the line of the contract, how to
// reproduce it, and the run that shows it.
func (v *Verification) evidence(c *Check) (string, error) {
	lines := []string{
		v.Message(c),
		v.say("verify.contract", "place", c.place(), "want", c.Want),
		v.say("verify.found", "got", c.Got),
		v.say("verify.reproduce", "command", c.Reproduce),
	}
	if c.Trace != "" {
		lines = append(lines, v.say("verify.replay", "command", "locklab run "+c.Trace))
	}
	if c.Certificate != "" {
		lines = append(lines, "", c.Certificate)
	}
	var all strings.Builder
	all.WriteString(strings.Join(lines, "\n") + "\n")
	if c.History == nil {
		return all.String(), nil
	}
	all.WriteString("\n")
	err := reports.Lanes(&all, c.History, c.Judgement, reports.Look{Width: reports.NarrowWidth, Lang: v.Lang})
	return all.String(), err
}

// place returns the line of the contract that is checked.
func (c *Check) place() string { return fmt.Sprintf("%s:%d", c.File, c.Line) }

// Text lists the deviations, each with the line that reproduces it.
func (v *Verification) Text(w io.Writer) error {
	var b strings.Builder
	for _, c := range v.Deviations() {
		b.WriteString(v.say("verify.deviation", "place", c.place(), "lock", c.Lock, "subject", c.Subject,
			"message", v.Message(c)))
		b.WriteString("\n  " + c.Reproduce + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// JUnit's file format has no standard; these are the elements that all readers
// know. It contains no times, so that the same contract gives the same bytes.
type (
	junitSuites struct {
		XMLName  xml.Name     `xml:"testsuites"`
		Name     string       `xml:"name,attr"`
		Tests    int          `xml:"tests,attr"`
		Failures int          `xml:"failures,attr"`
		Errors   int          `xml:"errors,attr"`
		Skipped  int          `xml:"skipped,attr,omitempty"`
		Suites   []junitSuite `xml:"testsuite"`
	}
	junitSuite struct {
		Name     string      `xml:"name,attr"`
		Tests    int         `xml:"tests,attr"`
		Failures int         `xml:"failures,attr"`
		Errors   int         `xml:"errors,attr"`
		Skipped  int         `xml:"skipped,attr,omitempty"`
		Cases    []junitCase `xml:"testcase"`
	}
	junitCase struct {
		Name    string     `xml:"name,attr"`
		Class   string     `xml:"classname,attr"`
		Failure *junitBody `xml:"failure"`
		Error   *junitBody `xml:"error"`
		Skipped *junitSkip `xml:"skipped"`
	}
	junitSkip struct {
		Message string `xml:"message,attr"`
	}
	junitBody struct {
		Message string `xml:"message,attr"`
		Type    string `xml:"type,attr"`
		Text    string `xml:",cdata"`
	}
)

// JUnit writes a test case for every check. A deviation is a failure; an inconclusive
// check and one that was not run are errors, so that neither looks like a pass. What no
// contract speaks of is skipped.
func (v *Verification) JUnit(w io.Writer) error {
	all := junitSuites{Name: "locklab verify", Suites: []junitSuite{{Name: "races"}, {Name: "searches"},
		{Name: "proofs"}}}
	for i := range v.Checks {
		if err := all.Suites[v.Checks[i].Kind].add(v, &v.Checks[i]); err != nil {
			return err
		}
	}
	for i := range v.Uncovered {
		s := &all.Suites[0]
		s.Tests, s.Skipped = s.Tests+1, s.Skipped+1
		s.Cases = append(s.Cases, junitCase{
			Name: text.InMarkup(v.about(&v.Uncovered[i])), Class: "locklab." + s.Name,
			Skipped: &junitSkip{v.say("verify.not-covered")},
		})
	}
	for _, s := range all.Suites {
		all.Skipped += s.Skipped
		all.Tests, all.Failures, all.Errors = all.Tests+s.Tests, all.Failures+s.Failures, all.Errors+s.Errors
	}
	if _, err := io.WriteString(w, xml.Header); err != nil {
		return err
	}
	e := xml.NewEncoder(w)
	e.Indent("", "  ")
	return errors.Join(e.Encode(all), e.Close())
}

func (s *junitSuite) add(v *Verification, c *Check) error {
	out := junitCase{Name: text.InMarkup(c.Name()), Class: "locklab." + s.Name}
	s.Tests++
	if c.Status != contract.Met {
		evidence, err := v.evidence(c)
		if err != nil {
			return err
		}
		body := &junitBody{Message: text.InMarkup(v.Message(c)), Text: text.InMarkup(evidence)}
		if c.Status == contract.Differs {
			s.Failures++
			body.Type, out.Failure = "not as contracted", body
		} else {
			s.Errors++
			body.Type, out.Error = "could not tell", body
		}
	}
	s.Cases = append(s.Cases, out)
	return nil
}

// maxAnnotations leaves one of the ten that GitHub shows of a step to the step itself.
const maxAnnotations = 9

// Annotations writes GitHub workflow commands that mark deviations at the lines
// of the contract, at most nine: the last one then counts the rest.
func (v *Verification) Annotations(w io.Writer) error {
	var b strings.Builder
	list := v.Deviations()
	for i, c := range list {
		if i == maxAnnotations-1 && len(list) > maxAnnotations {
			fmt.Fprintf(&b, "::error title=locklab verify::%s\n",
				dataEscapes.Replace(v.say("verify.more", "n", strconv.Itoa(len(list)-i))))
			break
		}
		fmt.Fprintf(&b, "::error file=%s,line=%d,title=%s::%s\n", propertyEscapes.Replace(c.File), c.Line,
			propertyEscapes.Replace(c.Name()), dataEscapes.Replace(v.Message(c)+"\n"+c.Reproduce))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Escapes of workflow commands, as in GitHub's actions/toolkit, packages/core/src/command.ts.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// MaxSummary is the size in bytes that no summary exceeds. GitHub drops those
// of more than 1 MiB.
const MaxSummary = 900 << 10

// Summary writes GitHub markdown: the deviations with their counterexamples, races,
// searches and proofs as tables, and the certificates. Parts that no longer fit are left out from
// the end, and counted.
func (v *Verification) Summary(w io.Writer) error {
	blocks := []string{"## locklab verify\n\n" + v.Counts() + "\n"}
	for _, c := range v.Deviations() {
		evidence, err := v.evidence(c)
		if err != nil {
			return err
		}
		blocks = append(blocks, fmt.Sprintf("\n### %s\n\n%s", c.Name(), fenced(text.InMarkup(evidence))))
	}
	blocks = append(blocks, v.table("term.race.name", Race), v.table("verify.head.search", Search),
		v.table("verify.head.proof", Proof))
	for i := range v.Checks {
		if c := &v.Checks[i]; c.Certificate != "" {
			blocks = append(blocks, fmt.Sprintf("\n<details><summary>%s: %s</summary>\n\n%s\n</details>\n", c.Name(),
				c.Got, fenced(text.InMarkup(c.Certificate)+"\n")))
		}
	}
	_, err := io.WriteString(w, v.fit(blocks, MaxSummary))
	return err
}

// fit joins the blocks that fit.
func (v *Verification) fit(blocks []string, size int) string {
	const room = 200 // for the last sentence
	var b strings.Builder
	out := 0
	for _, s := range blocks {
		if b.Len()+len(s) > size-room {
			out++
			continue
		}
		b.WriteString(s)
	}
	if out > 0 {
		b.WriteString("\n" + v.say("verify.left-out", "n", strconv.Itoa(out)) + "\n")
	}
	return b.String()
}

// fenced is a block of code whose fence is longer than any in it.
func fenced(content string) string {
	fence := "```"
	for strings.Contains(content, fence) {
		fence += "`"
	}
	return fence + "text\n" + content + fence + "\n"
}

// Counts is the one line that sums up, with what is not covered.
func (v *Verification) Counts() string {
	all := v.counts()
	if v.Uncovered == nil {
		return all
	}
	var names []string
	for i := range v.Uncovered {
		names = append(names, v.about(&v.Uncovered[i]))
	}
	return all + " " + v.say("verify.not-covered.all", "locks", strings.Join(names, "; "))
}

func (v *Verification) counts() string {
	var all, done, bad [kinds]int
	for i := range v.Checks {
		c := &v.Checks[i]
		all[c.Kind]++
		if c.Status != contract.NotRun {
			done[c.Kind]++
		}
		if c.Status > contract.Met {
			bad[c.Kind]++
		}
	}
	switch {
	case done != all:
		return v.say("verify.counts.incomplete", "done", v.each(all, done[:]),
			"bad", strconv.Itoa(bad[Race]+bad[Search]+bad[Proof]))
	case bad != [kinds]int{}:
		return v.say("verify.counts.bad", "bad", v.each(all, bad[:]))
	}
	return v.say("verify.counts.good", "all", v.each(all, nil))
}

// countWords are the keys of the texts that count checks.
var countWords = [kinds]string{"verify.cells", "verify.searches", "verify.proofs"}

// each counts the races and the searches, and the proofs if there are any: so many of all, or without some all of them.
func (v *Verification) each(all [kinds]int, some []int) (list string) {
	for kind, key := range countWords {
		if kind == int(Proof) && all[kind] == 0 {
			continue
		}
		text := v.say(key, "n", strconv.Itoa(all[kind]))
		if all[kind] == 1 {
			text = v.say(key + ".1")
		}
		if some != nil {
			text = v.say(key+".of", "n", strconv.Itoa(some[kind]), "all", text)
		}
		switch {
		case list == "":
			list = text
		case kind == int(Search) && all[Proof] > 0:
			list = v.say("chart.list", "first", list, "next", text)
		default:
			list = v.say("verify.and", "first", list, "next", text)
		}
	}
	return list
}

// table has a row per subject and a column per lock, both in the order in which
// the contract names them first.
func (v *Verification) table(head string, of Kind) string {
	var locks, subjects []string
	cells := map[[2]string]string{}
	note := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for i := range v.Checks {
		c := &v.Checks[i]
		if c.Kind != of {
			continue
		}
		note(&locks, c.Lock)
		note(&subjects, c.Subject)
		cells[[2]string{c.Lock, c.Subject}] = v.mark(c)
	}
	if subjects == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n| %s | %s |\n|%s\n", v.say(head), strings.Join(locks, " | "),
		strings.Repeat(" --- |", len(locks)+1))
	for _, s := range subjects {
		fmt.Fprintf(&b, "| %s |", s)
		for _, l := range locks {
			fmt.Fprintf(&b, " %s |", cells[[2]string{l, s}])
		}
		b.WriteString("\n")
	}
	return b.String()
}

// mark is a check in a table: what came out, with a word where it should not have.
func (v *Verification) mark(c *Check) string {
	switch c.Status {
	case contract.Met:
		return c.Got
	case contract.NotRun:
		return v.say("verify.mark.not-run")
	case contract.Inconclusive:
		return v.say("verify.mark.inconclusive", "got", c.Got)
	}
	return v.say("verify.mark.differs", "got", c.Got)
}
