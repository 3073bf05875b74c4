// Package ci writes what build servers read: JUnit, the annotations and the summary of
// GitHub.
package ci

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"locklab/reports"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// A Verification is what came out, compared with a contract.
type Verification struct {
	Checks []Check // in the contract's order
	// Uncovered are locks in scenarios of which the contract says nothing: nothing was
	// checked, and nothing deviates.
	Uncovered []Uncovered
}

// An Uncovered is a lock of which a contract says nothing.
type Uncovered struct {
	Strategy  string
	Scenarios []string // IDs; nil: in none does it say anything
}

// text names the lock, and where there are others the scenarios.
func (u *Uncovered) text() string {
	if u.Scenarios == nil {
		return u.Strategy
	}
	return u.Strategy + " (in " + strings.Join(u.Scenarios, ", ") + ")"
}

// A Check is one line of a contract.
type Check struct {
	Strategy  string
	Subject   string // a scenario's ID, or the bounds of a search
	IsSearch  bool
	File      string // where the contract says so
	Line      int
	Want, Got string // verdicts; Got "": it was not run
	Status    Status
	Reasons   []string // why it is not as contracted
	Reproduce string   // a line for a shell
	Trace     string   // link to the run that shows it; "": there is none
	// Certificate is what a search covered; "": none.
	Certificate string
	History     *history.History // of the counterexample; nil: none
	Judgement   verdict.Judgement
}

// A Status is the result of a check.
type Status int

const (
	NotRun       Status = iota // stopped before it was its turn
	OK                         // as contracted
	Inconclusive               // cut short: it is unknown whether it is as contracted
	Differs                    // not as contracted
)

// Name is the check's, and no other's.
func (c *Check) Name() string { return c.Strategy + "/" + c.Subject }

// Message is why the check is not as contracted, in one line.
func (c *Check) Message() string {
	if c.Status == NotRun {
		return "stopped before the end: not checked"
	}
	text := strings.Join(c.Reasons, "; ")
	if c.Status == Inconclusive {
		text = "could not tell: " + text
	}
	return text
}

// Deviations are the checks that were run and are not as contracted.
func (v *Verification) Deviations() (list []*Check) {
	for i := range v.Checks {
		if s := v.Checks[i].Status; s == Differs || s == Inconclusive {
			list = append(list, &v.Checks[i])
		}
	}
	return list
}

// evidence is what helps to understand a deviation: the line of the contract, how to
// reproduce it, and the run that shows it.
func (c *Check) evidence(w io.Writer) error {
	fmt.Fprintf(w, "%s\ncontract: %s:%d: %s\nfound: %s\nreproduce: %s\n", c.Message(), c.File, c.Line, c.Want, c.Got, c.Reproduce)
	if c.Trace != "" {
		fmt.Fprintf(w, "replay: locklab replay %s\n", c.Trace)
	}
	if c.Certificate != "" {
		fmt.Fprintf(w, "\n%s\n", c.Certificate)
	}
	if c.History == nil {
		return nil
	}
	fmt.Fprintln(w)
	return reports.Lanes(w, c.History, c.Judgement, reports.Options{Width: reports.NarrowWidth})
}

// Text lists the deviations, each with the line that reproduces it.
func (v *Verification) Text(w io.Writer) error {
	var b strings.Builder
	for _, c := range v.Deviations() {
		fmt.Fprintf(&b, "%s:%d: %s in %s: %s\n  %s\n", c.File, c.Line, c.Strategy, c.Subject, c.Message(), c.Reproduce)
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
	all := junitSuites{Name: "locklab verify", Suites: []junitSuite{{Name: "scenarios"}, {Name: "searches"}}}
	for i := range v.Checks {
		c := &v.Checks[i]
		s := &all.Suites[0]
		if c.IsSearch {
			s = &all.Suites[1]
		}
		if err := s.add(c); err != nil {
			return err
		}
	}
	for i := range v.Uncovered {
		s := &all.Suites[0]
		s.Tests, s.Skipped = s.Tests+1, s.Skipped+1
		s.Cases = append(s.Cases, junitCase{
			Name: printable(v.Uncovered[i].text()), Class: "locklab." + s.Name, Skipped: &junitSkip{notCovered},
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

func (s *junitSuite) add(c *Check) error {
	out := junitCase{Name: printable(c.Name()), Class: "locklab." + s.Name}
	s.Tests++
	if c.Status != OK {
		var text strings.Builder
		if err := c.evidence(&text); err != nil {
			return err
		}
		body := &junitBody{Message: printable(c.Message()), Text: printable(text.String())}
		if c.Status == Differs {
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

// printable replaces what XML cannot hold, not even escaped, and what controls a terminal
// or the direction of a text, by a visible mark.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n' || r == '\r':
			return r
		case unicode.IsControl(r) || unicode.Is(unicode.Bidi_Control, r) || r == 0xfffe || r == 0xffff:
			return utf8.RuneError
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
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
			fmt.Fprintf(&b, "::error title=locklab verify::and %d more deviations\n", len(list)-i)
			break
		}
		fmt.Fprintf(&b, "::error file=%s,line=%d,title=%s::%s\n", commandProperty(c.File), c.Line,
			commandProperty(c.Name()), commandData(c.Message()+"\n"+c.Reproduce))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Escapes of workflow commands, as in GitHub's actions/toolkit, packages/core/src/command.ts.
var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

func commandData(s string) string     { return dataEscapes.Replace(s) }
func commandProperty(s string) string { return propertyEscapes.Replace(s) }

// MaxSummary is the size in bytes that no summary exceeds. GitHub drops those
// of more than 1 MiB.
const MaxSummary = 900 << 10

// Summary writes GitHub markdown: the deviations with their counterexamples, races and
// searches as tables, and the certificates. Parts that no longer fit are left out from
// the end, and counted.
func (v *Verification) Summary(w io.Writer) error {
	blocks := []string{"## locklab verify\n\n" + v.Counts() + "\n"}
	for _, c := range v.Deviations() {
		var text strings.Builder
		if err := c.evidence(&text); err != nil {
			return err
		}
		blocks = append(blocks, fmt.Sprintf("\n### %s\n\n%s", c.Name(), fenced(printable(text.String()))))
	}
	blocks = append(blocks, v.table("scenario", false), v.table("search", true))
	for i := range v.Checks {
		if c := &v.Checks[i]; c.Certificate != "" {
			blocks = append(blocks, fmt.Sprintf("\n<details><summary>%s: %s</summary>\n\n%s\n</details>\n", c.Name(), c.Got, fenced(printable(c.Certificate)+"\n")))
		}
	}
	_, err := io.WriteString(w, fit(blocks, MaxSummary))
	return err
}

// fit joins the blocks that fit.
func fit(blocks []string, size int) string {
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
		fmt.Fprintf(&b, "\n%d parts are left out: the summary would be too long.\n", out)
	}
	return b.String()
}

// fenced is a block of code whose fence is longer than any in it.
func fenced(text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + "text\n" + text + fence + "\n"
}

const notCovered = "not covered: no contract speaks of it"

// Counts is the one line that sums up, with what is not covered.
func (v *Verification) Counts() string {
	text := v.counts()
	if v.Uncovered == nil {
		return text
	}
	var names []string
	for i := range v.Uncovered {
		names = append(names, v.Uncovered[i].text())
	}
	return text + " Not covered, since no contract speaks of it: " + strings.Join(names, "; ") + "."
}

func (v *Verification) counts() string {
	var all, bad, asked [2]int // races, searches
	for i := range v.Checks {
		k := 0
		if v.Checks[i].IsSearch {
			k = 1
		}
		all[k]++
		switch v.Checks[i].Status {
		case NotRun:
			continue
		case Differs, Inconclusive:
			bad[k]++
		}
		asked[k]++
	}
	cells, searches := counted(all[0], "cell", "cells"), counted(all[1], "search", "searches")
	switch {
	case asked != all:
		return fmt.Sprintf("Incomplete: %d of %s and %d of %s done, %d not as contracted.", asked[0], cells, asked[1], searches, bad[0]+bad[1])
	case bad != [2]int{}:
		return fmt.Sprintf("%d of %s and %d of %s not as contracted.", bad[0], cells, bad[1], searches)
	}
	return fmt.Sprintf("%s and %s as contracted.", cells, searches)
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// table has a row per subject and a column per lock, both in the order in which
// the contract names them first.
func (v *Verification) table(head string, searches bool) string {
	var locks, subjects []string
	cells := map[[2]string]string{}
	note := func(list *[]string, name string) {
		for _, n := range *list {
			if n == name {
				return
			}
		}
		*list = append(*list, name)
	}
	for i := range v.Checks {
		c := &v.Checks[i]
		if c.IsSearch != searches {
			continue
		}
		note(&locks, c.Strategy)
		note(&subjects, c.Subject)
		cells[[2]string{c.Strategy, c.Subject}] = c.mark()
	}
	if subjects == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\n| %s | %s |\n|%s\n", head, strings.Join(locks, " | "), strings.Repeat(" --- |", len(locks)+1))
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
func (c *Check) mark() string {
	switch c.Status {
	case OK:
		return c.Got
	case NotRun:
		return "not checked"
	case Inconclusive:
		return "**could not tell** " + c.Got
	}
	return "**differs** " + c.Got
}
