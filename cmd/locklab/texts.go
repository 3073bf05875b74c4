package main

import (
	"cmp"
	"strconv"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
)

// bilingual returns the text of a key in both languages; empty without such a key.
func bilingual(key string, pairs ...string) (t reports.Text) {
	if text.In("en").Has(key) {
		t = reports.Text{EN: text.Say("en", key, pairs...), ZH: text.Say("zh", key, pairs...)}
	}
	return t
}

// story returns a text of a scenario: its title, story, numbers or cure.
func story(sc race.Scenario, part string) reports.Text {
	return bilingual("scenario." + sc.ID + "." + part)
}

// runTitle returns the title of a run: its scenario's, or the bounds of its search.
func runTitle(o *race.Outcome) reports.Text {
	if o.Scenario.ID != study.SearchID {
		return story(o.Scenario, "title")
	}
	b, _ := study.ParseBounds(o.Trace.Settings) // the run was played with it
	clients, attempts := strconv.Itoa(b.Clients), strconv.Itoa(b.Attempts)
	title := func(lang string) string {
		return text.Say(lang, "search.title", "clients", clients, "attempts", attempts, "faults", cmp.Or(b.Budget, text.Say(lang, "search.nofaults")))
	}
	return reports.Text{EN: title("en"), ZH: title("zh")}
}

// reason returns the text of a reason: kind is "why" or "na".
func reason(kind string, r race.Reason) reports.Text {
	if r == "" {
		return reports.Text{}
	}
	return reports.Text{EN: text.Reason("en", kind, string(r)), ZH: text.Reason("zh", kind, string(r))}
}
