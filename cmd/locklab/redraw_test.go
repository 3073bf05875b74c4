package main

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/certificate"
	"locklab/scenarios"
	"locklab/scenarios/contract"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
)

// TestRedraw guards the simulator while it is drawn anew, and goes with that: what a search, a proof and a cell of each
// lock visit, find and say is what it was. A line has the numbers; witnesses' links, certificates and cells are sums.
func TestRedraw(t *testing.T) {
	effort.OnlyExhaustive(t, "it searches every lock four times, and proves and plays the contract")
	var all strings.Builder
	for _, e := range algorithms.All() {
		for _, budget := range []string{"", "crash=1", "pause=1", faultOfServer(e)} {
			all.WriteString(visited(t, e, budget))
		}
	}
	for _, r := range contract.Own() {
		if r.IsProof() {
			p, err := study.Prove(t.Context(), r.Strategy, r.Bounds, r.AnyNumber.Endless)
			if err != nil {
				t.Fatal(err)
			}
			fmt.Fprintf(&all, "prove %s: %d views, %d worlds, %d transitions, %v %s\n", r.Name(),
				p.Views, p.Worlds, p.Transitions, p.Harms, sum(certificate.OfProof(p, "en")))
		}
	}
	rows, err := study.Matrix(t.Context(), algorithms.All(), scenarios.All(), 0, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		cells := ""
		for _, o := range row {
			cells += fmt.Sprintln(o.Strategy.ID, o.Verdicts, o.Reached, o.Trace.Link())
		}
		fmt.Fprintf(&all, "cells %s: %s\n", row[0].Scenario.ID, sum(cells))
	}
	golden(t, "redraw.txt", all.String())
}

func sum(s string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(s)))[:16] }

// faultOfServer is a fault of the server on which a lock lives.
func faultOfServer(e lock.Entry) string {
	if e.OnZooKeeper() {
		return "expire-session=1"
	}
	return "restart=1"
}

// visited is the line of a search at any timing, of two clients that take the lock once.
func visited(t *testing.T, e lock.Entry, budget string) string {
	b := study.DefaultBounds()
	b.Clients, b.Attempts, b.Timing, b.Uses, b.MaxStates = 2, 1, study.AnyTiming, 0, 150_000
	b.Budget = faults.Budget(budget)
	name := fmt.Sprintf("explore %s %s: ", e.ID, cmp.Or(budget, "none"))
	s, err := study.Explore(t.Context(), e, b)
	if err != nil {
		return name + err.Error() + "\n"
	}
	links := ""
	for _, w := range s.Witnesses {
		by := s.FoundBy(w).Bounds.String()
		trace := simulator.Trace{Strategy: e.ID, Scenario: study.SearchID, Settings: by, Choices: w.Choices}
		links += trace.Link() + "\n"
	}
	said := sum(certificate.Of(s, "en"))
	return name + fmt.Sprintln(s.States, s.Transitions, s.Complete, s.AllPars(), sum(links), said)
}
