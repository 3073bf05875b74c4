package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/lessons"
	"locklab/scenarios"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// What explain prints, page by page. A page is made of parts; a part has a heading
// from the lessons' labels, and beneath it either a text of theirs or something played.

// explainedJSON is a page for programs. Texts are by language and key.
type explainedJSON struct {
	Version int                            `json:"version"`
	Lock    *listedStrategy                `json:"strategy,omitempty"`
	Race    *listedScenario                `json:"scenario,omitempty"`
	Story   *scenarios.Text                `json:"story,omitempty"`
	Numbers *scenarios.Text                `json:"numbers,omitempty"`
	Texts   map[string]map[string][]string `json:"texts"`
	Cells   []cellJSON                     `json:"cells,omitempty"`
}

// texts are all texts whose keys begin with one of the prefixes, filled in.
func (a *app) texts(prefixes ...string) (map[string]map[string][]string, error) {
	all := map[string]map[string][]string{}
	for _, lang := range a.langs() {
		all[lang] = map[string][]string{}
		for _, prefix := range prefixes {
			for _, key := range lessons.In(lang).Keys(prefix) {
				lines, err := a.teacher(lang).lines(key)
				if err != nil {
					return nil, internal(err)
				}
				all[lang][key] = lines
			}
		}
	}
	return all, nil
}

func (a *app) teacher(lang string) *teacher {
	return &teacher{ctx: a.ctx, lang: lang, stage: a.stage}
}

// label is a heading in the languages that were asked for.
func (a *app) label(name string) string {
	var names []string
	for _, lang := range a.langs() {
		names = append(names, lessons.In(lang).Name("label."+name))
	}
	return strings.Join(names, " / ")
}

// part begins a part of a page.
func (a *app) part(heading string) {
	a.printf("\n")
	a.wrap("", heading)
}

// beside is a label with what follows it on the same line kept apart from it.
func beside(label string) string {
	if strings.HasSuffix(label, "：") { // a wide colon brings its own room
		return label
	}
	return label + " "
}

// text prints a text of the lessons under its label, in each language; nothing where
// there is none.
func (a *app) text(label, key string) error {
	for _, lang := range a.langs() {
		lines, err := a.teacher(lang).lines(key)
		if err != nil {
			return internal(err)
		}
		if lines == nil {
			continue
		}
		if label != "" {
			a.part(lessons.In(lang).Name("label." + label))
		}
		for _, line := range lines {
			a.wrap("  ", line)
		}
	}
	return nil
}

// textParts are labels with the keys of their texts.
func (a *app) textParts(parts ...[2]string) error {
	for _, p := range parts {
		if err := a.text(p[0], p[1]); err != nil {
			return err
		}
	}
	return nil
}

// told prints a text that a run brings along beneath a label, in each language.
func (a *app) told(label string, t scenarios.Text) {
	for _, lang := range a.langs() {
		if in(lang, t) != "" {
			a.part(lessons.In(lang).Name("label." + label))
			a.wrap("  ", in(lang, t))
		}
	}
}

// capitals says where to look up the verdicts in a text.
func (a *app) capitals() {
	for _, text := range a.ownText("label.capitals", map[string]string{"harm": string(verdict.Overlap)}) {
		a.wrap("", text)
	}
}

// indented prints what draw prints, two columns to the right.
func (a *app) indented(draw func(b *app) error) error {
	var text bytes.Buffer
	b := *a
	b.stdout, b.width = &text, a.width-2
	err := draw(&b)
	for line := range strings.Lines(text.String()) {
		a.printf("%s", strings.TrimRight("  "+line, " \n")+"\n")
	}
	return err
}

func padded(s string, width int) string { return fmt.Sprintf("%-*s", width, s) }

// asksRedis says whether an event is a request to a server.
func asksRedis(e history.Event) bool { return e.Kind == history.Send && e.Node > 0 }

// article is the id of a lock in the articles, if it has one, for a title.
func article(e algorithms.Entry) string {
	if e.Article == "" {
		return strconv.Itoa(e.Year)
	}
	return e.Article + ", " + strconv.Itoa(e.Year)
}

func (a *app) explainLock(e algorithms.Entry) error {
	row, err := a.stage.row(e)
	if err != nil {
		return err
	}
	if a.json {
		texts, err := a.texts("lock." + e.ID + ".")
		if err != nil {
			return err
		}
		return a.printJSON(explainedJSON{Version: schema, Lock: new(listed(e)), Texts: texts, Cells: cellsJSON(row)})
	}
	key := "lock." + e.ID
	a.wrap("", fmt.Sprintf("%s (%s): %s", e.ID, article(e), a.say(e.Title.EN, e.Title.ZH)))
	if err := a.text("how", key+".how"); err != nil {
		return err
	}
	if err := a.session(e); err != nil {
		return err
	}
	if err := a.textParts([2]string{"mends", key + ".mends"}, [2]string{"choose", key + ".choose"}, [2]string{"beside", key + ".beside"}); err != nil {
		return err
	}
	a.becomes(row)
	if err := a.textParts([2]string{"origin", key + ".origin"}, [2]string{"words", key + ".words"}); err != nil {
		return err
	}
	a.printf("\n")
	a.capitals()
	fallen := gravest(row).Scenario.ID
	steps := []string{"locklab explain " + e.ID + " " + fallen, "locklab explain " + fallen}
	if m := builtOn.FindStringSubmatch(lessons.In("en").Name(key + ".how")); m != nil {
		steps[1] = "locklab explain " + m[1]
	}
	if s, ok := scenarios.Successor(e); ok {
		steps = append(steps, "locklab explain "+s.ID)
	}
	a.next(steps...)
	return nil
}

// builtOn finds the lock in whose terms another's mechanism is told.
var builtOn = regexp.MustCompile(`^As ([a-z][a-z0-9-]*)`)

// session is the lock with nobody else about, as typed into redis-cli; or what is said
// to a ZooKeeper.
func (a *app) session(e algorithms.Entry) error {
	o, err := a.teacher("en").alone(e)
	if err != nil || !slices.ContainsFunc(o.History.Events, asksRedis) {
		return err
	}
	if e.Expiry == algorithms.ExpirySession {
		a.part(a.label("session.zookeeper"))
		return a.notation(o)
	}
	a.part(a.label("session"))
	first := *o.History // of several servers the first will do: all are asked the same
	first.Nodes = 1
	first.Events = slices.DeleteFunc(slices.Clone(first.Events), func(e history.Event) bool { return e.Node > 1 })
	err = a.indented(func(b *app) error {
		return reports.RedisCLI(b.stdout, &first, verdict.Judgement{}, b.options())
	})
	if o.History.Nodes > 1 {
		a.wrap("  # ", a.label("session.all"))
	}
	return internal(err)
}

// becomes sorts what becomes of a lock in each race: falls, each with the command that
// plays it, then waits, then the rest by name.
func (a *app) becomes(row []*scenarios.Outcome) {
	var waits, stands, senseless []string
	a.part(a.label("falls"))
	any := false
	for _, o := range row {
		race := o.Scenario.ID
		switch w := o.Verdicts[0]; {
		case falls(o):
			any = true
			head := "  " + padded("locklab run "+o.Strategy.ID+" "+race, 44) + " " + padded(o.Scenario.Race, 5)
			if a.width >= reports.NarrowWidth {
				a.wrap(head, a.outcomeWords(o))
				break
			}
			a.printf("%s\n", strings.TrimRight(head, " "))
			a.wrap("      ", a.outcomeWords(o))
		case w.Broken():
			waits = append(waits, race+" "+a.waiting(o))
		case w == verdict.NA:
			senseless = append(senseless, race)
		default:
			stands = append(stands, race)
		}
	}
	if !any {
		a.printf("  -\n")
	}
	for _, list := range []struct {
		label string
		names []string
	}{{"waits", waits}, {"stands", stands}, {"senseless", senseless}} {
		if len(list.names) > 0 {
			a.part(a.label(list.label))
			a.wrap("  ", a.sideBySide(list.names))
		}
	}
}

// mark is a punctuation mark of the language that comes first.
func (a *app) mark(en, zh string) string {
	if a.langs()[0] == "zh" {
		return zh
	}
	return en
}

func (a *app) sideBySide(names []string) string { return strings.Join(names, a.mark(", ", "、")) }

func (a *app) inBrackets(aside string) string {
	return a.mark(" (", "（") + aside + a.mark(")", "）")
}

// waiting is the longest wait of an outcome.
func (a *app) waiting(o *scenarios.Outcome) string {
	d := max(longest(o, verdict.Blocked), longest(o, verdict.Phantom))
	return a.teacher(a.langs()[0]).span(d)
}

// outcomeWords are the verdicts of an outcome, and the contract's reason for them.
func (a *app) outcomeWords(o *scenarios.Outcome) string {
	text := join(o.Verdicts)
	if d := longest(o, verdict.Blocked); d > 0 {
		text += a.inBrackets(a.teacher(a.langs()[0]).span(d))
	}
	why := o.NotApplicable
	if o.Expected != nil && o.AsExpected() && why == (scenarios.Text{}) {
		why = scenarios.Why(o.Strategy, o.Scenario)
	}
	if why != (scenarios.Text{}) {
		text += a.mark(": ", "：") + a.say(why.EN, why.ZH)
	}
	return text
}

func (a *app) explainRace(sc scenarios.Scenario) error {
	told, cells, err := a.teller(sc)
	if err != nil {
		return err
	}
	if a.json {
		texts, err := a.texts("race." + sc.ID + ".")
		if err != nil {
			return err
		}
		return a.printJSON(explainedJSON{
			Version: schema, Race: new(listedRace(sc)), Story: &sc.Story, Numbers: &sc.Numbers, Texts: texts, Cells: cellsJSON(cells),
		})
	}
	a.raceHead(sc)
	if told.History != nil {
		a.part(beside(a.label("notation")) + "locklab run " + told.Strategy.ID + " " + sc.ID)
		if err := a.notation(told); err != nil {
			return err
		}
	}
	key := "race." + sc.ID
	if err := a.textParts([2]string{"why", key + ".why"}, [2]string{"cure", key + ".mends"}, [2]string{"not", key + ".not"}); err != nil {
		return err
	}
	a.who(sc)
	if err := a.text("cases", key+".cases"); err != nil {
		return err
	}
	a.printf("\n")
	a.capitals()
	fallen := told.Strategy.ID
	a.next("locklab explain "+fallen+" "+sc.ID, "locklab run "+fallen+" "+sc.ID+" --view redis", "locklab matrix --scenarios "+sc.ID)
	return nil
}

// raceHead is what a race is about.
func (a *app) raceHead(sc scenarios.Scenario) {
	a.wrap("", strings.TrimSpace(sc.Race+" "+sc.ID)+": "+a.say(sc.Title.EN, sc.Title.ZH))
	if sc.Story == (scenarios.Text{}) {
		return
	}
	a.printf("\n")
	for _, lang := range a.langs() {
		a.wrap("  ", in(lang, sc.Story))
	}
	a.told("numbers", sc.Numbers)
}

// teller is the lock with which a race is told: of those on which the story turns
// the one that falls deepest, the one that most people would write before the others;
// or else of all. cells are what was played.
func (a *app) teller(sc scenarios.Scenario) (told *scenarios.Outcome, cells []*scenarios.Outcome, err error) {
	usual, err := scenarios.Strategy("token")
	if err != nil {
		return nil, nil, internal(err)
	}
	turning := append([]algorithms.Entry{usual}, slices.DeleteFunc(algorithms.Milestones(), func(e algorithms.Entry) bool { return e.ID == usual.ID })...)
	for _, locks := range [][]algorithms.Entry{turning, algorithms.All()} {
		cells = nil
		for _, e := range locks {
			o, err := a.stage.play(e, sc)
			if err != nil {
				return nil, nil, err
			}
			cells = append(cells, o)
		}
		if told = gravest(cells); told.Verdicts[0].Broken() {
			break
		}
	}
	return told, cells, nil
}

// notation prints a run as the articles tell it, and what it comes to.
func (a *app) notation(o *scenarios.Outcome) error {
	return internal(a.indented(func(b *app) error {
		return reports.Notation(b.stdout, o.History, o.Judgement, b.options())
	}))
}

// who says of all locks what the contract has them come to in a race: first the
// falls, then the waits, then those that stand.
func (a *app) who(sc scenarios.Scenario) {
	a.part(a.label("who"))
	var heads []string
	rank, names := map[string]int{}, map[string][]string{}
	for _, e := range algorithms.All() {
		c := scenarios.Contracted(e, sc)
		head := join(c.Words)
		if why := a.say(c.Why.EN, c.Why.ZH); c.Why != (scenarios.Text{}) {
			head += a.inBrackets(why)
		}
		if names[head] == nil {
			heads = append(heads, head)
			switch w := c.Words[0]; {
			case slices.ContainsFunc(c.Words, verdict.Word.Harm):
				rank[head] = 0
			case w.Broken():
				rank[head] = 1
			case w == verdict.NA:
				rank[head] = 3
			default:
				rank[head] = 2
			}
		}
		names[head] = append(names[head], e.ID)
	}
	slices.SortStableFunc(heads, func(x, y string) int { return rank[x] - rank[y] })
	for _, head := range heads {
		a.wrap("  ", head+a.mark(":", "："))
		a.wrap("    ", a.sideBySide(names[head]))
	}
}

func (a *app) explainPair(lock, race string) error {
	e, err := scenarios.Strategy(lock)
	if err != nil {
		return err
	}
	sc, err := scenarios.ByName(race)
	if err != nil {
		return err
	}
	o, err := a.stage.play(e, sc)
	if err != nil {
		return err
	}
	return a.explainRun(o)
}

// explainRun explains one run, of a race or found by search.
func (a *app) explainRun(o *scenarios.Outcome) error {
	if a.json {
		return a.printRun(o)
	}
	a.wrap("", fmt.Sprintf("%s (%s): %s", o.Strategy.ID, article(o.Strategy), a.say(o.Strategy.Title.EN, o.Strategy.Title.ZH)))
	a.raceHead(o.Scenario)
	if o.NotApplicable != (scenarios.Text{}) {
		a.printf("\n%s: %s\n", verdict.NA, a.say(o.NotApplicable.EN, o.NotApplicable.ZH))
		a.next("locklab explain "+o.Scenario.ID, "locklab explain "+o.Strategy.ID)
		return nil
	}
	watched, err := scenarios.Watch(o.Trace)
	if err != nil {
		return internal(err)
	}
	from, event, err := a.certainty(o)
	if err != nil {
		return err
	}
	look := a.options()
	look.NoReturn = event
	a.part(a.label("lanes"))
	if err := reports.Lanes(a.stdout, watched.History, watched.Judgement, look); err != nil {
		return internal(err)
	}
	a.meanings(o)
	if o.Scenario.ID != scenarios.SearchID {
		a.compare(o)
	}
	if o.Expected != nil && o.AsExpected() {
		a.told("cause", scenarios.Why(o.Strategy, o.Scenario))
	}
	for i, text := range from {
		a.part(lessons.In(a.langs()[i]).Name("label.certain"))
		a.wrap("  ", text)
	}
	if err := a.tellDoom(); err != nil {
		return err
	}
	if err := a.mend(o); err != nil {
		return err
	}
	if slices.ContainsFunc(watched.History.Events, asksRedis) {
		a.part(a.label("code"))
	}
	if err := reports.Code(a.stdout, watched.History, a.options()); err != nil {
		return internal(err)
	}
	if err := a.nextLocks(o); err != nil {
		return err
	}
	a.next(nextAfter(o)...)
	return nil
}

// explainedRunJSON is a run with the lines of the lock's code.
type explainedRunJSON struct {
	runJSON
	Code []codeJSON `json:"code"`
}

// codeJSON are the lines by which an event of the run was asked for, the innermost
// call first.
type codeJSON struct {
	Event int      `json:"event"` // its place among the events, from 0
	Lines []string `json:"lines"`
}

func (a *app) printRun(o *scenarios.Outcome) error {
	j := explainedRunJSON{runJSON: outcomeJSON(o), Code: []codeJSON{}}
	if o.History != nil {
		watched, err := scenarios.Watch(o.Trace)
		if err != nil {
			return internal(err)
		}
		for i, e := range watched.History.Events {
			if len(e.Code) > 0 {
				j.Code = append(j.Code, codeJSON{i, e.Code})
			}
		}
	}
	return a.printJSON(j)
}

// mend says what mends a race, or what else there is to go by.
func (a *app) mend(o *scenarios.Outcome) error {
	if key := "race." + o.Scenario.ID + ".mends"; lessons.In("en").Has(key) {
		return a.text("fix", key)
	}
	a.told("fix", scenarios.Text{EN: cure(o, "en"), ZH: cure(o, "zh")})
	return nil
}

// certainty says, in each language, from when the harm of a run was certain, and at
// which of its events. Of what a search has found the curve of its doom says it.
func (a *app) certainty(o *scenarios.Outcome) (text []string, event int, err error) {
	key, own := "label.certain.none", map[string]string{}
	if o.Scenario.ID == scenarios.SearchID {
		d, err := scenarios.DoomOf(a.ctx, o.Trace, "")
		large := (*explore.TooLargeError)(nil)
		switch {
		case errors.As(err, &large) || errors.Is(err, context.Canceled):
			return a.inAll(err.Error()), 0, nil
		case err != nil && o.Verdicts[0].Broken():
			return a.inAll(err.Error()), 0, nil
		case err != nil:
			return a.ownText(key, own), 0, nil
		}
		a.doom = doomCurve(d)
		return nil, a.doom.NoReturnEvent(), nil
	}
	c, err := scenarios.CertainFrom(o)
	switch {
	case errors.Is(err, scenarios.ErrNoHarm):
	case err != nil:
		return nil, 0, internal(err)
	case c.Event == 0:
		key, own["harm"] = "label.certain.start", string(c.Harm)
	default:
		at := o.History.Events[c.Event-1].At
		key, own["harm"] = "label.certain.event", string(c.Harm)
		own["time"] = strconv.FormatFloat(float64(at.Round(time.Millisecond/10))/float64(time.Millisecond), 'f', -1, 64)
	}
	return a.ownText(key, own), c.Event, nil
}

// ownText is a text with places of its own, in each language.
func (a *app) ownText(key string, own map[string]string) (text []string) {
	for _, lang := range a.langs() {
		t := a.teacher(lang)
		t.own = own
		lines, err := t.lines(key)
		if err != nil {
			lines = []string{err.Error()}
		}
		text = append(text, strings.Join(lines, " "))
	}
	return text
}

func (a *app) inAll(text string) (all []string) {
	for range a.langs() {
		all = append(all, text)
	}
	return all
}

// nextLocks makes the same attack on each lock on which the story turns. What a search
// has found is no script that could be played: there the same bad luck is allowed.
func (a *app) nextLocks(o *scenarios.Outcome) error {
	if o.Scenario.ID == scenarios.SearchID {
		return a.nextSearched(o)
	}
	a.part(a.label("next"))
	for _, e := range algorithms.Milestones() {
		other, err := scenarios.Play(e, o.Scenario, o.Settings)
		if err != nil { // its lease is of another kind, such as whole seconds
			a.wrap("  "+padded(e.ID, 14)+" ", err.Error())
			continue
		}
		a.wrap("  "+padded(e.ID, 14)+" ", a.outcomeWords(other))
	}
	return nil
}

// nextStates is how many states of each other lock are looked at: a second or two.
const nextStates = 300_000

func (a *app) nextSearched(o *scenarios.Outcome) error {
	b, err := scenarios.ParseBounds(o.Trace.Settings)
	if err != nil {
		return internal(err)
	}
	a.part(a.label("next.search"))
	for _, e := range algorithms.Milestones() {
		with := b
		with.Nodes, with.Asks, with.MaxStates = scenarios.FrontierNodes(e), 0, nextStates
		text := ""
		if s, err := scenarios.Explore(a.ctx, e, with); err != nil {
			text = err.Error()
		} else {
			text = witnesses(s)
		}
		a.wrap("  "+padded(e.ID, 14)+" ", text)
	}
	return nil
}

// witnesses are what a search has found: each verdict with its par.
func witnesses(s *scenarios.Search) string {
	var words []string
	for _, w := range s.Witnesses {
		words = append(words, fmt.Sprintf("%s@%d", w.Verdict, w.Par))
	}
	switch {
	case len(words) > 0:
		return strings.Join(words, " ")
	case s.Result.Complete:
		return string(verdict.Holds)
	}
	return string(verdict.Unknown)
}

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
	e, err := scenarios.Strategy(book.Name(key + ".lock"))
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
func (a *app) backing(topic string) (*scenarios.Outcome, error) {
	text := lessons.In("en").Name("interview." + topic + ".trace")
	lock, race, _ := strings.Cut(text, " ")
	e, err := scenarios.Strategy(lock)
	if err != nil {
		return nil, internal(err)
	}
	sc, err := scenarios.ByName(strings.TrimSpace(race))
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
