package reports

import (
	"time"

	"locklab/simulator/history"
)

// Summary says in a few words what the events of a history from the index from up to
// the index to (not included) were, and that some time passed with them.
func Summary(h *history.History, from, to int, passed time.Duration, lang string) string {
	v := newWording(lang, h)
	what, who := cell{}, ""
	for _, e := range h.Events[from:to] {
		if e.Client > 0 && e.Kind != history.Change {
			who = clientName(e.Client) + " "
		}
		if text := v.brief(e, len(what.texts) > 0); text != "" {
			what.texts = append(what.texts, text)
		}
	}
	text := v.cell(&what, 0)
	switch {
	case passed == 0:
		return who + text
	case text == "":
		return v.say("brief.passes", "span", Span(passed))
	}
	return v.say("brief.passes.and", "span", Span(passed), "what", text)
}

// brief is one event of a summary; more says that it is not the first one. A request
// is news only where nothing else happens.
func (v *wording) brief(e history.Event, more bool) string {
	s := &step{Event: e}
	if more && (e.Kind == history.Send || e.Kind == history.Done) {
		return ""
	}
	view := "brief"
	if e.Node == history.Resource {
		view = "brief.resource"
	}
	switch e.Kind {
	case history.Acquire, history.Released, history.Change:
		return ""
	case history.Send, history.Apply, history.Answer, history.Expire, history.Refuse, history.Done:
		if text := v.event(view, s, v.sent(s)); text != "" {
			return text
		}
	}
	if text := v.lane(s, v.sent(s)); text != "" {
		return text
	}
	return v.redis(s)
}
