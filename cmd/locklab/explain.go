package main

import (
	"bufio"
	"bytes"
	"cmp"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locklab/faults"
	"locklab/reports"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator/lists"
)

func explainCommand() *command {
	file, runs := "", false
	return &command{
		use: "explain LOCK | RACE | LOCK RACE | LINK|FILE | path [N] | interview [TOPIC] | debate | " +
			"glossary | judge | need | TERM | FAULT | ARTICLE",
		examples: []string{
			"explain redlock", "explain R18 --lang zh", "explain 003-C failed-renewal", "explain path 3",
			"explain lease", "explain token -o token.html",
		},
		complete: explainable,
		args: func(_ *cobra.Command, args []string) error {
			if len(args) > 2 {
				return text.Errorf("error.explain.arguments", "given", len(args))
			}
			return nil
		},
		flags: func(f *flags) {
			f.outTo(&file)
			f.add("runs", &runs)
		},
		run: func(e *env, args []string) error {
			if len(args) == 0 {
				printMenu(e.console)
				return nil
			}
			explain := func(e *env, write pageFormat) error {
				x := &explainer{e, lessons.NewStage(), write, runs, append([]string{"lesson"}, args...)}
				err := x.explain(args)
				if err == nil && file == "" && !e.json {
					e.onPage(x.address...)
				}
				return err
			}
			if file == "" {
				_, typed := terminal(e.stdin)
				if _, shown := terminal(e.Out); typed && shown {
					return explain(e, screens(e))
				}
				return explain(e, lessons.Text)
			}
			write := pageFormats[filepath.Ext(file)]
			if write == nil {
				return text.Errorf("error.explain.format", "file", file)
			}
			if err := e.replace("-o", file); err != nil {
				return err
			}
			if e.json {
				if err := explain(e, lessons.Text); err != nil {
					return err
				}
			}
			return e.intoFile(file, func(e *env) error { return explain(e, write) })
		},
	}
}

// A pageFormat writes the blocks of a page.
type pageFormat func(*text.Printer, reports.Look, []lessons.Block)

// pageFormats are those of files, by the ending of the file.
var pageFormats = map[string]pageFormat{".md": lessons.Markdown, ".html": lessons.HTML}

// screens writes a page as text, up to where its reader is asked: Enter goes on, q ends.
func screens(e *env) pageFormat {
	in := bufio.NewReader(e.stdin)
	asks := func(b lessons.Block) bool { return b.Kind == lessons.Break || b.Kind == lessons.Hidden }
	return func(p *text.Printer, look reports.Look, blocks []lessons.Block) {
		for i := slices.IndexFunc(blocks, asks); i >= 0; i = slices.IndexFunc(blocks, asks) {
			lessons.Text(p, look, blocks[:i])
			p.Printf("\n%s ", e.First("screen."+string(blocks[i].Kind)))
			if line, ok := e.line(in); !ok || line == "q" {
				return
			}
			blocks = blocks[i+1:]
		}
		lessons.Text(p, look, blocks)
	}
}

// intoFile writes what tell prints, as text, into a file.
func (e *env) intoFile(file string, tell func(*env) error) error {
	var b bytes.Buffer
	there, console := *e, *e.console
	console.Printer, console.json = e.To(&b, e.Width), false
	there.console = &console
	if err := cmp.Or(tell(&there), internal(there.Err)); err != nil {
		return err
	}
	return e.write(file, func(w io.Writer) error {
		_, err := b.WriteTo(w)
		return err
	})
}

// printMenu prints what can be explained.
func printMenu(e *console) {
	for _, lang := range e.Langs() {
		printLong(e.Printer, text.Say(lang, "help.explain.long", "topics", strings.Join(lessons.Topics(), ", ")))
	}
	e.Next("locklab explain path", "locklab explain token", "locklab explain need")
}

// An explainer finds out what to explain, and writes it.
type explainer struct {
	e       *env
	stage   *lessons.Stage
	write   pageFormat
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
	page, known, err := lessons.Find(words[0], words[1])
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
	return lessons.NoPage(args[0])
}

// explainedJSON is a page as JSON. Texts are by language and key.
type explainedJSON struct {
	Lock    *lockListed                    `json:"lock,omitempty"`
	Race    *listed                        `json:"race,omitempty"`
	Fault   *listed                        `json:"fault,omitempty"`
	Budget  faults.Budget                  `json:"budget,omitempty"` // an example, with the fault
	Article *listed                        `json:"article,omitempty"`
	Locks   []lockListed                   `json:"locks,omitempty"`   // of the article
	Races   []listed                       `json:"races,omitempty"`   // with the fault, or of the article
	Story   map[string]string              `json:"story,omitempty"`   // by language
	Numbers map[string]string              `json:"numbers,omitempty"` // by language
	Texts   map[string]map[string][]string `json:"texts"`
	Cells   []cellJSON                     `json:"cells,omitempty"`
}

// show prints a page, or as JSON its texts with the runs from which it is made.
func (x *explainer) show(page lessons.Page) (err error) {
	if !x.e.json {
		return x.print(page)
	}
	out := explainedJSON{}
	var played []*race.Outcome
	switch sc := page.Race; {
	case page.Lock.ID != "":
		out.Lock = new(listedLock(page.Lock))
		played, err = x.stage.Row(page.Lock)
	case sc.ID != "":
		out.Race, out.Story, out.Numbers = new(listedRace(sc)), map[string]string{}, map[string]string{}
		for _, lang := range text.Languages() {
			out.Story[lang], out.Numbers[lang] = lessons.Story(lang, sc, "story"), lessons.Story(lang, sc, "numbers")
		}
		_, played, err = x.stage.Example(sc)
	case page.Fault != nil:
		out.Fault, out.Budget = new(listedFault(page.Fault)), lessons.ExampleBudget(page.Fault)
		out.Races = lists.Each(lessons.RacesWith(page.Fault), listedRace)
	case page.Number != "":
		locks, races := lessons.OfArticle(page.Number)
		out.Article = &listed{ID: page.Number, Title: text.Say("en", "article."+page.Number),
			TitleZH: text.Say("zh", "article."+page.Number)}
		out.Locks, out.Races = lists.Each(locks, listedLock), lists.Each(races, listedRace)
	}
	if err != nil {
		return internal(err)
	}
	out.Cells = cellsJSON(played)
	if out.Texts, err = x.stage.Texts(x.e.Lang, page.Prefix); err != nil {
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
	x.write(x.e.Printer, x.e.look(), blocks)
	return internal(x.e.ctx.Err())
}

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
