package lessons

import (
	"bytes"
	"context"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
)

// fixed are the pages that are about no lock, race, run, fault or article.
var fixed = map[string]Page{
	"path": {Prefix: "path.", make: func(m *maker) { m.path(1, PathScreens) }, parts: PathScreens,
		part: (*maker).path},
	"interview": {Prefix: "interview.", make: (*maker).interview},
	"glossary":  {Prefix: "term.", make: func(m *maker) { m.glossary(Terms()...) }},
	"debate": {Prefix: "debate.", make: func(m *maker) { m.debate(1, DebatePoints) }, parts: DebatePoints,
		part: (*maker).debate},
	"need":  {Prefix: "need.", make: (*maker).need},
	"judge": {Prefix: "judging.", make: (*maker).judging},
}

// Find returns the page of one or two words: the path or the debate, one of its parts (path 3), the interview, one of
// its topics (interview ttl), the glossary, judge, need, a term, a fault, an article (004), a lock, a race, or a lock
// in a race (token gc-pause). ok: false: no page has this name.
func Find(first, second string) (p Page, ok bool, err error) {
	p, ok = fixed[first]
	switch {
	case second == "" && !ok:
		p, ok = named(first)
		return p, ok, nil
	case !ok:
		p, err = runPage(first, second)
	case second == "":
	case p.parts > 0:
		n, wrong := strconv.Atoi(second)
		if wrong != nil || n < 1 || n > p.parts {
			err = text.Errorf("error.part", "page", first, "name", second, "last", p.parts)
		}
		p.make = func(m *maker) { p.part(m, n, n) }
	case first == "need", first == "judge":
		err = text.Errorf("error.noarguments", "command", "locklab explain "+first, "name", second)
	case first == "interview":
		if n, wrong := strconv.Atoi(second); wrong == nil && 1 <= n && n <= len(Topics()) {
			second = Topics()[n-1]
		}
		p, err = topicPage(second)
	case first == "glossary":
		term, known := FindTerm(second)
		if !known {
			err = text.Errorf("error.term", "name", second, "near", text.Near(second, Terms()))
		}
		p = termPage(term)
	}
	return p, true, err
}

func topicPage(topic string) (Page, error) {
	if lower := strings.ToLower(topic); slices.Contains(Topics(), lower) {
		topic = lower
	}
	return Page{Prefix: "interview.", make: func(m *maker) { m.topic(topic) }}, noTopic(topic)
}

// noTopic returns the error about a topic that the interview does not have; nil: it has it.
func noTopic(name string) error {
	topics := Topics()
	about := lists.Pick(topics, func(topic string) bool { // a lock, on whose runs its answer rests
		return strings.Contains(", "+text.Say("en", "interview."+topic+".runs"), ", "+name+" ")
	})
	switch {
	case slices.Contains(topics, name):
		return nil
	case about != nil:
		return text.Errorf("error.topic.lock", "name", name, "names", strings.Join(about, ", "))
	}
	return text.Errorf("error.topic", "name", name, "near", text.Near(name, topics),
		"names", strings.Join(topics, ", "))
}

func termPage(term string) Page {
	return Page{Prefix: "term." + term + ".", make: func(m *maker) {
		m.glossary(term)
		m.next("locklab explain glossary", "locklab explain path")
	}}
}

func runPage(id, raceID string) (p Page, err error) {
	if p.Lock, err = race.Lock(id); err != nil {
		_, noRace := scenarios.ByName(id)
		if _, noLock := race.Lock(raceID); noRace == nil && noLock == nil {
			err = text.Errorf("error.run.swapped", "name", id, "command", "locklab explain "+raceID+" "+id)
		}
		return p, err
	}
	p.Race, err = scenarios.ByName(raceID)
	p.make = func(m *maker) {
		if o, err := m.stage.Play(p.Lock, p.Race); !m.failed(err) {
			m.outcome(o)
		}
	}
	return p, err
}

// OfRun returns the page of a run: of a race, or found by a search.
func OfRun(o *race.Outcome) Page { return Page{make: func(m *maker) { m.outcome(o) }} }

// named returns the page of a lock, a race, a fault, an article, a term or a topic of the interview.
func named(name string) (p Page, ok bool) {
	called := lists.Pick(algorithms.All(), func(e lock.Entry) bool { // by its name in pictures
		return slices.ContainsFunc(text.Languages(), func(lang string) bool { return text.Named(e.ID, lang) == name })
	})
	if e, ok := algorithms.ByName(append(lists.Each(called, func(e lock.Entry) string { return e.ID }), name)[0]); ok {
		return Page{Prefix: "lock." + e.ID + ".", Lock: e, make: func(m *maker) { m.lock(e) }}, true
	}
	if sc, err := scenarios.ByName(name); err == nil {
		return Page{Prefix: "race." + sc.ID + ".", Race: sc, make: func(m *maker) { m.race(sc) }}, true
	}
	if f, err := faults.ByName(name); err == nil {
		return Page{Prefix: "title.fault." + f.Name, Fault: f, make: func(m *maker) { m.fault(f) }}, true
	}
	if slices.Contains(namesBetween("article.", ""), name) {
		return Page{Prefix: "article." + name, Number: name, make: func(m *maker) { m.article(name) }}, true
	}
	if term, ok := FindTerm(name); ok {
		return termPage(term), true
	}
	page, err := topicPage(name)
	return page, err == nil
}

// Read returns the page of a name in one language, not folded. The error names what there is no page of.
func (s *Stage) Read(ctx context.Context, lang, name string) (string, error) {
	words := append(strings.Fields(name), "", "")
	page, ok, err := Find(words[0], words[1])
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", NoPage(strings.Join(strings.Fields(name), " "))
	}
	page.Runs = true
	blocks, err := page.Blocks(ctx, s, lang)
	if err != nil {
		return "", err
	}
	var b bytes.Buffer
	p := &text.Printer{Out: &b, Lang: lang}
	Text(p, reports.Look{}, blocks)
	return b.String(), p.Err
}

// Texts returns all texts whose keys begin with a prefix, filled in, by language and key.
func (s *Stage) Texts(lang, prefix string) (map[string]map[string][]string, error) {
	all := map[string]map[string][]string{}
	for _, lang := range text.Chosen(lang) {
		all[lang] = map[string][]string{}
		for _, key := range text.In(lang).Keys(prefix) {
			lines, err := s.Lines(lang, key)
			if err != nil {
				return nil, err
			}
			all[lang][key] = lines
		}
	}
	return all, nil
}

// told finds the runs whose verdicts a text has.
var told = regexp.MustCompile(`\{verdict\S* (\S+) ([^ }]+)`)

// PathCells are the locks and races that a screen of the guided tour tells of: by its number, or by the lock or the
// race that it plays. nil: there is no such screen; names are what there is.
func PathCells(name string) (cells [][2]string, names []string) {
	for n := range PathScreens {
		key := screen(n + 1)
		id, raceID := text.Say("en", key+".lock"), text.Say("en", key+".race")
		names = append(names, id, raceID)
		if name != strconv.Itoa(n+1) && name != id && name != raceID {
			continue
		}
		cells = append(cells, [2]string{id, raceID})
		for _, m := range told.FindAllStringSubmatch(text.Say("en", key+".idea")+text.Say("en", key+".next"), -1) {
			cells = append(cells, [2]string{m[1], m[2]})
		}
	}
	return unique(cells), unique(names)
}

// unique returns all without those that have been there before.
func unique[T comparable](all []T) []T {
	same := lists.Gather(all, func(a, b T) bool { return a == b })
	return lists.Each(same, func(group []T) T { return group[0] })
}

// Terms are the words of the glossary, by name.
func Terms() []string { return namesBetween("term.", ".name") }

// namesBetween returns the names between a prefix and a suffix of keys.
func namesBetween(prefix, suffix string) (names []string) {
	for _, key := range text.In("en").Keys(prefix) {
		if name, ok := strings.CutSuffix(strings.TrimPrefix(key, prefix), suffix); ok {
			names = append(names, name)
		}
	}
	return names
}

// furtherVerdicts matches what the grid writes after a verdict.
var furtherVerdicts = regexp.MustCompile(`^\+[0-9]+$`)

// FindTerm finds a term by its name in the catalogue, by its word in any language,
// by the verdict that it explains, or by another word for it, in any case of letters.
func FindTerm(name string) (term string, ok bool) {
	if furtherVerdicts.MatchString(name) {
		name = "+n"
	}
	for _, term := range Terms() {
		key := "term." + term
		word, _, _ := strings.Cut(text.In("en").Get(key+".text"), ":") // the verdict
		names := []string{term, word}
		for _, lang := range text.Languages() {
			also, _ := text.In(lang).Entry(key + ".also")
			names = append(append(names, text.In(lang).Get(key+".name")), strings.Split(also.Text, ",")...)
		}
		for _, n := range names {
			if n = strings.TrimSpace(n); n != "" && strings.EqualFold(n, name) {
				return term, true
			}
		}
	}
	return "", false
}

// locksAndRaces returns the names of all locks and races.
func locksAndRaces() (all []string) {
	for _, e := range algorithms.All() {
		all = append(all, e.Names()...)
	}
	for _, sc := range scenarios.All() {
		all = append(all, sc.ID, sc.Code)
	}
	return all
}

// Names returns the first words that Find knows, but for the numbers of articles.
func Names() []string {
	all := locksAndRaces()
	for _, f := range faults.All() {
		all = append(all, f.Name)
	}
	return slices.Concat(all, Terms(), Topics(), slices.Sorted(maps.Keys(fixed)))
}

// mostPages is the number of pages that an error names.
const mostPages = 6

// NoPage returns the error about a name that no page has: it names the pages on which the name occurs, first those that
// have it among their search terms, or else the most similar names.
func NoPage(name string) error {
	pages := pagesWith(name)
	if len(pages) == 0 || slices.Contains(Names(), strings.TrimSuffix(name, "s")) {
		return text.Errorf("error.explain", "name", name, "near", text.Near(name, Names()))
	}
	pages = lists.Each(unique(pages), func(page string) string { return "locklab explain " + page })
	pages = pages[:min(len(pages), mostPages)]
	return text.Errorf("error.explain.found", "name", name, "pages", strings.Join(pages, ", "))
}

// pagesWith returns the pages on which a word occurs in any language, first those that have it as a search term.
func pagesWith(word string) (pages []string) {
	if strings.TrimSpace(word) == "" || !utf8.ValidString(word) {
		return nil
	}
	whole := regexp.MustCompile(`(?i)(^|\W)` + regexp.QuoteMeta(strings.TrimSpace(word)) + `($|\W)`)
	for _, searchTerms := range []bool{true, false} {
		for _, lang := range text.Languages() {
			for _, key := range text.In(lang).Keys("") {
				page, isTerms := pageOf(key), strings.HasSuffix(key, ".words")
				if page != "" && isTerms == searchTerms && whole.MatchString(text.In(lang).Get(key)) {
					pages = append(pages, page)
				}
			}
		}
	}
	return pages
}

// pageOf returns the page that shows the text of a key, as explain names it; "": none does.
func pageOf(key string) string {
	title, of := strings.CutPrefix(key, "title.")
	words := append(strings.SplitN(title, ".", 3), "")
	switch kind, name := words[0], words[1]; {
	case slices.Contains([]string{"lock", "race", "scenario", "term"}, kind), kind == "fault" && of:
		return name
	case (kind == "interview" || kind == "path") && len(words) > 3:
		return kind + " " + name
	case kind == "debate" || kind == "need":
		return kind
	case kind == "judging":
		return "judge"
	}
	return ""
}
