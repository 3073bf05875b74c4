package page

import (
	"strings"
	"testing"

	"locklab/reports"
	"locklab/reports/internal/samples"
	"locklab/simulator/history"
)

// Names, requests and replies are text on the page: they add no element.
func TestMarkupInNames(t *testing.T) {
	const name = `]]>--></pre></script><script>alert("x")</script><img src=x onerror=alert(1)>'` + "\x1b\x00"
	o := samples.Played(t, "token", "gc-pause")
	h, j := o.History, o.Judgement
	h.Lock, h.Race, h.Key = name, name, name
	for i := range h.Events {
		if e := &h.Events[i]; e.Kind == history.Apply || e.Kind == history.Send {
			e.Cmd = append(e.Cmd, name)
			e.Reply = name
		}
	}
	r := reportSample(t)
	plain := strings.Count(pageOf(t, r), "<script")
	r.Title, r.Command, r.Seeds, r.Assumptions = name, name, name, []string{name}
	r.Grid.Locks[0].ID, r.Grid.Races[0].ID = name, name
	run, listings := reports.RunOf(h, j, j.Verdicts, []string{"en"}, true)
	run.Replay = name
	r.Runs["token"].Add(name, run, listings) // a lock's id is a name that the lab gives
	page := pageOf(t, r)
	if n := strings.Count(page, "<script"); n != plain {
		t.Errorf("%d elements that run, %d without the names", n, plain)
	}
	if strings.Contains(page, "<img") || strings.ContainsAny(page, "\x1b\x00") {
		t.Error("a name has become an element, or controls a terminal")
	}
	if !strings.Contains(page, "&lt;script&gt;alert(") {
		t.Error("the names are missing")
	}
}
