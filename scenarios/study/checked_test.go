package study_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"locklab/reports/certificate"
	"locklab/reports/text"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator/explore"
)

// What is written comes back: the search with its certificate and traces, and the runs
// with their code.
func TestChecked(t *testing.T) {
	token := racetest.Must(race.Strategy("token"))(t)
	b := study.DefaultBounds()
	b.Budget = "pause=1"
	s := exploring(t, token, b)
	cut := b
	cut.MaxStates = 20
	part := exploring(t, token, cut)
	o := racetest.Must(study.ReplayWithCodeOn(s.Strategy, s.Witnesses[0].Trace))(t)
	played, err := study.Demo()
	if err != nil {
		t.Fatal(err)
	}
	search := study.CheckedSearch{Search: s}
	search.Runs = []study.CheckedRun{study.NewCheckedRun(o)}
	c := &study.Checked{
		Test: "token", Nodes: 1, TTL: b.TTL, Search: &search, Pars: []study.CheckedSearch{{Search: part}},
		Races: []study.CheckedRun{study.NewCheckedRun(played)},
	}
	var data bytes.Buffer
	if err := c.Write(&data); err != nil {
		t.Fatal(err)
	}
	back := racetest.Must(study.ReadChecked(strings.NewReader(data.String())))(t)
	for _, pair := range []struct {
		data study.CheckedSearch
		want *study.Search
	}{{*back.Search, s}, {back.Pars[0], part}} {
		got := pair.data.Search
		got.SetStrategy(token)
		if diff := cmp.Diff(certificate.Of(pair.want, "en"), certificate.Of(got, "en")); diff != "" {
			t.Errorf("the certificate:\n%s", diff)
		}
		if diff := cmp.Diff(pair.want.Witnesses, got.Witnesses, cmpopts.IgnoreUnexported(explore.Witness{})); diff != "" {
			t.Errorf("the witnesses:\n%s", diff)
		}
	}
	for i, want := range []*race.Outcome{o, played} {
		got := racetest.Must(append(back.Search.Runs, back.Races...)[i].Outcome(token))(t)
		if diff := cmp.Diff(want.History, got.History, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("the history:\n%s", diff)
		}
		if diff := cmp.Diff(want.Judgement, got.Judgement, cmpopts.EquateEmpty()); diff != "" || got.Scenario.ID != want.Scenario.ID || got.Trace.Link() != want.Trace.Link() {
			t.Errorf("%s becomes %s:\n%s", want.Scenario.ID, got.Scenario.ID, diff)
		}
	}
	for given, want := range map[string]string{
		"{": "cannot be read",
		strings.Replace(data.String(), `"version":2`, `"version":7`, 1): "of version 7",
	} {
		if _, err := study.ReadChecked(strings.NewReader(given)); err == nil || !strings.Contains(text.SayError("en", err), want) {
			t.Errorf("%.20s: %v, want %q", given, err, want)
		}
	}
}
