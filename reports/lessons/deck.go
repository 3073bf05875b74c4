package lessons

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/game"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// What the slides of a deck are for: the Part of their headings.
const (
	Hook   = "hook"   // what the lesson is about, as a question
	How    = "how"    // how a lock works
	Race   = "race"   // a race that a lock is played in
	Next   = "next"   // the same race with another lock
	Debate = "debate" // a point of the debate about Redlock
	Quiz   = "quiz"   // a question with answers to choose from
	End    = "end"    // what to remember
)

// minutes are those of a slide of a kind; a usual lesson about two locks and the debate comes to 45.
var minutes = map[string]int{Hook: 3, How: 3, Race: 3, Next: 2, Debate: 3, Quiz: 1, End: 2}

// The parts of a slide, in their order, after the text that comes first, which has no name.
const (
	Asked   = "question"
	Answer  = "answer"  // shown when it is asked for; the choices of a quiz are none
	Full    = "full"    // beside the answer in the key: why, and what prevents it
	Notes   = "notes"   // for the presenter
	Read    = "replies" // what the replies in its picture mean, where they come first
	Left    = "left"    // slides for which there was no room, on the first one
	Sources = "sources" // to read, on the last one
)

// A Slide is one of a deck.
type Slide struct {
	Kind, Heading string
	Parts         map[string][]Block
	Run           *race.Outcome // nil: none
	Asks          *race.Outcome // of a quiz, the run as far as the question goes
	Choices       []game.Answer // of a quiz
}

// Minutes are those of slides.
func Minutes(slides []*Slide) (all int) {
	for _, s := range slides {
		all += minutes[s.Kind]
	}
	return all
}

// Listed is the heading with what happens in the run, as the presenter's list of slides has it.
func (s Slide) Listed(lang string) string {
	if s.Run == nil || s.Kind == How || s.Kind == Debate {
		return s.Heading
	}
	return text.Say(lang, "lesson.listed", "heading", s.Heading, "race", RunTitle(lang, s.Run))
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

// ParseSubject reads names: locks, races, families of locks, "path" with or without a number of a screen, and "debate".
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
			for n := range PathScreens {
				s.Screens = append(s.Screens, n+1)
			}
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

// SubjectNames returns all names that ParseSubject reads.
func SubjectNames() []string {
	families := lists.Each(algorithms.Families(), func(f lock.Family) string { return string(f) })
	return slices.Concat([]string{"path", "debate"}, families, locksAndRaces())
}

// DeckOptions are the choices of a deck.
type DeckOptions struct {
	Lang      string
	Questions int // of the quiz, at most
	Seed      uint64
	Slides    int    // so many; 0: as many as there is to show
	Title     string // "": what the lesson is about
	Course    string // a line for the course and its teacher; "": none
}

// MostSlides is more than one lesson can hold.
const MostSlides = 60

// mostWithHow is the number of locks of which it is shown how each works; of more, there is only a race each.
const mostWithHow = 6

// A deckMaker makes a deck with what makes pages.
type deckMaker struct {
	*Subject
	DeckOptions
	m      *maker
	slides []*Slide
	left   map[string][]string // what the slides of a kind say that are left out
	absent []string            // what no slide is about
}

// Deck makes the slides of a lesson. A slide has a heading, a text, a question, a run, and the answer.
func (s Subject) Deck(stage *Stage, o DeckOptions) ([]*Slide, error) {
	if len(s.Screens)+max(len(s.Locks), 1)*max(len(s.Races), 1) > MostSlides { // before they are played
		return nil, text.Errorf("error.lesson.large", "most", MostSlides)
	}
	d := &deckMaker{Subject: &s, DeckOptions: o, left: map[string][]string{},
		m: &maker{stage: stage, p: &text.Printer{Lang: o.Lang}}}
	for _, build := range []func(){d.screens, d.races, d.locks, d.debate, d.quiz, d.fit, d.end, d.hook} {
		if build(); d.m.err != nil {
			return nil, d.m.err
		}
	}
	return d.slides, nil
}

// slide begins a slide, with a run if it can be played.
func (d *deckMaker) slide(kind, heading string, o *race.Outcome) {
	if d.m.about = (lock.Entry{}); o != nil && o.History == nil {
		o = nil
	} else if o != nil {
		d.m.about = o.Lock
	}
	d.slides = append(d.slides, &Slide{Kind: kind, Heading: heading, Run: o, Parts: map[string][]Block{}})
	d.say(Notes, d.m.p.Say("lesson.minutes", "n", strconv.Itoa(minutes[kind])))
}

// part adds to a part of the last slide what makers of pages add.
func (d *deckMaker) part(name string, add func()) {
	to := d.slides[len(d.slides)-1]
	d.m.blocks = to.Parts[name]
	add()
	to.Parts[name] = d.m.blocks
}

// say adds lines to a part of a slide.
func (d *deckMaker) say(part string, lines ...string) {
	d.part(part, func() { d.m.paragraphs("", lists.Pick(lines, func(line string) bool { return line != "" })...) })
}

// tell adds to a part of a slide the texts of keys that exist, filled in. Notes are for speaking.
func (d *deckMaker) tell(part string, keys ...string) {
	for _, key := range keys {
		lines := d.m.lines(d.Lang, key)
		if part == Notes {
			lines = lists.Each(lines, func(line string) string { return spoken(d.Lang, line) })
		}
		d.say(part, lines...)
	}
}

// list adds to a part of a slide a heading and what stands below it, as one says it, if there is anything.
func (d *deckMaker) list(part, heading string, items []string) {
	if len(items) > 0 {
		items = lists.Each(unique(items), func(item string) string { return "- " + spoken(d.Lang, item) })
		d.say(part, append([]string{heading}, items...)...)
	}
}

// spoken is a text as one says it: without what stands in brackets, and with the words of verdicts for their codes.
func spoken(lang, line string) string {
	line = inBrackets.ReplaceAllString(line, "")
	for _, w := range verdict.All {
		means := text.Say(lang, "word."+string(w))
		line = regexp.MustCompile(`\b`+string(w)+`\b(?: `+means+`)?`).ReplaceAllString(line, means)
	}
	return text.Tight(line)
}

func (d *deckMaker) title() string {
	say := d.m.p.Say
	switch {
	case d.Title != "":
		return d.Title
	case len(d.Locks) == 1:
		return d.short(d.Locks[0])
	case len(d.Locks) > 1:
		return say("lesson.from", "first", d.short(d.Locks[0]), "last", d.short(d.Locks[len(d.Locks)-1]))
	case len(d.Races) > 0:
		return Story(d.Lang, d.Races[0], "title")
	case len(d.Screens) == 1:
		return say(screen(d.Screens[0]) + ".title")
	case len(d.Screens) > 1:
		return say("lesson.path")
	}
	return say("debate.title")
}

// short is the name of a lock in pictures; if that is its id, its title, up to what it says of it.
func (d *deckMaker) short(e lock.Entry) string {
	if name := text.Named(e.ID, d.Lang); name != e.ID {
		return name
	}
	title := text.LockTitle(e.ID, d.Lang)
	return title[:strings.IndexAny(title+":", ":：")]
}

// hook adds the first slide: two instances of a job. Its notes list what follows, and what is left out, by its kind.
func (d *deckMaker) hook() {
	rest := d.slides
	d.slides = nil
	d.slide(Hook, d.title(), nil)
	d.say("", d.Course)
	d.tell("", "lesson.hook")
	d.say("", lists.Each(d.Locks[:min(len(d.Locks), mostWithHow)], func(e lock.Entry) string {
		name, title := d.short(e), text.LockTitle(e.ID, d.Lang)
		if !strings.HasPrefix(title, name) {
			title = d.m.p.Label("explain.head", "text", name) + title
		}
		return "- " + title
	})...)
	if i := slices.IndexFunc(rest, func(s *Slide) bool { return s.Run != nil }); i >= 0 {
		o := rest[i].Run
		d.say("", d.m.p.Say("lesson.setting", "ttl", reports.InWords(d.Lang, o.History.TTL), "retry",
			reports.InWords(d.Lang, o.Race.Settings.Retry)))
	}
	d.tell(Asked, "lesson.hook.ask")
	shown := lists.Pick(rest, func(s *Slide) bool { return s.Kind == Race })
	broken := lists.Pick(rest, func(s *Slide) bool { return s.Kind != Quiz && s.Run != nil && fails(s.Run) })
	locks := unique(lists.Each(broken, func(s *Slide) string { return d.short(s.Run.Lock) }))
	d.list(Full, d.m.p.Say("lesson.hook.key", "locks", text.Join(d.Lang, "chart.list", locks)),
		lists.Each(shown, func(s *Slide) string { return RunTitle(d.Lang, s.Run) }))
	d.say(Notes, d.m.p.Say("lesson.minutes.all", "n", strconv.Itoa(Minutes(append(d.slides, rest...)))))
	d.tell(Notes, "lesson.keys")
	asks := len(lists.Pick(rest, func(s *Slide) bool { return s.Kind == Quiz }))
	d.left[Quiz] = d.left[Quiz][:max(0, min(len(d.left[Quiz]), d.Questions-asks))]
	d.say(Notes, slices.Compact(lists.Each(rest, func(s *Slide) string {
		if s.Kind == Quiz {
			return d.m.p.Say("lesson.quizzes", "n", strconv.Itoa(asks))
		}
		return s.Listed(d.Lang)
	}))...)
	kinds := d.absent
	for _, kind := range []string{How, Race, Next, Debate, Quiz} {
		if left := d.left[kind]; len(left) > 0 {
			named := text.Join(d.Lang, "grid.join", unique(left))
			kinds = append(kinds, d.m.p.Say("lesson.left."+kind, "n", strconv.Itoa(len(left)), "what", named))
		}
	}
	if kinds != nil {
		d.say(Left, d.m.p.Say("lesson.left", "slides", text.Join(d.Lang, "chart.list", kinds)))
	}
	d.slides = append(d.slides, rest...)
}

// leastOf lists the kinds of slides in the order in which they are left out where there are too many, each with the
// number that stays, of races for each lock: the failure of each lock and a cure matter more than how all of them work.
var leastOf = []struct {
	kind  string
	stays int
}{{Quiz, 1}, {Debate, 1}, {Race, 1}, {Next, 0}, {Race, 1}, {How, 0}, {Quiz, 0}, {Debate, 0}, {Race, 1}, {Race, 0}}

// fit leaves out slides until there are as many as asked for: the last ones of a kind, but of how locks work the first,
// and last the late write that is refused. The race that comes again with the next lock stays as long as that does, the
// first wrong delete as long as how a lock works, and the last pause as long as its late write that is refused.
func (d *deckMaker) fit() {
	wrong := lists.Pick(d.slides, func(s *Slide) bool { return s.Kind == Race && deletes(s.Run) })
	last := map[string]*Slide{} // of the slides about a race
	for _, s := range lists.Pick(d.slides, func(s *Slide) bool { return s.Kind == Race }) {
		last[s.Run.Race.ID] = s
	}
	kept := func(s *Slide) bool {
		return s.Kind == Race && slices.ContainsFunc(d.slides, func(o *Slide) bool {
			return o.Kind == Next && o.Run.Race.ID == s.Run.Race.ID || o.Kind == How && slices.Index(wrong, s) == 0 ||
				last[s.Run.Race.ID] == s && refuses(o.Run) && strings.HasPrefix(o.Run.Race.ID, s.Run.Race.ID+"-")
		})
	}
	late := func(s *Slide) int { return map[bool]int{true: 1}[refuses(s.Run)] }
	for _, least := range leastOf {
		of := lists.Pick(d.slides, func(s *Slide) bool { return s.Kind == least.kind })
		if least.kind != How {
			slices.Reverse(of)
		}
		slices.SortStableFunc(of, func(a, b *Slide) int { return late(a) - late(b) })
		for _, s := range of {
			alike := lists.Pick(d.slides, func(o *Slide) bool {
				return o.Kind == s.Kind && !kept(o) && (s.Kind != Race || o.Run.Lock.ID == s.Run.Lock.ID)
			})
			if many := d.Slides > 0 && len(d.slides)+2 > d.Slides; many && len(alike) > least.stays && !kept(s) {
				d.slides = lists.Pick(d.slides, func(o *Slide) bool { return o != s })
				d.left[s.Kind] = append(d.left[s.Kind], s.Listed(d.Lang))
			}
		}
	}
	if n := len(d.slides) + 2; d.Slides > 0 && n != d.Slides {
		d.m.failed(text.Errorf("error.lesson.slides", "asked", d.Slides, "has", n))
	}
	d.introduce()
	absent := func(e lock.Entry) bool {
		return !slices.ContainsFunc(d.shown(), func(o *race.Outcome) bool { return o.Lock.ID == e.ID })
	}
	d.absent = lists.Each(lists.Pick(d.Locks, absent), func(e lock.Entry) string {
		return d.m.p.Say("lesson.left.lock", "lock", d.short(e))
	})
	if len(d.absent) < len(d.Locks) {
		d.Locks = lists.Pick(d.Locks, func(e lock.Entry) bool { return !absent(e) })
	}
}

// asKey makes a key of a call. A script is the same by its digest.
var asKey = strings.NewReplacer("EVALSHA", "EVAL", " ", "-")

// introduce tells once how a lock is acquired and released, and what a reply means, and gives races their numbers.
func (d *deckMaker) introduce() {
	known, runs := map[string]bool{}, map[string]int{}
	for _, s := range d.slides {
		if s.Run == nil || s.Kind == Quiz {
			continue
		}
		for i, line := range slices.Backward(d.works(s.Run.Lock.ID)) {
			told := i == 0 || strings.HasPrefix(line, d.m.p.Say("lesson.release")) ||
				strings.Contains(line, "EVAL renew")
			if s.Kind == Race && told && !known[s.Run.Lock.ID] {
				s.Parts[""] = append([]Block{{Kind: Paragraph, Text: sentences(line, 2)}}, s.Parts[""]...)
			}
		}
		if known[s.Run.Lock.ID] = true; s.Kind == Race {
			runs[s.Heading]++
			s.Heading = d.m.p.Say("lesson.run", "lock", s.Heading, "n", strconv.Itoa(runs[s.Heading]))
		}
		run, _ := reports.RunOf(s.Run.History, s.Run.Judgement, s.Run.Verdicts, []string{d.Lang}, false)
		calls := unique(lists.Each(run.Messages, func(m reports.Message) string { return m.What }))
		sameKey := func(a, b string) bool { return asKey.Replace(a) == asKey.Replace(b) }
		for _, same := range lists.Gather(calls, sameKey) {
			if key := "lesson.reply." + asKey.Replace(same[0]); text.In(d.Lang).Has(key) && !known[key] {
				known[key] = true
				said := d.m.p.Say(key, "call", strings.Join(same, " / "))
				s.Parts[Read] = append(s.Parts[Read], Block{Kind: Paragraph, Text: said})
			}
		}
	}
}

// screens adds screens of the guided tour.
func (d *deckMaker) screens() {
	runs, err := all(d.Screens, d.m.stage.screen)
	d.m.failed(err)
	for i, o := range runs {
		d.race(o)
		d.tell(Notes, screen(d.Screens[i])+".idea", screen(d.Screens[i])+".next", screen(d.Screens[i])+".choose")
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
		d.race(example)
		if i := slices.IndexFunc(played, holds); i >= 0 {
			d.next(played[i])
		}
	}
}

// locks adds locks: how each works, in which races it fails, most at most, and what the next lock makes of one of them.
func (d *deckMaker) locks() {
	few, most := len(d.Locks) <= mostWithHow, 3-min(len(d.Locks)/3, 2)
	var mended *race.Outcome // the lock before in a race in which it fails, with this one; nil: none
	for i, e := range d.Locks {
		after, _ := race.Successor(e)
		if i+1 < len(d.Locks) {
			after = d.Locks[i+1]
		}
		played, next := d.chosen(e, after, most)
		if few {
			d.how(e, played)
		}
		if again := len(played) == 1 && played[0] == mended; few && mended != nil && !again {
			d.next(mended)
		}
		for _, o := range played {
			if !slices.Contains(d.shown(), o) {
				d.race(o)
			}
		}
		mended = next
	}
	if few && mended != nil {
		d.next(mended)
	}
}

// holds reports whether a lock survives a race that applies to it.
func holds(o *race.Outcome) bool { return o.History != nil && o.Verdicts[0] == verdict.Holds }

// deletes reports whether a client deletes another's lock.
func deletes(o *race.Outcome) bool { return o != nil && slices.Contains(o.Verdicts, verdict.WrongDel) }

// refuses reports whether the resource refuses a late write.
func refuses(o *race.Outcome) bool { return o != nil && slices.Contains(o.Verdicts, verdict.Fenced) }

// numbered reports whether a lock hands out fencing tokens, though its resource may not check them.
func numbered(o *race.Outcome) bool {
	token := func(e history.Event) bool { return e.Kind == history.Enter && e.Token > 0 }
	return o.History != nil && !o.Lock.Ensemble() && slices.ContainsFunc(o.History.Events, token)
}

// playedIn plays a lock in those of some races that apply to it.
func (d *deckMaker) playedIn(e lock.Entry, races []race.Race) []*race.Outcome {
	played := lists.Each(races, func(sc race.Race) *race.Outcome { return d.named(e.ID, sc.ID) })
	return lists.Pick(played, func(o *race.Outcome) bool { return o.History != nil })
}

// chosen returns runs of a lock in the races that are named. If it fails in none it adds some in which it fails: in the
// most telling race, in that which tells the lock after it from most others, since it survives, and in others by rank,
// and of a lock with fencing tokens the first in which one is refused. next is the run of the lock after it in the
// first of these races that it survives, or else in the first at all.
func (d *deckMaker) chosen(e, after lock.Entry, most int) (all []*race.Outcome, next *race.Outcome) {
	if all = d.playedIn(e, d.Races); !slices.ContainsFunc(all, fails) {
		left := lists.Pick(d.playedIn(e, telling()), func(o *race.Outcome) bool { return fails(o) && !debated(o) })
		mended := lists.Pick(left, func(o *race.Outcome) bool { return holds(d.named(after.ID, o.Race.ID)) })
		slices.SortStableFunc(mended, func(a, b *race.Outcome) int { return common(b.Race) - common(a.Race) })
		own := unique(slices.Concat(left[:min(1, len(left))], mended[:min(1, len(mended))]))
		for len(own) < min(most, len(left)) {
			seen := append(d.shown(), own...)
			rest := lists.Pick(left, func(o *race.Outcome) bool { return !slices.Contains(own, o) })
			first := func(a, b *race.Outcome) int { return rank(a, seen) - rank(b, seen) }
			own = append(own, slices.MinFunc(rest, first))
		}
		all = append(all, own[:min(most, len(own))]...)
	}
	again := lists.Each(all, func(o *race.Outcome) *race.Outcome { return d.named(after.ID, o.Race.ID) })
	again = lists.Pick(again, func(o *race.Outcome) bool { return o.History != nil })
	if i := slices.IndexFunc(again, holds); again != nil {
		next = again[max(i, 0)]
	}
	if numbered(d.named(e.ID, "calm")) {
		fenced := lists.Pick(d.playedIn(e, scenarios.Known()), refuses)
		all = unique(append(all, fenced[:min(1, len(fenced))]...))
	}
	return all, next
}

// named plays a lock in a race. Of no lock, and after an error, the outcome is that of no run.
func (d *deckMaker) named(id, raceID string) *race.Outcome {
	if id != "" {
		if o, err := d.m.stage.Named(id, raceID); !d.m.failed(err) {
			return o
		}
	}
	return &race.Outcome{Verdicts: []verdict.Word{verdict.NA}}
}

// how adds how a lock works, without faults. Its answer lists the verdicts of the runs that follow.
func (d *deckMaker) how(e lock.Entry, played []*race.Outcome) {
	key, calm := "lock."+e.ID, "calm"
	if e.Family == lock.Line {
		calm = "in-line"
	}
	d.slide(How, d.short(e), d.named(e.ID, calm))
	d.say("", d.works(e.ID)...)
	d.say(Asked, d.m.p.Say("lesson.how"))
	ends := func(o *race.Outcome) string {
		return d.m.p.Label("explain.head", "text", RunTitle(d.Lang, o)) + glossed(d.Lang, o.Verdicts)
	}
	for _, o := range played {
		d.say(Answer, ends(o))
		d.say(Full, ends(o))
		d.full(1, o)
	}
	others := func(o *race.Outcome) bool { return fails(o) && !slices.Contains(played, o) }
	d.list(Full, d.m.p.Say("lesson.also"), lists.Each(lists.Pick(d.playedIn(e, telling()), others), ends))
	d.tell(Notes, "title.lock."+e.ID, key+".mends", key+".origin", key+".beside")
}

// works returns how a lock works, in full: a text that refers to another lock follows that of the other one.
func (d *deckMaker) works(id string) []string {
	lines := d.m.lines(d.Lang, "lock."+id+".how")
	m := likeAnother.FindStringSubmatch(lines[0])
	if m == nil || !slices.ContainsFunc(algorithms.All(), func(e lock.Entry) bool { return e.ID == m[1] }) {
		return lists.Each(lines, func(line string) string { return inBrackets.ReplaceAllString(line, "") })
	}
	lines[0] = d.m.p.Say("lesson.but", "text", m[2])
	return append(d.works(m[1]), lines...)
}

// likeAnother matches how a lock works that is like another.
var likeAnother = regexp.MustCompile(`^(?:As |同 )([a-z0-9-]+)[,;:.，；：]? ?(?:but |但)?(.*)`)

// glossed are verdicts with what they mean in a word or two.
func glossed(lang string, words []verdict.Word) string {
	return text.Join(lang, "lesson.word.and", lists.Each(words, func(w verdict.Word) string {
		return text.Say(lang, "lesson.word", "word", string(w), "means", text.Say(lang, "word."+string(w)))
	}))
}

// race adds a slide about a run, with what prevents it. What it is is part of the answer.
func (d *deckMaker) race(o *race.Outcome) {
	key := "race." + o.Race.ID
	cure := spoken(d.Lang, d.m.p.Say("lesson.prevents", "text", d.brief(1, key+".mends")))
	d.run(Race, d.short(o.Lock), d.m.p.Say("lesson.ask"), d.found(o), cure, o)
	d.tell(Notes, key+".why")
	d.say(Notes, Story(d.Lang, o.Race, "story"))
	d.list(Notes, d.m.p.Say("label.race.not"), d.m.lines(d.Lang, key+".not"))
	d.list(Notes, d.m.p.Say("label.race.mends"), d.m.lines(d.Lang, key+".mends"))
}

// next adds the same race with another lock.
func (d *deckMaker) next(o *race.Outcome) {
	name, key := d.short(o.Lock), "race."+o.Race.ID+".mends"
	enough := map[bool]string{true: "lesson.enough", false: "lesson.enough.not"}[holds(o)]
	found, asks := d.m.p.Say(enough, "found", d.found(o)), d.m.p.Say("lesson.next.ask", "lock", name)
	d.run(Next, d.m.p.Say("lesson.next", "lock", name), asks, found, d.brief(1, key), o)
	d.list(Notes, d.m.p.Say("label.race.mends"), d.m.lines(d.Lang, key))
	d.tell(Notes, "lock."+o.Lock.ID+".mends")
}

// found is what a run comes to.
func (d *deckMaker) found(o *race.Outcome) string {
	said := because(d.m.p, glossed(d.Lang, o.Verdicts), o)
	if numbered(o) && o.History.Guard == history.Naive && slices.Contains(o.Verdicts, verdict.StaleWrite) {
		return d.m.p.Say("lesson.unchecked", "found", said)
	}
	return said
}

// run adds a slide with a question, a run, and the answer: what happens, what it comes to, and a sentence of a text.
func (d *deckMaker) run(kind, heading, asked, found, answer string, o *race.Outcome) {
	d.slide(kind, heading, o)
	d.say(Asked, asked)
	d.say(Answer, RunTitle(d.Lang, o), found, answer)
	d.full(2, o)
}

// brief are the first n sentences of a text, without what stands in brackets.
func (d *deckMaker) brief(n int, key string) string {
	return sentences(text.Tight(strings.Join(d.m.lines(d.Lang, key), " ")), n)
}

// full adds for the key in about n sentences each why a race ends as it does, and what prevents it.
func (d *deckMaker) full(n int, o *race.Outcome) {
	key := "race." + o.Race.ID
	cure := d.m.p.Say("lesson.prevents", "text", d.brief(2*n-1, key+".mends"))
	if deletes(o) && n > 1 {
		cure = text.Join(d.Lang, "part.sentences", []string{cure, reports.Cure(verdict.WrongDel, d.Lang)})
	}
	d.say(Full, spoken(d.Lang, d.brief(n, key+".why")), spoken(d.Lang, cure))
}

var (
	inBrackets = regexp.MustCompile(`\s?\([^()]*\)|（[^（）]*）`)
	inMillis   = regexp.MustCompile(`(\d+)(\d{3}) ms`) // those of a picture are in seconds
	sentenced  = regexp.MustCompile(`.*?(?:[.?!]"?(?: |$)|[。？！]」?|$)`)
)

// sentences are the first n of a text, without what stands in brackets.
func sentences(said string, n int) string {
	found := sentenced.FindAllString(inBrackets.ReplaceAllString(said, ""), n)
	return strings.TrimSpace(strings.Join(found, ""))
}

// debate adds the points of the debate, or those that a lesson about Redlock has.
func (d *deckMaker) debate() {
	about := func(e lock.Entry) bool { return strings.HasPrefix(e.ID, "redlock") }
	for n := 1; n <= DebatePoints; n++ {
		if !d.Debate && (n == 1 || n == DebatePoints || !slices.ContainsFunc(d.Locks, about)) {
			continue
		}
		key := fmt.Sprintf("debate.%d", n)
		first, err := d.m.stage.Backing(key + ".trace")
		more, wrong := d.m.stage.Backing(key + ".runs")
		if d.m.failed(errors.Join(err, wrong)) {
			return
		}
		d.slide(Debate, d.m.p.Say("lesson.debate", "title", d.m.p.Say(key+".title")), first[0])
		d.part("", func() { d.m.argued(n) })
		d.say(Asked, d.m.p.Say("lesson.debate.ask"))
		if lock := first[0].Lock; !about(lock) {
			d.say("", d.m.p.Say("lesson.debate.lock", "lock", text.LockTitle(lock.ID, d.Lang)))
		}
		d.say(Answer, d.brief(2, key+".says"))
		d.say(Full, d.brief(-1, key+".says"))
		d.tell(Notes, key+".says")
		for _, o := range append(first, more...) {
			named := Slide{Heading: d.short(o.Lock), Run: o}.Listed(d.Lang)
			d.say(Full, d.m.p.Label("explain.head", "text", named)+d.found(o))
			d.say(Notes, d.m.ending(o))
		}
	}
}

// shown are the runs of the slides so far.
func (d *deckMaker) shown() []*race.Outcome {
	of := lists.Pick(d.slides, func(s *Slide) bool { return s.Run != nil })
	return lists.Each(of, func(s *Slide) *race.Outcome { return s.Run })
}

// others are cells that were not shown: the locks in other telling races, or, of races, the milestones in these.
func (d *deckMaker) others() (cells []game.Cell) {
	cell := func(o *race.Outcome) game.Cell { return game.Cell{Lock: o.Lock.ID, Race: o.Race.ID} }
	shown := lists.Each(d.shown(), cell)
	for _, of := range d.shown() {
		played := d.playedIn(of.Lock, telling())
		if len(d.Locks)+len(d.Screens) == 0 && !d.Debate {
			again := func(e lock.Entry) *race.Outcome { return d.named(e.ID, of.Race.ID) }
			played = lists.Each(algorithms.Milestones(), again)
		}
		cells = append(cells, lists.Each(lists.Pick(played, func(o *race.Outcome) bool {
			same := func(e lock.Entry) bool { return e.ID == o.Lock.ID }
			about := d.Locks == nil || slices.ContainsFunc(d.Locks, same)
			return about && o.History != nil && !slices.Contains(shown, cell(o)) && (fails(o) || common(o.Race) > 1)
		}), cell)...)
	}
	return unique(cells)
}

// quiz adds questions about runs not shown, as many of each lock. Right answers stand in all places equally often.
func (d *deckMaker) quiz() {
	cells := d.others()
	if len(cells) == 0 {
		return
	}
	locks := unique(lists.Each(cells, func(c game.Cell) string { return c.Lock }))
	places, placed, about := rand.New(rand.NewPCG(d.Seed, 0)).Perm(4), map[int]int{}, map[string]int{}
	known := lists.Each(algorithms.Milestones(), func(e lock.Entry) string { return e.ID })
	quiz := game.NewQuiz(d.Seed, game.Scope{Cells: cells, Locks: unique(append(known, locks...))})
	for n := 1; n <= max(d.Questions, d.Slides); { // of which those go that are too many
		q, err := quiz.Next()
		if errors.As(err, new(*game.NoQuestionError)) || d.m.failed(err) {
			return
		}
		o := q.Outcome
		if o.History == nil || about[o.Lock.ID] > (n-1)/len(locks) || about[o.Lock.ID+" "+o.Race.ID] > 0 {
			continue // the first is about other locks
		}
		of := lists.Pick(places, func(i int) bool { return i < len(q.Answers) })
		at := slices.MinFunc(of, func(a, b int) int { return placed[a] - placed[b] })
		was := slices.IndexFunc(q.Answers, func(a game.Answer) bool { return a.Right })
		right := &q.Answers[was] // it says what its lock relies on
		if id, _, isLock := strings.Cut(right.Said["en"], ":"); q.Kind == "prevents" && isLock {
			works := d.works(id)
			right.Why[d.Lang] = text.Join(d.Lang, "part.sentences", []string{right.Why[d.Lang], works[len(works)-1]})
		}
		q.Answers[at], q.Answers[was] = q.Answers[was], q.Answers[at]
		placed[at]++
		about[o.Lock.ID]++
		about[o.Lock.ID+" "+o.Race.ID]++
		d.slide(Quiz, d.m.p.Say("lesson.quiz", "n", strconv.Itoa(n), "lock", d.short(o.Lock)),
			d.named(o.Lock.ID, o.Race.ID))
		inSeconds := func(said game.Words) { said[d.Lang] = inMillis.ReplaceAllString(said[d.Lang], "$1.$2 s") }
		inSeconds(q.Ask)
		d.say(Asked, q.Ask[d.Lang])
		s := d.slides[len(d.slides)-1]
		for _, a := range q.Answers {
			inSeconds(a.Said)
			inSeconds(a.Why)
		}
		if s.Asks, s.Choices = o, q.Answers; fails(s.Run) {
			d.say(Answer, d.brief(1, "race."+o.Race.ID+".why"))
		}
		d.full(2, o)
		n++
	}
}

// end adds what to remember.
func (d *deckMaker) end() {
	d.slide(End, d.m.p.Say("lesson.end"), nil)
	var points []string
	for _, e := range d.Locks {
		key := "lock." + e.ID + ".choose"
		when := d.brief(max(1, 3-len(d.Locks)), key)
		points = append(points, d.m.p.Say("lesson.choose", "lock", d.short(e), "when", when))
		d.tell(Notes, key)
	}
	if slices.ContainsFunc(d.slides, func(s *Slide) bool { return s.Kind == Debate }) {
		points = append(points, d.m.p.Say("lesson.end.promise"), d.m.p.Say("lesson.end.effort"),
			d.m.p.Say("lesson.end.data"))
	}
	d.list("", "", points)
	if len(d.Screens) > 0 {
		d.tell("", screen(PathScreens)+".choose")
	}
	if len(d.Locks) == 0 {
		for _, sc := range d.Races {
			d.tell("", "race."+sc.ID+".mends")
		}
	}
	d.list(Sources, d.m.p.Say("lesson.sources"), d.sources())
}

// sources are what to read about the locks of the slides, by name.
func (d *deckMaker) sources() (all []string) {
	for _, s := range lists.Pick(d.slides, func(s *Slide) bool { return s.Run != nil }) {
		switch e := s.Run.Lock; {
		case s.Kind == Debate || e.Family == lock.Majority:
			all = append(all, "kleppmann", "redis", "sanfilippo")
		case e.OnZooKeeper():
			all = append(all, "zookeeper")
		case e.Database == "" && !e.Local():
			all = append(all, "redis")
		}
	}
	slices.Sort(all)
	return lists.Each(all, func(name string) string { return d.m.p.Say("lesson.source." + name) })
}
