package lessons

import (
	"bytes"
	"context"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
)

// Find returns the page of one or two words: the path, one of its screens (path 3), the interview, one of its topics
// (interview ttl), the glossary, the debate, judge, need, a term, a fault, an article (004), a lock, a race, or a lock
// in a race (token gc-pause). ok: false: no page has this name.
func Find(first, second string) (p Page, ok bool, err error) {
	switch {
	case first == "path":
		p, err = pathPage(second)
	case first == "interview":
		p, err = interviewPage(second)
	case first == "glossary" && second == "":
		p = Page{Prefix: "term.", make: func(m *maker) { m.glossary(Terms()...) }}
	case first == "glossary":
		term, ok := FindTerm(second)
		if !ok {
			err = text.Errorf("error.term", "name", second, "near", text.Near(second, Terms()))
		}
		p = termPage(term)
	case first == "debate":
		p = Page{Prefix: "debate.", make: (*maker).debate}
	case first == "need":
		p = Page{Prefix: "need.", make: (*maker).need}
	case first == "judge" && second == "":
		p = Page{Prefix: "judging.", make: (*maker).judging}
	case second != "":
		p, err = runPage(first, second)
	default:
		p, ok = named(first)
		return p, ok, nil
	}
	return p, true, err
}

func pathPage(screen string) (Page, error) {
	first, last := 1, PathScreens
	if screen != "" {
		n, err := strconv.Atoi(screen)
		if err != nil || n < 1 || n > last {
			return Page{}, text.Errorf("error.path", "name", screen, "last", last)
		}
		first, last = n, n
	}
	return Page{Prefix: "path.", make: func(m *maker) { m.path(first, last) }}, nil
}

func interviewPage(topic string) (Page, error) {
	about := topicsAbout(topic)
	switch topics := Topics(); {
	case topic == "":
		return Page{Prefix: "interview.", make: (*maker).interview}, nil
	case slices.Contains(topics, topic):
		return Page{Prefix: "interview.", make: func(m *maker) {
			if o := m.question(topic); o != nil && o.History != nil {
				m.add(gap)
				m.notation(o)
				m.next(commandOf("explain", o), "locklab explain interview")
			}
		}}, nil
	case about != nil:
		return Page{}, text.Errorf("error.topic.lock", "name", topic, "names", strings.Join(about, ", "))
	default:
		return Page{}, text.Errorf("error.topic", "name", topic, "near", text.Near(topic, topics), "names", strings.Join(topics, ", "))
	}
}

func termPage(term string) Page {
	return Page{Prefix: "term." + term + ".", make: func(m *maker) {
		m.glossary(term)
		m.next("locklab explain glossary", "locklab explain path")
	}}
}

func runPage(id, raceID string) (p Page, err error) {
	if p.Lock, err = race.Strategy(id); err != nil {
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

// named returns the page of a lock, a race, a fault, an article or a term.
func named(name string) (p Page, ok bool) {
	if e, ok := algorithms.ByName(name); ok {
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
	term, ok := FindTerm(name)
	return termPage(term), ok
}

// Read returns the page of a name in one language, as lines that are not folded. The error names what there is no
// page of.
func (s *Stage) Read(ctx context.Context, lang, name string) (string, error) {
	words := append(strings.Fields(name), "", "")
	page, ok, err := Find(words[0], words[1])
	switch {
	case err != nil:
		return "", err
	case !ok:
		return "", NoPage(strings.Join(strings.Fields(name), " "), nil)
	}
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

// PathCells are the locks and races that a screen of the guided tour tells of: by its number, or by the lock or the
// race that it plays. nil: there is no such screen; names are what there is.
func PathCells(name string) (cells [][2]string, names []string) {
	for n := 1; n <= PathScreens; n++ {
		key := "path." + strconv.Itoa(n)
		own := [2]string{text.Say("en", key+".lock"), text.Say("en", key+".scenario")}
		for _, one := range own {
			if !slices.Contains(names, one) {
				names = append(names, one)
			}
		}
		if name != strconv.Itoa(n) && name != own[0] && name != own[1] {
			continue
		}
		cells = append(cells, own)
		for _, m := range place.FindAllStringSubmatch(text.Say("en", key+".idea")+text.Say("en", key+".next"), -1) {
			words := strings.Fields(m[1])
			if len(words) < 3 || !strings.HasPrefix(words[0], "verdict") {
				continue
			}
			if c := [2]string{words[1], words[2]}; !slices.Contains(cells, c) {
				cells = append(cells, c)
			}
		}
	}
	return cells, names
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

// mostPages is the number of pages that an error names.
const mostPages = 6

// NoPage returns the error about a name that no page has: it names the pages on which the name occurs, or else the most
// similar of names.
func NoPage(name string, names []string) error {
	pages := pagesWith(name)
	if len(pages) == 0 {
		return text.Errorf("error.explain", "name", name, "near", text.Near(name, names))
	}
	for i, page := range pages {
		pages[i] = "locklab explain " + page
	}
	return text.Errorf("error.explain.found", "name", name, "pages", strings.Join(pages[:min(len(pages), mostPages)], ", "))
}

// pagesWith returns the pages on which a word occurs, in any language and any case of letters: first those that have it
// among their search terms.
func pagesWith(word string) (pages []string) {
	if strings.TrimSpace(word) == "" || !utf8.ValidString(word) {
		return nil
	}
	pattern := regexp.QuoteMeta(strings.TrimSpace(word))
	pattern = regexp.MustCompile(`^\w`).ReplaceAllString(pattern, `\b$0`)
	whole := regexp.MustCompile(`(?i)` + regexp.MustCompile(`\w$`).ReplaceAllString(pattern, `$0\b`))
	for _, searchTerms := range []bool{true, false} {
		for _, lang := range text.Languages() {
			for _, key := range text.In(lang).Keys("") {
				page := pageOf(key)
				if strings.HasSuffix(key, ".words") == searchTerms && page != "" && !slices.Contains(pages, page) &&
					whole.MatchString(text.In(lang).Get(key)) {
					pages = append(pages, page)
				}
			}
		}
	}
	return pages
}

// pageOf returns the page that shows a text, as explain names it; "": none does.
func pageOf(key string) string {
	part := strings.Split(strings.TrimPrefix(key, "title."), ".")
	if len(part) < 2 {
		return ""
	}
	switch part[0] {
	case "lock", "race", "scenario", "term", "fault":
		if part[0] == "fault" && !strings.HasPrefix(key, "title.") { // a sentence of stories
			return ""
		}
		return part[1]
	case "interview", "path":
		if len(part) > 2 {
			return part[0] + " " + part[1]
		}
	case "debate", "need":
		return part[0]
	case "judging":
		return "judge"
	}
	return ""
}
