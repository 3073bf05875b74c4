package lessons

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
)

// Read is a lesson in one language, as lines that are not folded: the path, one of its screens
// (path 3), the interview, one of its topics (interview ttl), the glossary, a term, a lock, a
// race, or a lock in a race (token gc-pause). The error names what there is no lesson of.
func Read(ctx context.Context, stage *Stage, lang, name string) (string, error) {
	var b strings.Builder
	p := &text.Printer{Out: &b, Lang: lang}
	t := NewTeacher(ctx, p, reports.Look{}, stage)
	if err := t.read(strings.Fields(name)); err != nil {
		return "", err
	}
	return b.String(), p.Err
}

func (t *Teacher) read(words []string) error {
	first, second := "", ""
	if len(words) > 0 {
		first = words[0]
	}
	if len(words) > 1 {
		second = words[1]
	}
	unknown := text.Errorf("error.explain", "name", strings.Join(words, " "), "near", "")
	switch first {
	case "path":
		if second == "" {
			return t.Path(1, PathScreens)
		}
		n, err := strconv.Atoi(second)
		if err != nil || n < 1 || n > PathScreens {
			return text.Errorf("error.path", "name", second, "last", PathScreens)
		}
		return t.Path(n, n)
	case "interview":
		switch {
		case second == "":
			return t.Interview()
		case slices.Contains(Topics(), second):
			return t.Question(second)
		}
		return text.Errorf("error.topic", "name", second, "near", text.Near(second, Topics()), "names", strings.Join(Topics(), ", "))
	case "glossary":
		return t.Glossary(Terms()...)
	case "debate":
		return t.Debate()
	}
	if e, ok := algorithms.ByName(first); ok {
		if second == "" {
			return t.Lock(e)
		}
		sc, err := scenarios.ByName(second)
		if err != nil {
			return err
		}
		o, err := t.stage.Play(e, sc)
		if err != nil {
			return err
		}
		return t.Outcome(o)
	}
	if sc, err := scenarios.ByName(first); err == nil {
		return t.Race(sc)
	}
	if term, ok := FindTerm(first); ok {
		return t.Glossary(term)
	}
	return unknown
}
