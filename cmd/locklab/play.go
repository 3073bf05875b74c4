package main

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// playFlags are the flags of "locklab play".
type playFlags struct {
	boundFlags
	harm  string
	level int
	list  bool
}

func playCommand() *command {
	p := &playFlags{boundFlags: boundFlags{Bounds: play.DefaultBounds()}}
	return &command{
		use: "play [STRATEGY|LINK]", args: atMost(1), flags: p.add, run: p.run,
		examples: []string{"play token", "play --level 2", "play redlock --budget restart=1 --attempts 1", "play LINK", "play token --timing any --budget pause=1"},
	}
}

func (p *playFlags) add(f *flags) {
	p.boundFlags.add(f, "budget", "clients", "attempts", "nodes", "fenced")
	p.addWords(f, "timing", p.Timing.String())
	f.add("harm", &p.harm)
	f.add("level", &p.level)
	f.add("levels", &p.list)
}

func (p *playFlags) run(e *env, args []string) error {
	bounded := slices.ContainsFunc([]string{"budget", "clients", "attempts", "timing", "nodes", "fenced"}, e.given)
	switch {
	case p.list && (len(args) > 0 || e.given("level")):
		return text.Errorf("error.play.levels")
	case p.list:
		return listLevels(e)
	case e.given("level") && (len(args) > 0 || bounded || e.given("harm")):
		return text.Errorf("error.play.level.alone")
	case e.given("level"):
		return playLevel(e, p.level)
	case len(args) == 0:
		return text.Errorf("error.play.what")
	}
	word, err := parseHarm(e, p.harm)
	if err != nil {
		return err
	}
	if _, err := simulator.ParseLink(args[0]); err == nil || strings.HasPrefix(args[0], "locklab") {
		if bounded {
			return text.Errorf("error.play.bounds")
		}
		return playLink(e, args[0], word)
	}
	entry, err := race.Strategy(args[0])
	if err != nil {
		return err
	}
	if err := p.read("timing"); err != nil {
		return err
	}
	game, err := play.New(e.ctx, entry, p.Bounds)
	if err != nil {
		return err
	}
	return sitDown(e, &table{Game: game, harm: word})
}

// parseHarm reads --harm; "": it was not given.
func parseHarm(e *env, harm string) (verdict.Word, error) {
	if !e.given("harm") {
		return "", nil
	}
	word, err := verdict.ParseWord(harm)
	if err != nil || !play.IsHarm(word) {
		return "", text.Errorf("error.play.harm", "name", harm, "names", strings.Join(play.HarmNames(), ", "))
	}
	return word, nil
}

// listLevels prints the course.
func listLevels(e *env) error {
	if e.json {
		return e.printJSON(play.LevelsJSON())
	}
	e.Printf("%s\n", e.Say("play.levels"))
	for i, l := range play.Levels() {
		e.Wrap(fmt.Sprintf("  %2d  %s %s ", i+1, text.Pad(l.Lock, 13), text.Pad(string(l.Harm), 12)), e.Each(l.Title))
	}
	e.Next("locklab play --level 1", "locklab quiz")
	return nil
}

func playLevel(e *env, n int) error {
	l, err := play.LevelAt(n)
	if err != nil {
		return err
	}
	game, err := l.Game()
	if err != nil {
		return internal(err)
	}
	return sitDown(e, &table{Game: game, level: n, harm: l.Harm})
}

func playLink(e *env, link string, harm verdict.Word) error {
	t, err := simulator.ParseLink(link)
	if err != nil {
		return err
	}
	game, err := play.Open(e.ctx, t)
	if err != nil {
		return err
	}
	return sitDown(e, &table{Game: game, harm: harm, choices: t.Choices})
}

// table is where a game is played.
type table struct {
	*play.Game
	level   int          // 0: none
	harm    verdict.Word // to be brought about
	choices []simulator.Choice
	at      *play.Position
	told    bool // that the goal was reached
	never   int  // states of the search that has proved the goal impossible; 0: it has not
}

// sit plays a game with whoever types. With --json it prints the position and ends.
func sitDown(e *env, t *table) error {
	defer t.Close()
	err := error(nil)
	if t.at, err = t.At(t.choices); err != nil {
		return err
	}
	if e.json {
		return e.printJSON(play.ToJSON(t.Game, t.at))
	}
	if err := introduce(e, t); err != nil {
		return err
	}
	if err := showPosition(e, t); err != nil {
		return err
	}
	_, interactive := terminal(e.stdin)
	in := bufio.NewReader(e.stdin)
	for {
		e.Printf("%s> ", e.First("play.prompt"))
		line, ok := e.line(in)
		if !interactive {
			e.Printf("%s", line)
		}
		if !interactive || !ok {
			e.Printf("\n")
		}
		if !ok {
			break
		}
		again, err := answerLine(e, t, strings.TrimSpace(line))
		if err != nil {
			return err
		}
		if !again {
			break
		}
	}
	if len(t.choices) > 0 {
		e.Printf("%s\n  locklab play %s\n", e.Say("play.saved"), t.at.Trace.Link())
	}
	return nil
}

// introduce says what is played and what for.
func introduce(e *env, t *table) error {
	par, possible, states, complete := "", true, 0, true
	if t.level > 0 {
		l, _ := play.LevelAt(t.level)
		s := l.Solution()
		possible, states = s.Possible, s.States
		par = e.Say("play.par", "faults", fmt.Sprint(s.Par), "steps", fmt.Sprint(s.Steps))
		e.Sentence("play.level", "n", fmt.Sprint(t.level), "of", fmt.Sprint(len(play.Levels())), "title", e.Each(l.Title))
	} else {
		s, err := t.Search(e.ctx)
		if err != nil {
			return internal(err)
		}
		if t.harm == "" {
			t.harm = play.Gravest(s)
		}
		faults, steps, ok := play.Par(s, t.harm)
		possible, states, complete = ok, s.States, s.Complete
		par = e.Say("play.par", "faults", fmt.Sprint(faults), "steps", fmt.Sprint(steps))
		if !ok && !s.Complete {
			par, possible = e.Say("play.unknown", "states", fmt.Sprint(states)), true
		}
	}
	e.Sentence("play.bounds", "lock", t.Strategy.Heading(), "clients", fmt.Sprint(t.Bounds.Clients), "attempts", fmt.Sprint(t.Bounds.Attempts),
		"faults", orNone(e, t.Bounds.Budget))
	if t.Bounds.Timing == study.AnyTiming {
		e.Sentence("play.bounds.any")
	}
	if t.Bounds.Nodes > 1 {
		e.Sentence("play.bounds.nodes", "nodes", fmt.Sprint(t.Bounds.Nodes))
	}
	if t.Bounds.Fenced {
		e.Sentence("play.bounds.fenced")
	}
	switch {
	case t.harm == "" && !complete:
		e.Sentence("play.unfound", "states", fmt.Sprint(states))
	case t.harm == "":
		e.Sentence("play.holds", "states", fmt.Sprint(states))
	case !possible:
		t.never = states
		e.Sentence("play.impossible", "harm", string(t.harm), "meaning", e.Each(func(lang string) string { return reports.Meaning(t.harm, lang) }), "states", fmt.Sprint(states))
	default:
		e.Sentence("play.goal", "harm", string(t.harm), "meaning", e.Each(func(lang string) string { return reports.Meaning(t.harm, lang) }), "par", par)
	}
	e.Sentence("play.keys")
	return nil
}

func orNone(e *env, budget string) string {
	if budget == "" {
		return e.Say("play.nofaults")
	}
	return budget
}

// showPosition draws the lanes, the state and the choices.
func showPosition(e *env, t *table) error {
	o := e.options()
	o.Brief = true
	e.Printf("\n")
	if len(t.choices) > 0 {
		if err := reports.Lanes(e.Out, t.at.Outcome.History, t.at.Outcome.Judgement, o); err != nil {
			return internal(err)
		}
		e.Printf("\n")
	}
	e.Printf("%s\n", e.Say("play.now", "time", reports.Millis(t.at.Now, 0), "steps", fmt.Sprint(len(t.choices)), "faults", sayFaults(e, t)))
	for c, s := range t.at.State.Clients[:t.Bounds.Clients] {
		e.Printf("  c%d  %s\n", c+1, sayStage(e, s))
	}
	for n, k := range t.at.State.Keys {
		e.Printf("  %s\n", sayKey(e, t, n, k))
	}
	if share, ok, err := t.doom(e); err != nil {
		return internal(err)
	} else if ok {
		e.Printf("  %s\n", e.Say("play.doom", "share", percent(share), "bar", bar(share), "harm", string(t.harm)))
	}
	e.Printf("\n")
	for i, m := range t.at.Moves {
		mark := " "
		if m.Fault {
			mark = "!"
		}
		e.Wrap(fmt.Sprintf("%2d %s ", i+1, mark), e.Each(func(lang string) string { return m.Said[lang] }))
	}
	if len(t.at.Moves) == 0 {
		e.Sentence("play.over")
	}
	return sayReached(e, t)
}

// doom is the share of what can follow that is lost; false: there is no goal, or too much
// can follow.
func (t *table) doom(e *env) (float64, bool, error) {
	switch {
	case t.harm == "":
		return 0, false, nil
	case t.at.Has(t.harm):
		return 1, true, nil
	}
	return t.Doom(e.ctx, t.choices, t.harm)
}

// reached tells once that the goal is reached, and what follows from it.
func sayReached(e *env, t *table) error {
	if t.harm == "" || !t.at.Has(t.harm) || t.told {
		return nil
	}
	t.told = true
	e.Printf("\n")
	e.Sentence("play.reached", "harm", string(t.harm), "faults", fmt.Sprint(t.at.Used()), "steps", fmt.Sprint(len(t.choices)), "par", parOf(e, t))
	e.Sentence("play.thenmend")
	if t.level == 0 {
		return nil
	}
	l, err := play.LevelAt(t.level)
	if err != nil {
		return internal(err)
	}
	for _, lang := range e.Langs() {
		e.Wrap("  "+text.Label(text.Say(lang, "play.learn")), l.Learn(lang))
		e.Wrap("  "+text.Label(text.Say(lang, "play.question")), l.Question(lang)+" (locklab explain interview "+l.Topic+")")
	}
	if t.level < len(play.Levels()) {
		e.Next(fmt.Sprintf("locklab play --level %d", t.level+1))
	}
	return nil
}

// parOf is the par of the table's goal; "?" if no search has found it.
func parOf(e *env, t *table) string {
	if t.level > 0 {
		l, _ := play.LevelAt(t.level)
		if s := l.Solution(); s.Possible {
			return fmt.Sprint(s.Par)
		}
		return "?"
	}
	if s, err := t.Search(e.ctx); err == nil {
		if par, _, ok := play.Par(s, t.harm); ok {
			return fmt.Sprint(par)
		}
	}
	return "?"
}

// spent lists the faults with how many of them were used.
func sayFaults(e *env, t *table) string {
	var all []string
	for _, f := range t.at.Faults {
		all = append(all, fmt.Sprintf("%s %d/%d", f.Name, f.Used, f.Most))
	}
	if all == nil {
		return e.Say("play.nofaults")
	}
	return strings.Join(all, ", ")
}

// belief is where a client is, in words.
func sayStage(e *env, s reports.ClientState) string {
	said := e.Say("play.stage." + s.Name())
	if s.Paused {
		said += e.Say("play.paused")
	}
	return said
}

// key is the locked key on a server, in words.
func sayKey(e *env, t *table, n int, k reports.KeyState) string {
	name := t.at.Outcome.History.Key
	if len(t.at.State.Keys) > 1 {
		name = fmt.Sprintf("n%d %s", n+1, name)
	}
	switch {
	case k.Down:
		return e.Say("play.key.down", "key", name)
	case !k.Held:
		return e.Say("play.key.free", "key", name)
	}
	owner := "?"
	if k.Owner > 0 {
		owner = fmt.Sprintf("c%d", k.Owner)
	}
	if k.Until == history.Forever {
		return e.Say("play.key.forever", "key", name, "owner", owner)
	}
	return e.Say("play.key.lease", "key", name, "owner", owner, "left", reports.Millis(max(k.Until-t.at.Now, 0), 0))
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

// answer does what a line asks for; false: it asks for the end. The position is shown
// again only when it has changed.
func answerLine(e *env, t *table, line string) (again bool, err error) {
	verb, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	if verb != "m" && rest != "" {
		verb = line // no other answer has a second word
	}
	switch verb {
	case "":
		return true, nil
	case "q":
		return false, nil
	case "?":
		e.Sentence("play.keys")
		return true, nil
	case "l":
		e.Printf("  locklab play %s\n", t.at.Trace.Link())
		return true, nil
	case "u":
		if len(t.choices) == 0 {
			e.Sentence("play.undo.none")
			return true, nil
		}
		return true, goTo(e, t, t.choices[:len(t.choices)-1])
	case "h":
		return true, showHint(e, t)
	case "g":
		return true, giveUp(e, t)
	case "m":
		return true, tryOther(e, t, rest)
	}
	n, err := strconv.Atoi(verb)
	if err != nil || n < 1 || n > len(t.at.Moves) {
		e.Sentence("play.bad", "line", text.Visible(cut(line, 40)), "most", fmt.Sprint(len(t.at.Moves)))
		return true, nil
	}
	return true, goTo(e, t, append(t.choices[:len(t.choices):len(t.choices)], t.at.Moves[n-1].Choice))
}

// goTo shows the position after choices.
func goTo(e *env, t *table, choices []simulator.Choice) (err error) {
	t.choices = choices
	if t.at, err = t.At(choices); err != nil {
		return internal(err)
	}
	return showPosition(e, t)
}

// way is a shortest way to the goal; nil: it says why there is none.
func wayToGoal(e *env, t *table) ([]simulator.Choice, error) {
	switch {
	case t.harm == "":
		e.Sentence("play.nogoal")
		return nil, nil
	case t.at.Has(t.harm):
		e.Sentence("play.done", "harm", string(t.harm))
		return nil, nil
	}
	if t.never > 0 {
		e.Sentence("play.never", "harm", string(t.harm), "states", fmt.Sprint(t.never))
		return nil, nil
	}
	w, err := t.Way(e.ctx, t.choices, t.harm)
	switch {
	case err != nil:
		return nil, internal(err)
	case w.Unknown:
		e.Sentence("play.unknown", "states", fmt.Sprint(play.MaxStates))
	case w.Choices == nil:
		e.Sentence("play.noway", "harm", string(t.harm))
	}
	return w.Choices, nil
}

func showHint(e *env, t *table) error {
	way, err := wayToGoal(e, t)
	if way == nil {
		return err
	}
	for i, m := range t.at.Moves {
		if m.Choice == way[len(t.choices)] {
			e.Sentence("play.hint", "n", fmt.Sprint(i+1), "what", e.Each(func(lang string) string { return m.Said[lang] }), "harm", string(t.harm), "left", fmt.Sprint(len(way)-len(t.choices)))
		}
	}
	return nil
}

func giveUp(e *env, t *table) error {
	way, err := wayToGoal(e, t)
	if way == nil {
		return err
	}
	t.told = true
	if err := goTo(e, t, way); err != nil {
		return err
	}
	e.Sentence("play.gaveup", "harm", string(t.harm), "steps", fmt.Sprint(len(way)), "faults", fmt.Sprint(t.at.Used()))
	if t.level > 0 {
		l, _ := play.LevelAt(t.level)
		for _, lang := range e.Langs() {
			e.Wrap("  "+text.Label(text.Say(lang, "play.learn")), l.Learn(lang))
		}
	}
	return nil
}

// mend tries the attack on another lock.
func tryOther(e *env, t *table, name string) error {
	if name == "" {
		next, ok := race.Successor(t.Strategy)
		if !ok {
			e.Sentence("play.mend.which")
			return nil
		}
		name = next.ID
	}
	entry, err := race.Strategy(name)
	if err != nil {
		e.Printf("%s\n", e.Error(err))
		return nil
	}
	m, err := t.Against(e.ctx, entry, t.choices)
	if err != nil {
		e.Printf("%s\n", e.Error(err))
		return nil
	}
	e.Printf("\n")
	o := e.options()
	o.Brief = true
	if err := reports.Lanes(e.Out, m.Position.Outcome.History, m.Position.Outcome.Judgement, o); err != nil {
		return internal(err)
	}
	e.Printf("\n")
	came := verdict.Holds
	if v := m.Position.Verdicts; len(v) > 0 {
		came = v[0]
	}
	e.Sentence("play.mend.same", "lock", entry.Heading(), "same", fmt.Sprint(m.Same), "all", fmt.Sprint(len(t.choices)), "verdict", string(came))
	e.Sentence(mendKey(m.Search, t.harm), "lock", entry.ID, "harm", string(t.harm), "faults", orNone(e, m.Search.Bounds.Budget), "states", fmt.Sprint(m.Search.States),
		"found", foundWords(m.Search))
	link := m.Position.Trace.Link()
	for _, w := range m.Search.Witnesses {
		if w.Verdict == t.harm {
			link = w.Trace.Link()
		}
	}
	e.Printf("  locklab play %s\n", link)
	return nil
}

// mendKey is what to say of a search of the lock that is to mend a harm.
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
	var all []string
	for _, w := range s.Witnesses {
		all = append(all, string(w.Verdict))
	}
	return strings.Join(all, ", ")
}

// line reads a line; false: the input or the program has ended.
func (e *env) line(in *bufio.Reader) (string, bool) {
	type read struct {
		line string
		err  error
	}
	got := make(chan read, 1)
	go func() {
		line, err := in.ReadString('\n')
		got <- read{line, err}
	}()
	select {
	case r := <-got:
		return strings.TrimRight(r.line, "\r\n"), r.err == nil || r.line != ""
	case <-e.ctx.Done():
		return "", false
	}
}
