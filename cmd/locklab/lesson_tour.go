package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locklab/faults"
	"locklab/reports/lessons"
	"locklab/scenarios"
	"locklab/scenarios/race"
)

func (a *app) explainPath(screen string) error {
	first, last := 1, lessons.PathScreens
	if screen != "" {
		n, err := strconv.Atoi(screen)
		if err != nil || n < 1 || n > last {
			return fmt.Errorf("there is no screen %q: the path has 1 to %d", screen, last)
		}
		first, last = n, n
	}
	if a.json {
		texts, err := a.texts("path.")
		if err != nil {
			return err
		}
		return a.printJSON(explainedJSON{Version: schema, Texts: texts})
	}
	if screen == "" {
		a.capitals()
		a.printf("\n")
	}
	for n := first; n <= last; n++ {
		if n > first {
			a.printf("\n%s\n\n", strings.Repeat("-", min(a.width, 60)))
		}
		if err := a.screen(n); err != nil {
			return err
		}
	}
	if last < lessons.PathScreens {
		a.next(fmt.Sprintf("locklab explain path %d", last+1), "locklab explain interview")
	} else {
		a.next("locklab explain interview", "locklab explain glossary", "locklab demo")
	}
	return nil
}

// screen is one of the path: a fall that is played, the idea that mends it, and what
// becomes of that.
func (a *app) screen(n int) error {
	book, key := lessons.In("en"), "path."+strconv.Itoa(n)
	e, err := race.Strategy(book.Name(key + ".lock"))
	if err != nil {
		return internal(err)
	}
	sc, err := scenarios.ByName(book.Name(key + ".scenario"))
	if err != nil {
		return internal(err)
	}
	o, err := a.stage.play(e, sc)
	if err != nil {
		return err
	}
	for _, lang := range a.langs() {
		lines, err := a.teacher(lang).lines(key + ".title")
		if err != nil {
			return internal(err)
		}
		a.wrap(fmt.Sprintf("%d/%d  ", n, lessons.PathScreens), strings.Join(lines, " "))
	}
	a.part(beside(a.label("fall")) + "locklab run " + e.ID + " " + sc.ID)
	if o.History != nil {
		if err := a.notation(o); err != nil {
			return err
		}
	}
	a.wrap("  = ", a.outcomeWords(o))
	return a.textParts([2]string{"idea", key + ".idea"}, [2]string{"then", key + ".next"})
}

func (a *app) explainInterview(topic string) error {
	topics := topicsOf("interview.", ".question")
	if topic != "" && !slices.Contains(topics, topic) {
		return fmt.Errorf("there is no question on %q:%s there are %s", topic, faults.DidYouMean(topic, topics), strings.Join(topics, ", "))
	}
	if a.json {
		texts, err := a.texts("interview.")
		if err != nil {
			return err
		}
		return a.printJSON(explainedJSON{Version: schema, Texts: texts})
	}
	if topic != "" {
		if err := a.question(topic); err != nil {
			return err
		}
		o, err := a.backing(topic)
		if err != nil || o.History == nil {
			return err
		}
		a.printf("\n")
		if err := a.notation(o); err != nil {
			return err
		}
		a.next("locklab explain "+o.Strategy.ID+" "+o.Scenario.ID, "locklab explain interview")
		return nil
	}
	a.wrap("", a.label("interview"))
	a.capitals()
	if err := a.textParts([2]string{"short", "interview.short"}, [2]string{"long", "interview.long"}); err != nil {
		return err
	}
	a.part(a.label("questions"))
	for _, t := range topics {
		a.printf("\n")
		if err := a.question(t); err != nil {
			return err
		}
	}
	a.next("locklab explain interview "+topics[0], "locklab explain path", "locklab explain glossary")
	return nil
}

// question is one question with its answer and what backs it.
func (a *app) question(topic string) error {
	for _, lang := range a.langs() {
		lines, err := a.teacher(lang).lines("interview." + topic + ".question")
		if err != nil {
			return internal(err)
		}
		a.wrap("? ", strings.Join(lines, " "))
		if lines, err = a.teacher(lang).lines("interview." + topic + ".answer"); err != nil {
			return internal(err)
		}
		for _, line := range lines {
			a.wrap("  ", line)
		}
	}
	o, err := a.backing(topic)
	if err != nil {
		return err
	}
	a.wrap("  ", beside(a.label("trace"))+"locklab run "+o.Strategy.ID+" "+o.Scenario.ID+" = "+a.outcomeWords(o))
	return nil
}

// backing is the run that backs an answer.
func (a *app) backing(topic string) (*race.Outcome, error) {
	text := lessons.In("en").Name("interview." + topic + ".trace")
	id, raceID, _ := strings.Cut(text, " ")
	e, err := race.Strategy(id)
	if err != nil {
		return nil, internal(err)
	}
	sc, err := scenarios.ByName(strings.TrimSpace(raceID))
	if err != nil {
		return nil, internal(err)
	}
	return a.stage.play(e, sc)
}

func (a *app) explainGlossary(name string) error {
	slugs := terms()
	if name != "" {
		slug, ok := termOf(name)
		if !ok {
			return fmt.Errorf("the glossary has no %q:%s 'locklab explain glossary' shows all", name, faults.DidYouMean(name, slugs))
		}
		slugs = []string{slug}
	}
	if a.json {
		texts, err := a.texts("term.")
		if name != "" {
			texts, err = a.texts("term." + slugs[0] + ".")
		}
		if err != nil {
			return err
		}
		return a.printJSON(explainedJSON{Version: schema, Texts: texts})
	}
	for _, slug := range slugs {
		for _, lang := range a.langs() {
			head, english := lessons.In(lang).Name("term."+slug+".name"), lessons.In("en").Name("term."+slug+".name")
			if head != english {
				head += "（" + english + "）"
			}
			lines, err := a.teacher(lang).lines("term." + slug + ".text")
			if err != nil {
				return internal(err)
			}
			a.printf("%s\n", head)
			for _, line := range lines {
				a.wrap("  ", line)
			}
		}
	}
	if name != "" {
		a.next("locklab explain glossary", "locklab explain path")
	}
	return nil
}

// topicsOf are the names between a prefix and a suffix of the lessons' keys.
func topicsOf(prefix, suffix string) (names []string) {
	for _, key := range lessons.In("en").Keys(prefix) {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(key, prefix), suffix); ok {
			names = append(names, name)
		}
	}
	return names
}

func terms() []string { return topicsOf("term.", ".name") }

// termOf finds a term by its slug, by its name in either language, or by the verdict
// that it explains.
func termOf(name string) (slug string, ok bool) {
	for _, slug := range terms() {
		key := "term." + slug + ".name"
		word, _, _ := strings.Cut(lessons.In("en").Name("term."+slug+".text"), ":") // a verdict's
		for _, n := range []string{slug, word, lessons.In("en").Name(key), lessons.In("zh").Name(key)} {
			if strings.EqualFold(n, name) {
				return slug, true
			}
		}
	}
	return "", false
}
