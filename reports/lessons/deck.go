package lessons

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/game"
	"locklab/reports/text"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// What the slides of a deck are for: the Part of their headings.
const (
	Plan   = "plan"   // of the lesson
	How    = "how"    // how a lock works
	Race   = "race"   // a race that a lock is played in
	Next   = "next"   // the same race with another lock
	Debate = "debate" // a point of the debate about Redlock
	Quiz   = "quiz"   // a question with answers to choose from
	End    = "end"    // what to remember
)

// The parts of a slide, in their order, after what the class is told first, which has no name.
const (
	Asked  = "question"
	Answer = "answer" // shown when it is asked for; the choices of a quiz are none
	Notes  = "notes"  // for the presenter
)

// A Slide is a part of a deck, from a heading to a break.
type Slide struct {
	Kind, Heading string
	Parts         map[string][]Block
	Run           *race.Outcome // nil: none
	Choices       []game.Answer // of a quiz
}

// Slides returns the slides of a deck.
func Slides(deck []Block) (all []Slide) {
	for _, b := range deck {
		last := len(all) - 1
		switch {
		case b.Kind == Heading:
			all = append(all, Slide{Kind: b.Part, Heading: b.Text, Parts: map[string][]Block{}})
		case b.Run != nil:
			all[last].Run = b.Run
		case b.Choices != nil:
			all[last].Choices = b.Choices
		case b.Kind != Break:
			all[last].Parts[b.Part] = append(all[last].Parts[b.Part], b)
		}
	}
	return all
}

// Lines returns the texts of a part.
func (s Slide) Lines(part string) (all []string) {
	for _, b := range s.Parts[part] {
		if all = append(all, b.Items...); b.Items == nil {
			all = append(all, b.Led())
		}
	}
	return all
}

// A Subject is what a deck is about.
type Subject struct {
	Locks   []lock.Entry
	Races   []race.Race // nil: those in which the locks fail
	Screens []int       // of the guided tour, from 1
	Debate  bool
}

// ParseSubject reads the names of a subject: locks, races, families of locks, "path" with or without the number of a
// screen, and "debate".
func ParseSubject(names []string) (s Subject, err error) {
	for i := 0; i < len(names); i++ {
		name, next := names[i], append(names, "")[i+1]
		page, _ := named(name)
		family := lists.Pick(algorithms.All(), func(e lock.Entry) bool { return string(e.Family) == name })
		switch {
		case name == "debate":
			s.Debate = true
		case name == "path" && next != "" && strings.Trim(next, "0123456789") == "":
			if _, _, err := Find("path", next); err != nil {
				return s, err
			}
			n, _ := strconv.Atoi(next) // a page has this number
			s.Screens, i = append(s.Screens, n), i+1
		case name == "path":
			s.Screens = append(s.Screens, numbers(PathScreens)...)
		case page.Lock.ID != "":
			s.Locks = append(s.Locks, page.Lock)
		case page.Race.ID != "":
			s.Races = append(s.Races, page.Race)
		case family != nil:
			s.Locks = append(s.Locks, family...)
		default:
			return s, text.Errorf("error.lesson", "name", name, "near", text.Near(name, SubjectNames()))
		}
	}
	return s, nil
}

// numbers returns the numbers from 1 to n.
func numbers(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// SubjectNames returns all names that ParseSubject reads.
func SubjectNames() []string {
	names := []string{"path", "debate"}
	for _, f := range algorithms.Families() {
		names = append(names, string(f))
	}
	return append(names, locksAndRaces()...)
}

// DeckOptions are the choices of a deck.
type DeckOptions struct {
	Lang      string
	Questions int // of the quiz, at most
	Seed      uint64
}

// mostSlides is more than one lesson can hold.
const mostSlides = 60

// mostWithHow is the number of locks of which it is shown how each works. Of more, such as a family, there is only
// a race each.
const mostWithHow = 6

// A deckMaker makes a deck with what makes pages.
type deckMaker struct {
	*Subject
	DeckOptions
	m     *maker
	asked []*race.Outcome // what the quiz asks about
}

// Deck makes the slides of a lesson about a subject: a page with breaks. A slide has a heading, what the class is told
// first, one question, a run, and the answer.
func (s Subject) Deck(stage *Stage, o DeckOptions) ([]Block, error) {
	tooLarge := text.Errorf("error.lesson.large", "most", mostSlides)
	if len(s.Screens)+max(len(s.Locks), 1)*max(len(s.Races), 1) > mostSlides { // before they are played
		return nil, tooLarge
	}
	d := &deckMaker{Subject: &s, DeckOptions: o, m: &maker{stage: stage, p: &text.Printer{Lang: o.Lang}}}
	for _, build := range []func(){d.screens, d.races, d.locks, d.debate, d.quiz, d.end, d.plan} {
		if build(); d.m.err != nil {
			return nil, d.m.err
		}
		if len(Slides(d.m.blocks)) > mostSlides {
			return nil, tooLarge
		}
	}
	return d.m.blocks[1:], nil // without the break before the first slide
}

// slide begins a slide.
func (d *deckMaker) slide(kind, heading string) {
	d.m.shown = ""
	d.m.add(Block{Kind: Break}, Block{Kind: Heading, Part: kind, Text: heading})
}

// say adds lines to a part of a slide.
func (d *deckMaker) say(part string, lines ...string) {
	d.m.shown = part
	d.m.paragraphs("", slices.DeleteFunc(lines, func(line string) bool { return line == "" })...)
}

// tell adds to a part of a slide the texts of keys that exist, filled in.
func (d *deckMaker) tell(part string, keys ...string) {
	for _, key := range keys {
		d.say(part, d.m.lines(d.Lang, key)...)
	}
}

// play adds a run to a slide, if it can be played.
func (d *deckMaker) play(o *race.Outcome) {
	if d.m.shown = ""; o.History != nil {
		d.m.notation(o)
	}
}

func (d *deckMaker) title() string {
	say := d.m.p.Say
	switch {
	case len(d.Locks) == 1:
		return d.lockTitle(d.Locks[0])
	case len(d.Locks) > 1:
		return say("lesson.from", "first", d.Locks[0].ID, "last", d.Locks[len(d.Locks)-1].ID)
	case len(d.Races) > 0:
		return d.titled(d.Races[0].ID, Story(d.Lang, d.Races[0], "title"))
	case len(d.Screens) == 1:
		return say(screen(d.Screens[0]) + ".title")
	case len(d.Screens) > 1:
		return say("lesson.path")
	}
	return say("debate.title")
}

// titled is a name with what it means.
func (d *deckMaker) titled(name, title string) string {
	return d.m.p.Label("explain.head", "text", name) + title
}

func (d *deckMaker) lockTitle(e lock.Entry) string {
	title := text.LockTitle(e.ID, d.Lang)
	if strings.HasPrefix(strings.ToLower(title), e.ID) { // as in "Redlock: a majority of servers"
		return title
	}
	return d.titled(e.ID, title)
}

// plan lists on a first slide what follows, the questions of the quiz as one.
func (d *deckMaker) plan() {
	rest, questions := d.m.blocks, 0
	d.m.blocks = nil
	d.slide(Plan, d.title())
	for _, s := range Slides(rest) {
		if s.Kind == Quiz {
			questions++
			continue
		}
		if questions > 0 {
			d.say("", d.m.p.Say("lesson.quizzes", "n", strconv.Itoa(questions)))
			questions = 0
		}
		d.say("", s.Heading)
	}
	d.say(Notes, d.m.p.Say("lesson.keys"))
	d.m.blocks = append(d.m.blocks, rest...)
}

// screens adds screens of the guided tour.
func (d *deckMaker) screens() {
	runs, err := all(d.Screens, d.m.stage.screen)
	d.m.failed(err)
	for i, o := range runs {
		key := screen(d.Screens[i])
		d.race(d.m.p.Say(key+".title"), o, key+".idea")
		d.tell(Notes, key+".next")
	}
}

// races adds races, if no locks are named: each with the lock that explains it, and with one that survives it.
func (d *deckMaker) races() {
	if len(d.Locks) > 0 {
		return
	}
	for _, sc := range d.Races {
		example, played, err := d.m.stage.Example(sc)
		if d.m.failed(err) {
			return
		}
		d.usual(example)
		if i := slices.IndexFunc(played, holds); i >= 0 {
			d.next(played[i])
		}
	}
}

// locks adds locks: how each works, in which races it fails, and what becomes of one of them with the next lock.
func (d *deckMaker) locks() {
	few, most := len(d.Locks) <= mostWithHow, 2 // races of each
	if len(d.Locks) > 3 {
		most = 1
	}
	for i, e := range d.Locks {
		if few {
			d.how(e)
		}
		after, _ := race.Successor(e)
		if i+1 < len(d.Locks) {
			after = d.Locks[i+1]
		}
		played, mended := d.telling(e, after, most)
		for _, o := range played {
			d.usual(o)
		}
		if few && mended != nil && mended.History != nil {
			d.next(mended)
		}
	}
}

// holds reports whether a lock survives a race that applies to it.
func holds(o *race.Outcome) bool { return o.History != nil && o.Verdicts[0] == verdict.Holds }

// tellingRaces are races in the order in which they are chosen for a lock that fails in them.
var tellingRaces = []string{
	"crash-before-expire", "crash-holding", "client-skew", "late-release", "restart", "clock-jump", "failover",
	"slow-work", "gc-pause",
}

// telling returns runs of a lock in the races that are named. If none is, it returns runs that fail: those of the
// guided tour, and one that the lock after it survives. mended is that run of the lock after it, if there is one, or
// else its run in the first race.
func (d *deckMaker) telling(e, after lock.Entry, most int) (all []*race.Outcome, mended *race.Outcome) {
	ids := lists.Each(d.Races, func(sc race.Race) string { return sc.ID })
	if d.Races == nil {
		for _, n := range numbers(PathScreens) {
			if key := screen(n); text.Say("en", key+".lock") == e.ID {
				ids = append(ids, text.Say("en", key+".race"))
			}
		}
		ids = append(ids, tellingRaces...)
	}
	for _, id := range unique(ids) {
		o := d.named(e.ID, id)
		tells := d.Races != nil || verdict.Fails(o.Verdicts) && !slices.Contains(d.asked, o)
		if o.History != nil && tells {
			all = append(all, o)
		}
	}
	survived := slices.IndexFunc(all, func(o *race.Outcome) bool { return holds(d.named(after.ID, o.Race.ID)) })
	if d.Races == nil && len(all) > most {
		if survived >= most {
			all[most-1], survived = all[survived], most-1
		}
		all = all[:most]
	}
	if all != nil {
		mended = d.named(after.ID, all[max(survived, 0)].Race.ID)
	}
	return all, mended
}

// named plays a lock in a race. Of no lock, and after an error, the outcome is that of no run.
func (d *deckMaker) named(id, raceID string) *race.Outcome {
	none := &race.Outcome{Verdicts: []verdict.Word{verdict.NA}}
	if id == "" {
		return none
	}
	o, err := d.m.stage.Named(id, raceID)
	if d.m.failed(err) {
		return none
	}
	return o
}

// how adds how a lock works.
func (d *deckMaker) how(e lock.Entry) {
	key := "lock." + e.ID
	d.slide(How, d.lockTitle(e))
	d.tell("", key+".how")
	d.say(Asked, d.m.p.Say("lesson.how"))
	d.play(d.named(e.ID, "calm"))
	d.tell(Answer, key+".mends")
	d.tell(Notes, key+".origin", key+".beside")
}

// race adds a slide about a run that the quiz asks about, too.
func (d *deckMaker) race(heading string, o *race.Outcome, answers ...string) {
	sc, title := o.Race, Story(d.Lang, o.Race, "title")
	asked := d.m.p.Say("lesson.ask", "race", title, "lock", o.Lock.ID)
	if strings.HasSuffix(heading, title) {
		asked = d.m.p.Say("lesson.ask.how")
	}
	d.run(Race, heading, asked, o, answers...)
	d.say(Notes, Story(d.Lang, sc, "story"), Story(d.Lang, sc, "numbers"))
	d.m.told("race."+sc.ID+".not", sentence("label.race.not"))
}

// usual adds a slide about a run, with why it ends as it does.
func (d *deckMaker) usual(o *race.Outcome) {
	key := "race." + o.Race.ID
	heading := d.m.p.Say("lesson.run", "lock", o.Lock.ID, "race", Story(d.Lang, o.Race, "title"))
	d.race(heading, o, key+".why", key+".mends")
}

// next adds the same race with another lock.
func (d *deckMaker) next(o *race.Outcome) {
	heading := d.m.p.Say("lesson.next", "race", Story(d.Lang, o.Race, "title"), "lock", o.Lock.ID)
	asked := d.m.p.Say("lesson.next.ask", "lock", o.Lock.ID)
	d.run(Next, heading, asked, o, "race."+o.Race.ID+".mends")
	d.tell(Notes, "lock."+o.Lock.ID+".mends")
}

// run adds a slide with a question, a run, its result and the texts of keys.
func (d *deckMaker) run(kind, heading, asked string, o *race.Outcome, answers ...string) {
	d.asked = append(d.asked, o)
	d.slide(kind, heading)
	d.say(Asked, asked)
	d.play(o)
	d.say(Answer, results(d.m.p, o))
	d.tell(Answer, answers...)
}

// debate adds the points of the debate, or those that a lesson about Redlock has.
func (d *deckMaker) debate() {
	points := []int{2, 3, 4, 5}
	if d.Debate {
		points = numbers(DebatePoints)
	} else if !slices.ContainsFunc(d.Locks, func(e lock.Entry) bool { return strings.HasPrefix(e.ID, "redlock") }) {
		return
	}
	for _, n := range points {
		key := fmt.Sprintf("debate.%d", n)
		first, err := d.m.stage.Backing(key + ".trace")
		more, wrong := d.m.stage.Backing(key + ".runs")
		if d.m.failed(errors.Join(err, wrong)) {
			return
		}
		d.slide(Debate, d.m.p.Say("lesson.debate", "title", d.m.p.Say(key+".title")))
		d.m.argued(n)
		d.say(Asked, d.m.p.Say("lesson.debate.ask"))
		d.play(first[0])
		d.tell(Answer, key+".says")
		runs := append(first, more...)
		d.say(Answer, lists.Each(runs, d.m.ending)...)
		d.asked = append(d.asked, runs...)
	}
}

// quiz adds questions about the runs that were shown.
func (d *deckMaker) quiz() {
	var scope game.Scope
	for _, o := range d.asked {
		if o.History != nil {
			scope.Cells = append(scope.Cells, game.Cell{Lock: o.Lock.ID, Race: o.Race.ID})
		}
	}
	scope.Cells = unique(scope.Cells)
	for quiz, n := game.NewQuiz(d.Seed, scope), 1; n <= d.Questions && scope.Cells != nil; {
		q, err := quiz.Next()
		if errors.As(err, new(*game.NoQuestionError)) || d.m.failed(err) {
			return
		}
		o := q.Outcome
		if o.History == nil { // it is about other locks
			continue
		}
		title := Story(d.Lang, o.Race, "title")
		d.slide(Quiz, d.m.p.Say("lesson.quiz", "n", strconv.Itoa(n), "lock", o.Lock.ID, "race", title))
		d.say(Asked, q.Ask[d.Lang])
		d.play(o)
		said := lists.Each(q.Answers, func(a game.Answer) string { return a.Said[d.Lang] })
		d.m.add(Block{Kind: List, Items: said, Choices: q.Answers})
		n++
	}
}

// end adds what to remember.
func (d *deckMaker) end() {
	debated := slices.ContainsFunc(d.m.blocks, func(b Block) bool { return b.Part == Debate })
	d.slide(End, d.m.p.Say("lesson.end"))
	for _, e := range d.Locks {
		d.say("", d.titled(e.ID, strings.Join(d.m.lines(d.Lang, "lock."+e.ID+".choose"), " ")))
	}
	if debated {
		d.tell("", "debate.end")
	}
	if len(d.Screens) > 0 {
		d.tell("", screen(PathScreens)+".next")
	}
	if len(d.Locks) == 0 {
		for _, sc := range d.Races {
			d.tell("", "race."+sc.ID+".mends")
		}
	}
}
