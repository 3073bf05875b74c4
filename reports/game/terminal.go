package game

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/verdict"
)

// A Screen is where a game or a quiz is shown, and where lines are typed.
type Screen struct {
	*text.Printer
	Ctx  context.Context
	Look reports.Look                  // how lanes are drawn
	Echo bool                          // lines are printed, since no terminal shows them
	Line func() (line string, ok bool) // reads a line; false: there is none

	keys string // has the key of the text about keys; "": all of them, which are told once
}

// letters maps words that other programs take to letters of the game.
var letters = map[string]string{"quit": "q", "exit": "q", "help": "?", "hint": "h", "undo": "u", "link": "l"}

// ask prints a prompt and reads a line; false: there is none, or it asks for the end.
func (s *Screen) ask(prompt string) (line string, ok bool) {
	s.Printf("%s> ", s.First(prompt))
	line, ok = s.Line()
	line = strings.ToLower(strings.TrimSpace(line))
	if letter, long := letters[line]; long {
		line = letter
	}
	if s.Echo {
		s.Printf("%s", line)
	}
	if s.Echo || !ok {
		s.Printf("\n")
	}
	return line, ok && line != "q"
}

// tell prints words after a label, in each language that is wanted.
func (s *Screen) tell(label string, w Words) {
	s.Lines(label, func(lang string) string { return w[lang] })
}

// within returns words for use within a line; what is the same in each language is said once.
func (s *Screen) within(w Words) string {
	var all []string
	for _, lang := range s.Langs() {
		if !slices.Contains(all, w[lang]) {
			all = append(all, w[lang])
		}
	}
	return strings.Join(all, " / ")
}

// line prints words as one line, which is not broken.
func (s *Screen) line(label string, w Words) { s.Printf("%s%s\n", label, s.within(w)) }

// lanes draws a run without its legend.
func (s *Screen) lanes(o *race.Outcome) {
	brief := s.Look
	brief.Brief = true
	s.Keep(reports.Lanes(s.Out, o.History, o.Judgement, brief))
}

// A Session is a game that is played by typing. It asks its table what a page asks, and prints the answers.
type Session struct {
	out     *Screen
	table   Table
	level   int          // its number, from 1; 0: none
	harm    verdict.Word // to be brought about; "": none
	at      *Position
	before  *Lost  // where the goal came out of reach; nil: it is in reach
	hinted  string // the position of which a hint was given
	reached bool   // and said so
	proved  bool   // it was said, or given up, that the goal cannot be reached
	won     bool   // the next level is offered
	next    *bool
}

// Start begins a game with a goal after some choices.
func Start(out *Screen, g *play.Game, harm verdict.Word, choices []simulator.Choice) (t *Session, err error) {
	t = &Session{out: out, table: Table{game: g}, harm: harm}
	if len(choices) == 0 {
		choices, err = g.Forward(out.Ctx, nil, harm)
	}
	t.at, err = (&asked{Request: Request{Harm: harm}, ctx: out.Ctx, game: g}).position(choices, err)
	return t, err
}

// StartLevel begins the game of a level. When it is won, and the next one is wanted, next is set.
func StartLevel(out *Screen, n int, l play.Level, g *play.Game, next *bool) (*Session, error) {
	t, err := Start(out, g, l.Harm, nil)
	t.level, t.next, *next = n, next, false
	return t, err
}

// Position returns the present position.
func (t *Session) Position() *Position { return t.at }

// Play shows the game and does what is typed, until the input ends.
func (t *Session) Play() error {
	if t.introduce(); t.out.Err == nil {
		t.show(t.at)
	}
	for t.out.Err == nil {
		line, ok := t.out.ask("play.prompt")
		if !ok {
			break
		}
		if (line == "" || line == "n") && t.won {
			*t.next = true
			return t.out.Err
		}
		t.obey(line)
	}
	if t.at.Steps > 0 && t.out.Err == nil {
		t.out.Printf("%s\n  locklab play %s\n", t.out.Say("play.saved"), t.at.Link)
	}
	return t.out.Err
}

// ask asks about the position; nil: it has said why there is no answer, or the program ends.
func (t *Session) ask(r Request) any {
	r.Link, r.Harm = cmp.Or(r.Link, t.at.Link), t.harm
	answer, err := t.table.do(t.out.Ctx, r)
	if err == nil {
		return answer
	}
	if _, says := err.(i18n.Error); says && t.out.Ctx.Err() == nil {
		t.out.tell("", errorWords(err))
	} else {
		t.out.Keep(err)
	}
	return nil
}

// introduce says what is played and what for. Whether the goal can be reached is not said.
func (t *Session) introduce() {
	g, goal := t.table.game, aim(t.harm)
	switch {
	case t.level > 0:
		l := play.Levels()[t.level-1]
		t.out.tell("", words("play.level", "n", t.level, "of", len(play.Levels()), "title", levelText(&l, "title")))
		t.out.Printf("\n%s\n\n", codeOf(&l)[t.out.Langs()[0]])
	case t.harm == "":
		found, ok := t.ask(Request{Do: "goal"}).(*Goal)
		if !ok {
			return
		}
		t.harm, goal = found.Harm, found.Said
		if at, ok := t.ask(Request{Do: "at"}).(*Position); ok { // which says whether it is reached
			t.at = at
		}
	}
	about := words("play.bounds", "lock", g.Lock.Heading(), "rules", t.at.Rules, "faults", orNone(g.Bounds.Budget))
	for _, w := range []Words{about, goal, words(cmp.Or(t.out.keys, "play.keys"))} {
		t.out.tell("", w)
	}
	t.out.keys = "play.keys.told"
}

// show draws the lanes, the state and the choices of a position, which becomes the present one.
func (t *Session) show(p *Position) {
	t.at, t.before = p, nil
	t.out.Printf("\n")
	if p.Steps > 0 {
		t.out.lanes(p.at.Outcome)
		t.out.Printf("\n")
		h := p.at.Outcome.History
		probes := func(e history.Event) bool { return h.Probe > 0 && e.Client == h.Probe }
		if slices.ContainsFunc(h.Events, probes) {
			t.out.Sentence("lanes.probe", "client", clientName(h.Probe))
		}
	}
	if p.Did != nil {
		t.out.tell("", p.Did)
		t.out.Printf("\n")
	}
	if t.harm != "" && p.End == nil {
		if lost, ok := t.ask(Request{Do: "lost"}).(*Lost); ok && lost.Said != nil {
			t.out.tell("", lost.Said)
			t.out.tell("  "+t.out.Say("play.learn")+" ", lost.Remember)
			if lost.Link != "" {
				t.before = lost
				t.out.Sentence("play.lost.back")
			}
			t.out.Printf("\n")
		}
	}
	if p.End != nil && !t.reached {
		t.reached = true
		t.out.tell("", p.End)
		t.out.Sentence("play.thenmend")
		t.lesson(true)
		if t.won {
			return
		}
		t.out.Printf("\n")
	}
	for i, m := range p.Moves {
		mark := " "
		if m.Fault {
			mark = "!"
		}
		t.out.Wrap(fmt.Sprintf("%2d %s ", i+1, mark), t.out.within(m.Said))
	}
	if len(p.Moves) == 0 {
		t.over()
	}
}

// over says what can be typed when nothing more can happen.
func (t *Session) over() {
	if t.won {
		t.out.Sentence("play.next", "n", strconv.Itoa(t.level+1))
	} else {
		t.out.Sentence("play.over")
	}
}

// lesson says what is to be learned from a level, and where to go on, if that is wanted.
func (t *Session) lesson(on bool) {
	if t.level == 0 {
		return
	}
	course := Levels()
	l := course[t.level-1]
	for _, lang := range t.out.Langs() {
		tell := func(key, said string) { t.out.Wrap("  "+text.Label(text.Say(lang, key)), said) }
		tell("play.learn", l.Learn[lang])
		if on {
			tell("play.question", l.Question[lang]+" ("+strings.TrimSpace("locklab explain interview "+l.Topic)+")")
		}
	}
	if t.won = on && t.level < len(course); t.won {
		t.over()
	}
}

// obey does what a line asks for. The position is shown again only when it has changed.
func (t *Session) obey(line string) {
	verb, rest, _ := strings.Cut(line, " ")
	if verb != "m" && strings.TrimSpace(rest) != "" {
		verb = line // no other answer has a second word
	}
	switch verb {
	case "":
	case "?":
		t.out.Sentence("play.keys")
	case "l":
		t.out.Printf("  locklab play %s\n", t.at.Link)
	case "u":
		if back, ok := t.ask(Request{Do: "undo"}).(*Position); ok && back.Steps < t.at.Steps {
			t.show(back)
		} else if ok {
			t.out.Sentence("play.undo.none")
		}
	case "b":
		if t.before == nil {
			t.out.Sentence("play.lost.none")
		} else if at, ok := t.ask(Request{Do: "at", Link: t.before.Link}).(*Position); ok {
			t.show(at)
		}
	case "h", "g", "no":
		t.advise(verb)
	case "m":
		t.mend(strings.TrimSpace(rest))
	default:
		t.choose(line)
	}
}

// choose makes the move with a number.
func (t *Session) choose(number string) {
	if len(t.at.Moves) == 0 {
		t.over()
		return
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(t.at.Moves) {
		t.out.tell("", words("play.bad", "line", i18n.Visible(text.Cut(number, 40)), "most", len(t.at.Moves)))
		return
	}
	if next, ok := t.ask(Request{Do: "move", Number: n - 1}).(*Position); ok {
		t.show(next)
	}
}

// advise gives a hint, the end of a shortest way, or a judgement of the answer that the goal cannot be reached. What
// was proved of the goal is said on every later request.
func (t *Session) advise(letter string) {
	do := "cannot"
	switch {
	case t.at.End != nil:
		t.out.tell("", words("play.done", "harm", t.harm))
		return
	case letter == "g" || letter == "h" && t.proved:
		do = "way"
	case letter == "h":
		do = "hint"
	}
	switch answer := t.ask(Request{Do: do}).(type) {
	case *Hint:
		if t.hinted == t.at.Link {
			t.out.tell("", answer.Said)
		} else {
			t.hinted = t.at.Link
			t.out.tell("", answer.Idea)
		}
	case *Judged:
		t.out.tell("", answer.Said)
		if t.proved = t.proved || answer.Right; answer.Right && letter != "h" {
			t.out.tell("", words("play.assumed"))
			t.lesson(true)
		}
	case *Position:
		t.reached = true
		t.show(answer)
		t.out.tell("", answer.End)
		t.lesson(false)
	}
}

// mend tries the attack on another lock; "": on the one that was meant to mend it.
func (t *Session) mend(name string) {
	if name == "" {
		next, ok := race.Successor(t.table.game.Lock)
		if !ok {
			t.out.Sentence("play.mend.which")
			return
		}
		name = next.ID
	}
	m, ok := t.ask(Request{Do: "mend", Lock: name}).(*Mended)
	if !ok {
		return
	}
	t.out.Printf("\n")
	t.out.lanes(m.outcome)
	t.out.Printf("\n")
	for _, w := range m.Said {
		t.out.tell("", w)
	}
	t.out.Printf("  locklab play %s\n", m.Way)
}

// MostQuestions is the number of questions that are asked at most.
const MostQuestions = 40

// Ask asks questions, and explains what is answered. again is the command that asks the same.
func (s *Screen) Ask(questions []*Question, again string) {
	s.Sentence("quiz.keys")
	right, asked := 0, 0
	for n, q := range questions {
		s.Printf("\n")
		s.tell("", words("quiz.head", "n", n+1, "lock", q.Outcome.Lock.Heading(), "race", q.Race))
		s.Printf("\n")
		s.lanes(q.Outcome)
		s.Printf("\n")
		s.tell("", q.Ask)
		for i, answer := range q.Answers {
			s.line(fmt.Sprintf("  %c  ", 'a'+i), answer.Said)
		}
		chosen, ok := s.choose(questions, n)
		if !ok {
			break
		}
		if asked++; q.Answers[chosen].Right {
			right++
		}
		for i, answer := range q.Answers {
			if answer.Right && i == chosen {
				s.Sentence("quiz.right")
			} else if answer.Right {
				s.Sentence("quiz.wrong", "letter", string(rune('a'+i)), "right", s.within(answer.Said))
			}
		}
		for i, answer := range q.Answers {
			s.tell(fmt.Sprintf("  %c  ", 'a'+i), answer.Why)
		}
	}
	s.Printf("\n")
	s.tell("", words("quiz.score", "right", right, "all", asked, "again", again))
}

// choose reads a letter or a number until there is one; false: no answer comes. On request it prints the link of a run:
// of the question that was answered last, and before the first answer of the present one.
func (s *Screen) choose(questions []*Question, n int) (int, bool) {
	answers := len(questions[n].Answers)
	for {
		line, ok := s.ask("quiz.prompt")
		chosen := slices.IndexFunc(questions[n].Answers, func(a Answer) bool { return s.within(a.Said) == line })
		if chosen < 0 { // else it is the text of an answer, which can be a number
			chosen = chosenBy(line)
		}
		switch {
		case !ok:
			return 0, false
		case line == "l":
			last := max(n-1, 0)
			s.Printf("%s locklab run %s\n", s.Say("quiz.whole", "n", fmt.Sprint(last+1)), questions[last].Link)
		case chosen >= 0 && chosen < answers:
			return chosen, true
		case line != "":
			s.tell("", words("quiz.bad", "line", i18n.Visible(text.Cut(line, 40)), "last", string(rune('a'+answers-1))))
		}
	}
}

// chosenBy is the answer that a letter or a number names, from 0; -1: none.
func chosenBy(line string) int {
	if len(line) != 1 {
		return -1
	}
	return max(strings.Index("abcdefghijklmnopqrstuvwxyz", line), strings.Index("123456789", line))
}
