package game

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Screen is where a game or a quiz is shown, and where lines are typed.
type Screen struct {
	*text.Printer
	Ctx  context.Context
	Look reports.Look                  // how lanes are drawn
	Echo bool                          // lines are printed, since no terminal shows them
	Line func() (line string, ok bool) // reads a line; false: there is none
}

// letters maps words that other programs take to letters of the game.
var letters = map[string]string{"quit": "q", "exit": "q", "help": "?"}

// ask prints a prompt and reads a line, as clean makes it.
func (s *Screen) ask(prompt string, clean func(line string) string) (line string, ok bool) {
	s.Printf("%s> ", s.First(prompt))
	line, ok = s.Line()
	line = clean(line)
	if letter, long := letters[line]; long {
		line = letter
	}
	if s.Echo {
		s.Printf("%s", line)
	}
	if s.Echo || !ok {
		s.Printf("\n")
	}
	return line, ok
}

// A Session is a game that is played by typing.
type Session struct {
	*play.Game
	Out     *Screen
	number  int // of its level, from 1; 0: none
	level   play.Level
	harm    verdict.Word // to be brought about; "": none
	choices []simulator.Choice
	at      *play.Position
	reached bool // and said so
	lost    bool // whatever is done, the goal follows
	proved  bool // it was said, or given up, that the goal cannot be reached
}

// Start begins a game with a goal after some choices.
func Start(out *Screen, g *play.Game, harm verdict.Word, choices []simulator.Choice) (t *Session, err error) {
	t = &Session{Game: g, Out: out, harm: harm, choices: choices}
	if len(choices) == 0 {
		if t.choices, err = t.Forward(nil, harm); err != nil {
			return nil, err
		}
	}
	t.at, err = t.At(t.choices)
	return t, err
}

// StartLevel begins the game of a level.
func StartLevel(out *Screen, n int, l play.Level, g *play.Game) (*Session, error) {
	t, err := Start(out, g, l.Harm, nil)
	t.number, t.level = n, l
	return t, err
}

// JSON returns the position as JSON.
func (t *Session) JSON() PositionJSON { return ToJSON(t.Game, t.at) }

// Play shows the game and does what is typed, until the input ends.
func (t *Session) Play() error {
	if t.introduce(); t.Out.Err == nil {
		t.showPosition()
	}
	for t.Out.Err == nil {
		line, ok := t.Out.ask("play.prompt", strings.TrimSpace)
		if !ok || !t.answerLine(line) {
			break
		}
	}
	if len(t.choices) > 0 && t.Out.Err == nil {
		t.Out.Printf("%s\n  locklab play %s\n", t.Out.Say("play.saved"), t.at.Trace.Link())
	}
	return t.Out.Err
}

// introduce says what is played and what for. Whether the goal can be reached is not said.
func (t *Session) introduce() {
	complete, states := true, 0
	if t.number > 0 {
		t.Out.Sentence("play.level", "n", fmt.Sprint(t.number), "of", fmt.Sprint(len(play.Levels())), "title", t.Out.Each(levelText(t.level, "title")))
	} else if t.harm == "" {
		s, err := t.Search(t.Out.Ctx)
		if err != nil {
			t.Out.Keep(err)
			return
		}
		t.harm, complete, states = play.Gravest(s), s.Complete, s.States
	}
	t.Out.Sentence("play.bounds", "lock", t.Strategy.Heading(), "clients", fmt.Sprint(t.Bounds.Clients), "attempts", fmt.Sprint(t.Bounds.Attempts),
		"faults", t.orNone(string(t.Bounds.Budget)))
	if t.Bounds.Timing == study.AnyTiming {
		t.Out.Sentence("play.bounds.any")
	}
	if t.Bounds.Nodes > 1 {
		t.Out.Sentence("play.bounds.nodes", "nodes", fmt.Sprint(t.Bounds.Nodes))
	}
	if t.Bounds.Fenced {
		t.Out.Sentence("play.bounds.fenced")
	}
	switch {
	case t.harm == "" && !complete:
		t.Out.Sentence("play.unfound", "states", fmt.Sprint(states))
	case t.harm == "":
		t.Out.Sentence("play.goal.any")
	default:
		t.Out.Sentence("play.goal", "harm", string(t.harm), "meaning", t.Out.Each(func(lang string) string { return reports.Meaning(t.harm, lang) }))
	}
	t.Out.Sentence("play.keys")
	if t.harm != "" {
		share, ok, err := t.Doom(t.Out.Ctx, nil, t.harm)
		t.lost = ok && share == 1 // by no move: all is lost from the start
		t.Out.Keep(err)
	}
}

func (t *Session) orNone(budget string) string {
	if budget == "" {
		return t.Out.Say("play.nofaults")
	}
	return budget
}

// showPosition draws the lanes, the state and the choices.
func (t *Session) showPosition() {
	t.Out.Printf("\n")
	if len(t.choices) > 0 {
		t.Out.lanes(t.at.Outcome)
		t.Out.Printf("\n")
	}
	t.Out.Printf("%s\n", t.Out.Say("play.now", "time", reports.Millis(t.at.Now, 0), "steps", fmt.Sprint(len(t.choices)), "faults", t.sayFaults()))
	state := reports.StateOf(t.at.Outcome.History)
	for c, s := range state.Clients[:t.Bounds.Clients] {
		t.Out.Printf("  c%d  %s\n", c+1, t.sayStage(s))
	}
	for n, k := range state.Keys {
		name := t.at.Outcome.History.Key
		if len(state.Keys) > 1 {
			name = fmt.Sprintf("n%d %s", n+1, name)
		}
		t.Out.Printf("  %s\n", t.sayKey(name, k))
	}
	if share, ok := t.doom(); ok {
		t.Out.Printf("  %s\n", t.Out.Say("play.doom", "share", percent(share), "bar", bar(share), "harm", string(t.harm)))
	}
	t.Out.Printf("\n")
	for i, said := range moves(t.at) {
		mark := " "
		if t.at.Moves[i].Fault {
			mark = "!"
		}
		t.Out.Wrap(fmt.Sprintf("%2d %s ", i+1, mark), t.Out.Each(func(lang string) string { return said[lang] }))
	}
	if len(t.at.Moves) == 0 {
		t.Out.Sentence("play.over")
	}
	t.sayReached()
}

// doom is the share of what can follow that is lost; false: it tells nothing, or too much can follow.
func (t *Session) doom() (share float64, ok bool) {
	if t.harm == "" || t.lost || t.at.Has(t.harm) {
		return 0, false
	}
	share, ok, err := t.Doom(t.Out.Ctx, t.choices, t.harm)
	t.Out.Keep(err)
	return share, ok && err == nil
}

// truth returns what a search has found of the goal; false: it has failed.
func (t *Session) truth() (play.Truth, bool) {
	truth, err := t.Truth(t.Out.Ctx, t.harm)
	t.Out.Keep(err)
	return truth, err == nil
}

// sayReached says once that the goal is reached, and what follows from it.
func (t *Session) sayReached() {
	if t.harm == "" || !t.at.Has(t.harm) || t.reached {
		return
	}
	t.reached = true
	t.Out.Printf("\n")
	truth, ok := t.truth()
	if !ok {
		return
	}
	par := "?"
	if truth.Possible {
		par = fmt.Sprint(truth.Par)
	}
	t.Out.Sentence("play.reached", "harm", string(t.harm), "faults", fmt.Sprint(t.at.Used()), "steps", fmt.Sprint(len(t.choices)), "par", par)
	t.Out.Sentence("play.thenmend")
	t.sayLesson()
}

// sayLesson says what is to be learned from a level, and names the next one.
func (t *Session) sayLesson() {
	if t.number == 0 {
		return
	}
	for _, lang := range t.Out.Langs() {
		t.Out.Wrap("  "+text.Label(text.Say(lang, "play.learn")), levelText(t.level, "learn")(lang))
		t.Out.Wrap("  "+text.Label(text.Say(lang, "play.question")), levelText(t.level, "question")(lang)+" ("+strings.TrimSpace("locklab explain interview "+t.level.Topic)+")")
		if n := play.Number(t.level.Fix); n > 0 {
			fix := fmt.Sprintf("%s (locklab play --level %d)", LevelTitle(play.Levels()[n-1], lang), n)
			t.Out.Wrap("  "+text.Label(text.Say(lang, "play.fix")), fix)
		}
	}
	if t.number < len(play.Levels()) {
		t.Out.Next(fmt.Sprintf("locklab play --level %d", t.number+1))
	}
}

// sayFaults lists the faults with the number that was used.
func (t *Session) sayFaults() string {
	all := lists.Each(t.at.Faults, func(f play.Fault) string {
		return fmt.Sprintf("%s %d/%d", f.Name, f.Used, f.Most)
	})
	if all == nil {
		return t.Out.Say("play.nofaults")
	}
	return strings.Join(all, ", ")
}

// sayStage describes the state of a client.
func (t *Session) sayStage(s reports.ClientState) string {
	said := t.Out.Say("play.stage." + s.Name())
	if s.Paused {
		said += t.Out.Say("play.paused")
	}
	return said
}

// sayKey describes the locked key, which has a name, on a server.
func (t *Session) sayKey(name string, k reports.KeyState) string {
	switch {
	case k.Down:
		return t.Out.Say("play.key.down", "key", name)
	case !k.Held:
		return t.Out.Say("play.key.free", "key", name)
	}
	owner := "?"
	if k.Owner > 0 {
		owner = fmt.Sprintf("c%d", k.Owner)
	}
	if k.Until == history.Forever {
		return t.Out.Say("play.key.forever", "key", name, "owner", owner)
	}
	return t.Out.Say("play.key.lease", "key", name, "owner", owner, "left", reports.Millis(max(k.Until-t.at.Now, 0), 0))
}

func percent(share float64) string {
	switch {
	case share > 0 && share < 0.001:
		return "<0.1"
	case share < 1 && share > 0.999:
		return ">99.9"
	}
	return strconv.FormatFloat(100*share, 'f', 1, 64)
}

func bar(share float64) string {
	const width = 20
	full := int(share * width)
	if share > 0 && full == 0 {
		full = 1
	}
	return "[" + strings.Repeat("#", full) + strings.Repeat(".", width-full) + "]"
}

// answerLine does what a line asks for; false: it asks for the end. The position is shown
// again only when it has changed.
func (t *Session) answerLine(line string) (again bool) {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if verb != "m" && rest != "" {
		verb = line // no other answer has a second word
	}
	switch verb {
	case "":
	case "q":
		return false
	case "?":
		t.Out.Sentence("play.keys")
	case "l":
		t.Out.Printf("  locklab play %s\n", t.at.Trace.Link())
	case "u":
		if back, err := t.Back(t.choices, t.harm); err == nil && len(back) >= len(t.choices) {
			t.Out.Sentence("play.undo.none")
		} else {
			t.goTo(back, err)
		}
	case "h":
		t.showHint()
	case "g":
		t.giveUp()
	case "n", "no":
		t.judge()
	case "m":
		t.tryOther(rest)
	default:
		t.choose(line)
	}
	return true
}

// choose makes the move with a number.
func (t *Session) choose(number string) {
	if len(t.at.Moves) == 0 {
		t.Out.Sentence("play.over")
		return
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 || n > len(t.at.Moves) {
		t.Out.Sentence("play.bad", "line", i18n.Visible(text.Cut(number, 40)), "most", fmt.Sprint(len(t.at.Moves)))
		return
	}
	t.goTo(t.Forward(append(t.choices[:len(t.choices):len(t.choices)], t.at.Moves[n-1].Choice), t.harm))
}

// goTo shows the position after choices, unless these could not be found.
func (t *Session) goTo(choices []simulator.Choice, err error) {
	at := t.at
	if err == nil {
		at, err = t.At(choices)
	}
	if err != nil {
		t.Out.Keep(err)
		return
	}
	t.choices, t.at = choices, at
	t.showPosition()
}

// judge judges the answer that the goal cannot be reached.
func (t *Session) judge() {
	if t.harm != "" && t.at.Has(t.harm) {
		t.Out.Sentence("play.done", "harm", string(t.harm))
		return
	}
	truth, ok := t.truth()
	if !ok {
		return
	}
	t.Out.sentence(judged(t.Game, truth, t.harm))
	if truth.Known && !truth.Possible {
		t.proved = true
		t.sayLesson()
	}
}

// lanes draws a run without its legend.
func (s *Screen) lanes(o *race.Outcome) {
	brief := s.Look
	brief.Brief = true
	s.Keep(reports.Lanes(s.Out, o.History, o.Judgement, brief))
}

// sentence prints words in each language that is wanted.
func (s *Screen) sentence(w Words) {
	for _, lang := range s.Langs() {
		s.Wrap("", w[lang])
	}
}

// wayToGoal returns a shortest way to the goal; nil: it has printed why there is none. Of a goal that cannot be reached
// it tells the truth when that was answered, or is given up.
func (t *Session) wayToGoal(givesUp bool) []simulator.Choice {
	if t.harm != "" && t.at.Has(t.harm) {
		t.Out.Sentence("play.done", "harm", string(t.harm))
		return nil
	}
	truth, ok := t.truth()
	switch {
	case !ok:
		return nil
	case truth.Known && !truth.Possible && !givesUp && !t.proved:
		t.Out.sentence(neverWords(t.harm))
		return nil
	case truth.Known && !truth.Possible:
		t.proved = true
		t.Out.sentence(provedWords(t.Game, truth, t.harm))
		if givesUp {
			t.sayLesson()
		}
		return nil
	case t.harm == "":
		t.Out.Sentence("play.unfound", "states", fmt.Sprint(truth.States))
		return nil
	}
	w, err := t.Way(t.Out.Ctx, t.choices, t.harm)
	switch {
	case err != nil:
		t.Out.Keep(err)
		return nil
	case w.Unknown:
		t.Out.Sentence("play.unknown", "states", fmt.Sprint(play.MaxStates))
	case w.Choices == nil:
		t.Out.Sentence("play.noway", "harm", string(t.harm))
	}
	return w.Choices
}

func (t *Session) showHint() {
	way := t.wayToGoal(false)
	if way == nil {
		return
	}
	h, err := hintOf(t.Out.Ctx, t.Game, t.at, play.Way{Choices: way, Faults: simulator.FaultsIn(way)}, t.harm)
	if err != nil {
		t.Out.Keep(err)
		return
	}
	said := moves(t.at)[h.Move]
	t.Out.sentence(sayAll(func(lang string) string {
		return text.Say(lang, "play.hint", "why", h.Why[lang], "n", fmt.Sprint(h.Move+1), "what", said[lang])
	}))
}

func (t *Session) giveUp() {
	way := t.wayToGoal(true)
	if way == nil {
		return
	}
	t.reached = true
	t.goTo(way, nil)
	t.Out.Sentence("play.gaveup", "harm", string(t.harm), "steps", fmt.Sprint(len(way)), "faults", fmt.Sprint(t.at.Used()))
	if t.number > 0 {
		for _, lang := range t.Out.Langs() {
			t.Out.Wrap("  "+text.Label(text.Say(lang, "play.learn")), levelText(t.level, "learn")(lang))
		}
	}
}

// tryOther tries the attack on another lock.
func (t *Session) tryOther(name string) {
	if name == "" {
		next, ok := race.Successor(t.Strategy)
		if !ok {
			t.Out.Sentence("play.mend.which")
			return
		}
		name = next.ID
	}
	entry, err := race.Strategy(name)
	var m *play.Mended
	if err == nil {
		m, err = t.Against(t.Out.Ctx, entry, t.harm, t.choices)
	}
	if err != nil {
		t.Out.Printf("%s\n", t.Out.Error(err))
		return
	}
	t.Out.Printf("\n")
	t.Out.lanes(m.Position.Outcome)
	t.Out.Printf("\n")
	came := verdict.Holds
	if v := m.Position.Verdicts; len(v) > 0 {
		came = v[0]
	}
	t.Out.Sentence("play.mend.same", "lock", entry.Heading(), "same", fmt.Sprint(m.Same), "all", fmt.Sprint(len(t.choices)), "verdict", string(came))
	t.Out.Sentence(mendKey(m.Search, t.harm), "lock", entry.ID, "harm", string(t.harm), "faults", t.orNone(string(m.Search.Bounds.Budget)), "states", fmt.Sprint(m.Search.States),
		"clients", fmt.Sprint(m.Search.Bounds.Clients), "attempts", fmt.Sprint(m.Search.Bounds.Attempts),
		"found", foundWords(m.Search))
	link := m.Position.Trace.Link()
	for _, w := range m.Search.Witnesses {
		if w.Verdict == t.harm {
			link = w.Trace.Link()
		}
	}
	t.Out.Printf("  locklab play %s\n", link)
}

// mendKey returns the text for a search of the lock that is to mend a harm.
func mendKey(s *study.Search, harm verdict.Word) string {
	_, _, found := play.Par(s, harm)
	switch {
	case found:
		return "play.mend.still"
	case !s.Complete:
		return "play.mend.unknown"
	case len(s.Witnesses) > 0:
		return "play.mend.other"
	}
	return "play.mend.holds"
}

func foundWords(s *study.Search) string {
	all := lists.Each(s.Witnesses, func(w study.Witness) string { return string(w.Verdict) })
	return strings.Join(all, ", ")
}
