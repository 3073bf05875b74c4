// Package ci writes what build servers read: JUnit, the annotations and the summary of GitHub.
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
)

// A Verification is what came out, compared with a contract.
type Verification struct {
	Lang    string            // in which to write, as for text.Chosen
	Results []contract.Result // in the contract's order
	// Uncovered are locks in races of which the contract says nothing: nothing was checked, and nothing deviates.
	Uncovered []Uncovered
	// Certificate says what a search or a proof covers; "" of others.
	Certificate func(*contract.Result) string
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

// The kinds of expectations: races are played, searches made, and proofs are for any number of clients.
const (
	races = iota
	searches
	proofs
	kinds
)

func kindOf(r *contract.Result) int {
	return slices.Index([]bool{r.IsRace(), r.IsSearch(), r.IsProof()}, true)
}

// Message returns the reason for which a check is not as contracted, in one line.
func (v *Verification) Message(c *contract.Result) string {
	if c.Status == contract.NotRun {
		return v.say("verify.not-run")
	}
	p := &text.Printer{Lang: v.Lang}
	why := p.Each(func(lang string) string { return text.SayMessages(lang, c.Reasons) })
	if c.Status == contract.Inconclusive {
		return v.say("verify.inconclusive", "reasons", why)
	}
	return why
}

// Deviations are the checks that were run and are not as contracted.
func (v *Verification) Deviations() (list []*contract.Result) {
	for i := range v.Results {
		if s := v.Results[i].Status; s == contract.Differs || s == contract.Inconclusive {
			list = append(list, &v.Results[i])
		}
	}
	return list
}

// evidence explains a deviation: the line of the contract, how to reproduce it, and the run that shows it.
func (v *Verification) evidence(c *contract.Result) (string, error) {
	lines := []string{
		v.Message(c),
		v.say("verify.contract", "place", place(c), "want", c.Want()),
		v.say("verify.found", "got", c.Found()),
		v.say("verify.reproduce", "command", c.Command()),
	}
	if link := c.Trace(); link != "" {
		lines = append(lines, v.say("verify.replay", "command", "locklab run "+link))
	}
	if said := v.Certificate(c); said != "" {
		lines = append(lines, "", said)
	}
	var all strings.Builder
	all.WriteString(strings.Join(lines, "\n") + "\n")
	if c.Outcome == nil {
		return all.String(), nil
	}
	all.WriteString("\n")
	look := reports.Look{Width: reports.NarrowWidth, Lang: v.Lang}
	err := reports.Lanes(&all, c.Outcome.History, c.Outcome.Judgement, look)
	return all.String(), err
}

// place returns the line of the contract that is checked.
func place(c *contract.Result) string { return fmt.Sprintf("%s:%d", c.File, c.Line) }

// Text lists the deviations, each with the line that reproduces it.
func (v *Verification) Text(w io.Writer) error {
	var b strings.Builder
	for _, c := range v.Deviations() {
		b.WriteString(v.say("verify.deviation", "place", place(c), "lock", c.Lock.ID, "subject", c.Subject(),
			"message", v.Message(c)))
		b.WriteString("\n  " + c.Command() + "\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// JUnit's format has no standard; all readers know these elements. Without times, equal contracts give the same bytes.
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

// JUnit writes a test case for every check. A deviation is a failure; an inconclusive check and one that was not run
// are errors, so that neither looks like a pass. What no contract speaks of is skipped.
func (v *Verification) JUnit(w io.Writer) error {
	all := junitSuites{Name: "locklab verify", Suites: []junitSuite{{Name: "races"}, {Name: "searches"},
		{Name: "proofs"}}}
	for i := range v.Results {
		if err := all.Suites[kindOf(&v.Results[i])].add(v, &v.Results[i]); err != nil {
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

func (s *junitSuite) add(v *Verification, c *contract.Result) error {
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
			propertyEscapes.Replace(c.Name()), dataEscapes.Replace(v.Message(c)+"\n"+c.Command()))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Escapes of workflow commands, as in GitHub's actions/toolkit, packages/core/src/command.ts.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// MaxSummary is the size in bytes that no summary exceeds. GitHub drops those of more than 1 MiB.
const MaxSummary = 900 << 10

// Summary writes GitHub markdown: the deviations with their counterexamples, races, searches and proofs as tables, and
// the certificates. Parts that no longer fit are left out from the end, and counted.
func (v *Verification) Summary(w io.Writer) error {
	blocks := []string{"## locklab verify\n\n" + v.Counts() + "\n"}
	for _, c := range v.Deviations() {
		evidence, err := v.evidence(c)
		if err != nil {
			return err
		}
		blocks = append(blocks, fmt.Sprintf("\n### %s\n\n%s", c.Name(), fenced(text.InMarkup(evidence))))
	}
	blocks = append(blocks, v.table("term.race.name", races), v.table("verify.head.search", searches),
		v.table("verify.head.proof", proofs))
	for i := range v.Results {
		if c := &v.Results[i]; v.Certificate(c) != "" {
			blocks = append(blocks, fmt.Sprintf("\n<details><summary>%s: %s</summary>\n\n%s\n</details>\n", c.Name(),
				c.Found(), fenced(text.InMarkup(v.Certificate(c))+"\n")))
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
	for i := range v.Results {
		c := &v.Results[i]
		all[kindOf(c)]++
		if c.Status != contract.NotRun {
			done[kindOf(c)]++
		}
		if c.Status > contract.Met {
			bad[kindOf(c)]++
		}
	}
	switch {
	case done != all:
		return v.say("verify.counts.incomplete", "done", v.each(all, done[:]),
			"bad", strconv.Itoa(bad[races]+bad[searches]+bad[proofs]))
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
		if kind == proofs && all[kind] == 0 {
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
		case kind == searches && all[proofs] > 0:
			list = v.say("chart.list", "first", list, "next", text)
		default:
			list = v.say("verify.and", "first", list, "next", text)
		}
	}
	return list
}

// table has a row per subject and a column per lock, both in the order in which the contract names them first.
func (v *Verification) table(head string, of int) string {
	var locks, subjects []string
	cells := map[[2]string]string{}
	note := func(list *[]string, name string) {
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	for i := range v.Results {
		c := &v.Results[i]
		if kindOf(c) != of {
			continue
		}
		note(&locks, c.Lock.ID)
		note(&subjects, c.Subject())
		cells[[2]string{c.Lock.ID, c.Subject()}] = v.mark(c)
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
func (v *Verification) mark(c *contract.Result) string {
	switch c.Status {
	case contract.Met:
		return c.Found()
	case contract.NotRun:
		return v.say("verify.mark.not-run")
	case contract.Inconclusive:
		return v.say("verify.mark.inconclusive", "got", c.Found())
	}
	return v.say("verify.mark.differs", "got", c.Found())
}
