package main

import (
	"bufio"
	"bytes"
	"cmp"
	"os"
	"regexp"
	"slices"
	"strings"

	"locklab/reports"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator/lists"
)

func explainCommand() *command {
	file, runs := "", false
	return &command{
		use: "explain [LOCK | RACE | LOCK RACE | LINK | FILE | path [N] | interview [TOPIC] | debate [N] | " +
			"glossary | judge | need | TERM | FAULT | ARTICLE]",
		examples: []string{
			"explain redlock", "explain R18 --lang zh", "explain 003-C failed-renewal", "explain path 3",
			"explain lease", "explain token -o token.html",
		},
		complete: explainable,
		flags: func(f *flags) {
			f.outHTML(&file, "error.explain.format", ".md")
			f.add("runs", &runs)
		},
		run: func(e *env, args []string) error {
			switch {
			case len(args) == 0:
				for _, lang := range e.Langs() {
					topics := strings.Join(lessons.Topics(), ", ")
					printLong(e.Printer, text.Say(lang, "help.explain.long", "topics", topics))
				}
				e.Next("locklab explain path", "locklab explain token", "locklab explain need")
				return nil
			case len(args) > 2:
				return text.Errorf("error.explain.arguments", "given", len(args))
			}
			x := &explainer{e, lessons.NewStage(), lessons.Text, runs, append([]string{"lesson"}, args...)}
			if file == "" {
				return x.onScreen(args)
			}
			if e.json {
				if err := x.explain(args); err != nil {
					return err
				}
			}
			return x.intoFile(file, args)
		},
	}
}

// pageFormats write the blocks of a page to a file, by its ending.
var pageFormats = map[string]func(*text.Printer, reports.Look, []lessons.Block){
	".md": lessons.Markdown, ".html": lessons.HTML,
}

// onScreen explains, with the address on the page.
func (x *explainer) onScreen(args []string) error {
	_, typed := terminal(x.e.stdin)
	if _, shown := terminal(x.e.Out); typed && shown {
		x.write = screens(x.e)
	}
	err := x.explain(args)
	if err == nil && !x.e.json {
		x.e.onPage(x.address...)
	}
	return err
}

// intoFile explains in a file.
func (x *explainer) intoFile(file string, args []string) error {
	var b bytes.Buffer
	e := *x.e
	e.console = x.e.into(&b)
	x.e, x.write = &e, pageFormats[ending(file)]
	if err := cmp.Or(x.explain(args), internal(e.Err)); err != nil {
		return err
	}
	return e.write(file, copyOf(&b))
}

// screens writes a page as text, and asks in between: Enter goes on, s skips the rest of a question or screen, q ends.
func screens(e *env) func(*text.Printer, reports.Look, []lessons.Block) {
	in := bufio.NewReader(e.stdin)
	asks := func(b lessons.Block) bool { return b.Kind == lessons.Break || b.Kind == lessons.Hidden }
	return func(p *text.Printer, look reports.Look, blocks []lessons.Block) {
		for i := slices.IndexFunc(blocks, asks); i >= 0; i = slices.IndexFunc(blocks, asks) {
			lessons.Text(p, look, blocks[:i])
			line, ok := "?", true
			for ok && line != "" && line != "s" && line != "q" { // the question names the keys
				p.Printf("\n%s ", e.First("screen."+string(blocks[i].Kind)+blocks[i].Text))
				line, ok = e.line(in)
			}
			blocks = blocks[i:]
			skipped := slices.IndexFunc(blocks, func(b lessons.Block) bool { return b.Kind == lessons.Break })
			if !ok || line == "q" || line == "s" && skipped < 0 {
				return
			} else if line == "s" {
				blocks = blocks[skipped:]
			}
			blocks = blocks[1:]
		}
		lessons.Text(p, look, blocks)
	}
}

// An explainer finds out what to explain, and writes it.
type explainer struct {
	e       *env
	stage   *lessons.Stage
	write   func(*text.Printer, reports.Look, []lessons.Block)
	runs    bool     // with the runs behind an answer
	address []string // on the page
}

func (x *explainer) explain(args []string) error {
	words := append(args, "")
	command := searched[strings.ToLower(words[0])]
	if page, is := strings.CutPrefix(command, "locklab explain "); is && len(args) == 1 {
		words, x.address = append(strings.Fields(page), ""), append([]string{"lesson"}, strings.Fields(page)...)
	} else if command != "" {
		return text.Errorf("error.noarguments.meant", "command", "locklab explain", "name", strings.Join(args, " "),
			"meant", strings.TrimSpace(command+" "+words[1]))
	}
	page, known, err := lessons.Find(strings.Join(args, "-"), "") // a term of two words
	if !known || len(args) == 1 {
		page, known, err = lessons.Find(words[0], words[1])
	}
	switch {
	case err != nil:
		return err
	case known && page.Lock.ID != "" && page.Race.ID != "":
		o, err := x.stage.Play(page.Lock, page.Race)
		if err != nil {
			return internal(err)
		}
		return x.outcome(o)
	case known:
		return x.show(page)
	}
	t, notTrace := readTrace(args[0])
	if notTrace == nil {
		x.address = []string{t.Link()}
		o, err := search.Replay(t)
		if err != nil {
			return err
		}
		return x.outcome(o)
	}
	if _, err := os.Stat(args[0]); err == nil || isLink(args[0]) {
		return notTrace // it was meant as a trace
	}
	if _, noRace := scenarios.ByName(args[0]); scenarios.IsNumber(args[0]) {
		return noRace
	}
	return lessons.NoPage(args[0])
}

// show prints a page, or as JSON its texts by language and key, with what it is about and the runs of which it is made.
func (x *explainer) show(page lessons.Page) (err error) {
	if !x.e.json {
		return x.print(page)
	}
	out := map[string]any{}
	races := func(all []race.Race) {
		if len(all) > 0 {
			out["races"] = lists.Each(all, listedRace)
		}
	}
	var played []*race.Outcome
	switch sc := page.Race; {
	case page.Lock.ID != "":
		out["lock"] = listedLock(page.Lock)
		played, err = x.stage.Row(page.Lock)
	case sc.ID != "":
		story, numbers := map[string]string{}, map[string]string{} // by language
		for _, lang := range text.Languages() {
			story[lang], numbers[lang] = lessons.Story(lang, sc, "story"), lessons.Story(lang, sc, "numbers")
		}
		out["race"], out["story"], out["numbers"] = listedRace(sc), story, numbers
		_, played, err = x.stage.Example(sc)
	case page.Fault != nil:
		out["fault"], out["budget"] = listedFault(page.Fault), lessons.ExampleBudget(page.Fault) // an example
		races(lessons.RacesWith(page.Fault))
	case page.Number != "":
		locks, of := lessons.OfArticle(page.Number)
		out["article"] = listed{ID: page.Number, Title: text.Say("en", "article."+page.Number),
			TitleZH: text.Say("zh", "article."+page.Number)}
		out["locks"] = lists.Each(locks, listedLock)
		races(of)
	}
	if played != nil {
		out["cells"] = lists.Each(played, cellOf)
	}
	if err == nil {
		out["texts"], err = x.stage.Texts(x.e.Lang, page.Prefix)
	}
	if err != nil {
		return internal(err)
	}
	x.e.show("explain", out, nil)
	return nil
}

func (x *explainer) print(page lessons.Page) error {
	page.Runs = x.runs
	blocks, err := page.Blocks(x.e.ctx, x.stage, x.e.Lang)
	if err != nil {
		return internal(err)
	}
	if strings.HasPrefix(page.Prefix, "interview.") && !x.runs {
		blocks = spoken(blocks)
	}
	x.write(x.e.Printer, x.e.look(), blocks)
	return internal(x.e.ctx.Err())
}

// spoken are answers as one says them: without the runs behind them.
func spoken(blocks []lessons.Block) []lessons.Block {
	return lists.Each(blocks, func(b lessons.Block) lessons.Block {
		b.Text = citing.ReplaceAllString(b.Text, "")
		return b
	})
}

// citing matches brackets around verdicts of runs.
var citing = regexp.MustCompile(`\s?[(（][A-Z][-A-Z]+\b[^()（）]*[:：] ?[a-z][-a-z0-9]+ ?(in|的) [^()（）]*[)）]`)

func (x *explainer) outcome(o *race.Outcome) error {
	if !x.e.json {
		return x.print(lessons.OfRun(o))
	}
	j := outcomeJSON(o)
	if o.History != nil {
		watched, err := search.ReplayWithCodeOn(o.Lock, o.Trace)
		if err != nil {
			return internal(err)
		}
		for i, e := range watched.History.Events {
			if len(e.Code) > 0 {
				j.Lines = append(j.Lines, codeJSON{i, e.Code})
			}
		}
	}
	x.e.show(runKind, j, nil)
	return nil
}

// codeJSON are the lines of code that caused an event, the innermost call first.
type codeJSON struct {
	Event int      `json:"event"` // its index among the events, from 0
	Lines []string `json:"lines"`
}
