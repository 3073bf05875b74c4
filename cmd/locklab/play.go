package main

import (
	"bufio"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

func (a *app) play() *cobra.Command {
	var (
		b      = play.DefaultBounds()
		harm   string
		timing string
		level  int
		list   bool
	)
	c := &cobra.Command{
		Use:     "play [STRATEGY|LINK]",
		Example: a.examples("play", "play token", "play --level 2", "play redlock --budget restart=1 --attempts 1", "play LINK", "play token --timing any --budget pause=1"),
		Args:    a.atMost(1),
		RunE: func(c *cobra.Command, args []string) error {
			set := c.Flags().Changed
			bounded := slices.ContainsFunc([]string{"budget", "clients", "attempts", "timing", "nodes", "fenced"}, set)
			switch {
			case list && (len(args) > 0 || set("level")):
				return text.Errorf("error.play.levels")
			case list:
				return a.listLevels()
			case set("level") && (len(args) > 0 || bounded || set("harm")):
				return text.Errorf("error.play.level.alone")
			case set("level"):
				return a.playLevel(level)
			case len(args) == 0:
				return text.Errorf("error.play.what")
			}
			word, err := a.parseHarm(c, harm)
			if err != nil {
				return err
			}
			if _, err := simulator.ParseLink(args[0]); err == nil || strings.HasPrefix(args[0], "locklab") {
				if bounded {
					return text.Errorf("error.play.bounds")
				}
				return a.playLink(args[0], word)
			}
			entry, err := race.Strategy(args[0])
			if err != nil {
				return err
			}
			if b.Timing, err = study.ParseTiming(timing); err != nil {
				return err
			}
			game, err := play.New(c.Context(), entry, b)
			if err != nil {
				return err
			}
			return a.sit(&table{Game: game, harm: word})
		},
	}
	f, usage := c.Flags(), a.usage("play")
	f.StringVar(&b.Budget, "budget", b.Budget, usage("budget"))
	f.StringVar(&harm, "harm", "", usage("harm"))
	f.IntVar(&b.Clients, "clients", b.Clients, usage("clients"))
	f.IntVar(&b.Attempts, "attempts", b.Attempts, usage("attempts"))
	f.StringVar(&timing, "timing", b.Timing.String(), usage("timing"))
	f.IntVar(&b.Nodes, "nodes", 0, usage("nodes"))
	f.BoolVar(&b.Fenced, "fenced", false, usage("fenced"))
	f.IntVar(&level, "level", 0, usage("level"))
	f.BoolVar(&list, "levels", false, usage("levels"))
	return c
}

// parseHarm reads --harm; "": it was not given.
func (a *app) parseHarm(c *cobra.Command, harm string) (verdict.Word, error) {
	if !c.Flags().Changed("harm") {
		return "", nil
	}
	word, err := verdict.ParseWord(harm)
	if err != nil || !play.IsHarm(word) {
		return "", text.Errorf("error.play.harm", "name", harm, "names", strings.Join(play.HarmNames(), ", "))
	}
	return word, nil
}

// listLevels prints the course.
func (a *app) listLevels() error {
	if a.json {
		return a.printJSON(play.LevelsJSON())
	}
	a.Printf("%s\n", a.Say("play.levels"))
	for i, l := range play.Levels() {
		a.Wrap(fmt.Sprintf("  %2d  %s %s ", i+1, text.Pad(l.Lock, 13), text.Pad(string(l.Harm), 12)), a.Each(l.Title))
	}
	a.Next("locklab play --level 1", "locklab quiz")
	return nil
}

func (a *app) playLevel(n int) error {
	l, err := play.LevelAt(n)
	if err != nil {
		return err
	}
	game, err := l.Game()
	if err != nil {
		return internal(err)
	}
	return a.sit(&table{Game: game, level: n, harm: l.Harm})
}

func (a *app) playLink(link string, harm verdict.Word) error {
	t, err := simulator.ParseLink(link)
	if err != nil {
		return err
	}
	game, err := play.Open(a.ctx, t)
	if err != nil {
		return err
	}
	return a.sit(&table{Game: game, harm: harm, choices: t.Choices})
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
func (a *app) sit(t *table) error {
	defer t.Close()
	err := error(nil)
	if t.at, err = t.At(t.choices); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(play.ToJSON(t.Game, t.at))
	}
	if err := a.introduce(t); err != nil {
		return err
	}
	if err := a.showPosition(t); err != nil {
		return err
	}
	_, interactive := terminal(a.stdin)
	in := bufio.NewReader(a.stdin)
	for {
		a.Printf("%s> ", a.First("play.prompt"))
		line, ok := a.line(in)
		if !interactive {
			a.Printf("%s", line)
		}
		if !interactive || !ok {
			a.Printf("\n")
		}
		if !ok {
			break
		}
		again, err := a.answer(t, strings.TrimSpace(line))
		if err != nil {
			return err
		}
		if !again {
			break
		}
	}
	if len(t.choices) > 0 {
		a.Printf("%s\n  locklab play %s\n", a.Say("play.saved"), t.at.Trace.Link())
	}
	return nil
}

// introduce says what is played and what for.
func (a *app) introduce(t *table) error {
	par, possible, states, complete := "", true, 0, true
	if t.level > 0 {
		l, _ := play.LevelAt(t.level)
		s := l.Solution()
		possible, states = s.Possible, s.States
		par = a.Say("play.par", "faults", fmt.Sprint(s.Par), "steps", fmt.Sprint(s.Steps))
		a.Sentence("play.level", "n", fmt.Sprint(t.level), "of", fmt.Sprint(len(play.Levels())), "title", a.Each(l.Title))
	} else {
		s, err := t.Search(a.ctx)
		if err != nil {
			return internal(err)
		}
		if t.harm == "" {
			t.harm = play.Gravest(s)
		}
		faults, steps, ok := play.Par(s, t.harm)
		possible, states, complete = ok, s.States, s.Complete
		par = a.Say("play.par", "faults", fmt.Sprint(faults), "steps", fmt.Sprint(steps))
		if !ok && !s.Complete {
			par, possible = a.Say("play.unknown", "states", fmt.Sprint(states)), true
		}
	}
	a.Sentence("play.bounds", "lock", t.Strategy.Heading(), "clients", fmt.Sprint(t.Bounds.Clients), "attempts", fmt.Sprint(t.Bounds.Attempts),
		"faults", orNone(a, t.Bounds.Budget))
	if t.Bounds.Timing == study.AnyTiming {
		a.Sentence("play.bounds.any")
	}
	if t.Bounds.Nodes > 1 {
		a.Sentence("play.bounds.nodes", "nodes", fmt.Sprint(t.Bounds.Nodes))
	}
	if t.Bounds.Fenced {
		a.Sentence("play.bounds.fenced")
	}
	switch {
	case t.harm == "" && !complete:
		a.Sentence("play.unfound", "states", fmt.Sprint(states))
	case t.harm == "":
		a.Sentence("play.holds", "states", fmt.Sprint(states))
	case !possible:
		t.never = states
		a.Sentence("play.impossible", "harm", string(t.harm), "meaning", a.Each(func(lang string) string { return reports.Meaning(t.harm, lang) }), "states", fmt.Sprint(states))
	default:
		a.Sentence("play.goal", "harm", string(t.harm), "meaning", a.Each(func(lang string) string { return reports.Meaning(t.harm, lang) }), "par", par)
	}
	a.Sentence("play.keys")
	return nil
}

func orNone(a *app, budget string) string {
	if budget == "" {
		return a.Say("play.nofaults")
	}
	return budget
}

// showPosition draws the lanes, the state and the choices.
func (a *app) showPosition(t *table) error {
	o := a.options()
	o.Brief = true
	a.Printf("\n")
	if len(t.choices) > 0 {
		if err := reports.Lanes(a.Out, t.at.Outcome.History, t.at.Outcome.Judgement, o); err != nil {
			return internal(err)
		}
		a.Printf("\n")
	}
	a.Printf("%s\n", a.Say("play.now", "time", reports.Millis(t.at.Now, 0), "steps", fmt.Sprint(len(t.choices)), "faults", a.spent(t)))
	for c, s := range t.at.State.Clients[:t.Bounds.Clients] {
		a.Printf("  c%d  %s\n", c+1, a.belief(s))
	}
	for n, k := range t.at.State.Keys {
		a.Printf("  %s\n", a.key(t, n, k))
	}
	if share, ok, err := t.doom(a); err != nil {
		return internal(err)
	} else if ok {
		a.Printf("  %s\n", a.Say("play.doom", "share", percent(share), "bar", bar(share), "harm", string(t.harm)))
	}
	a.Printf("\n")
	for i, m := range t.at.Moves {
		mark := " "
		if m.Fault {
			mark = "!"
		}
		a.Wrap(fmt.Sprintf("%2d %s ", i+1, mark), a.Each(func(lang string) string { return m.Said[lang] }))
	}
	if len(t.at.Moves) == 0 {
		a.Sentence("play.over")
	}
	return a.reached(t)
}

// doom is the share of what can follow that is lost; false: there is no goal, or too much
// can follow.
func (t *table) doom(a *app) (float64, bool, error) {
	switch {
	case t.harm == "":
		return 0, false, nil
	case t.at.Has(t.harm):
		return 1, true, nil
	}
	return t.Doom(a.ctx, t.choices, t.harm)
}

// reached tells once that the goal is reached, and what follows from it.
func (a *app) reached(t *table) error {
	if t.harm == "" || !t.at.Has(t.harm) || t.told {
		return nil
	}
	t.told = true
	a.Printf("\n")
	a.Sentence("play.reached", "harm", string(t.harm), "faults", fmt.Sprint(t.at.Used()), "steps", fmt.Sprint(len(t.choices)), "par", a.parOf(t))
	a.Sentence("play.thenmend")
	if t.level == 0 {
		return nil
	}
	l, err := play.LevelAt(t.level)
	if err != nil {
		return internal(err)
	}
	for _, lang := range a.Langs() {
		a.Wrap("  "+text.Label(text.Say(lang, "play.learn")), l.Learn(lang))
		a.Wrap("  "+text.Label(text.Say(lang, "play.question")), l.Question(lang)+" (locklab explain interview "+l.Topic+")")
	}
	if t.level < len(play.Levels()) {
		a.Next(fmt.Sprintf("locklab play --level %d", t.level+1))
	}
	return nil
}

// parOf is the par of the table's goal; "?" if no search has found it.
func (a *app) parOf(t *table) string {
	if t.level > 0 {
		l, _ := play.LevelAt(t.level)
		if s := l.Solution(); s.Possible {
			return fmt.Sprint(s.Par)
		}
		return "?"
	}
	if s, err := t.Search(a.ctx); err == nil {
		if par, _, ok := play.Par(s, t.harm); ok {
			return fmt.Sprint(par)
		}
	}
	return "?"
}

// spent lists the faults with how many of them were used.
func (a *app) spent(t *table) string {
	var all []string
	for _, f := range t.at.Faults {
		all = append(all, fmt.Sprintf("%s %d/%d", f.Name, f.Used, f.Most))
	}
	if all == nil {
		return a.Say("play.nofaults")
	}
	return strings.Join(all, ", ")
}

// belief is where a client is, in words.
func (a *app) belief(s reports.ClientState) string {
	said := a.Say("play.stage." + s.Name())
	if s.Paused {
		said += a.Say("play.paused")
	}
	return said
}

// key is the locked key on a server, in words.
func (a *app) key(t *table, n int, k reports.KeyState) string {
	name := t.at.Outcome.History.Key
	if len(t.at.State.Keys) > 1 {
		name = fmt.Sprintf("n%d %s", n+1, name)
	}
	switch {
	case k.Down:
		return a.Say("play.key.down", "key", name)
	case !k.Held:
		return a.Say("play.key.free", "key", name)
	}
	owner := "?"
	if k.Owner > 0 {
		owner = fmt.Sprintf("c%d", k.Owner)
	}
	if k.Until == history.Forever {
		return a.Say("play.key.forever", "key", name, "owner", owner)
	}
	return a.Say("play.key.lease", "key", name, "owner", owner, "left", reports.Millis(max(k.Until-t.at.Now, 0), 0))
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
func (a *app) answer(t *table, line string) (again bool, err error) {
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
		a.Sentence("play.keys")
		return true, nil
	case "l":
		a.Printf("  locklab play %s\n", t.at.Trace.Link())
		return true, nil
	case "u":
		if len(t.choices) == 0 {
			a.Sentence("play.undo.none")
			return true, nil
		}
		return true, a.goTo(t, t.choices[:len(t.choices)-1])
	case "h":
		return true, a.hint(t)
	case "g":
		return true, a.giveUp(t)
	case "m":
		return true, a.mend(t, rest)
	}
	n, err := strconv.Atoi(verb)
	if err != nil || n < 1 || n > len(t.at.Moves) {
		a.Sentence("play.bad", "line", text.Visible(cut(line, 40)), "most", fmt.Sprint(len(t.at.Moves)))
		return true, nil
	}
	return true, a.goTo(t, append(t.choices[:len(t.choices):len(t.choices)], t.at.Moves[n-1].Choice))
}

// goTo shows the position after choices.
func (a *app) goTo(t *table, choices []simulator.Choice) (err error) {
	t.choices = choices
	if t.at, err = t.At(choices); err != nil {
		return internal(err)
	}
	return a.showPosition(t)
}

// way is a shortest way to the goal; nil: it says why there is none.
func (a *app) way(t *table) ([]simulator.Choice, error) {
	switch {
	case t.harm == "":
		a.Sentence("play.nogoal")
		return nil, nil
	case t.at.Has(t.harm):
		a.Sentence("play.done", "harm", string(t.harm))
		return nil, nil
	}
	if t.never > 0 {
		a.Sentence("play.never", "harm", string(t.harm), "states", fmt.Sprint(t.never))
		return nil, nil
	}
	w, err := t.Way(a.ctx, t.choices, t.harm)
	switch {
	case err != nil:
		return nil, internal(err)
	case w.Unknown:
		a.Sentence("play.unknown", "states", fmt.Sprint(play.MaxStates))
	case w.Choices == nil:
		a.Sentence("play.noway", "harm", string(t.harm))
	}
	return w.Choices, nil
}

func (a *app) hint(t *table) error {
	way, err := a.way(t)
	if way == nil {
		return err
	}
	for i, m := range t.at.Moves {
		if m.Choice == way[len(t.choices)] {
			a.Sentence("play.hint", "n", fmt.Sprint(i+1), "what", a.Each(func(lang string) string { return m.Said[lang] }), "harm", string(t.harm), "left", fmt.Sprint(len(way)-len(t.choices)))
		}
	}
	return nil
}

func (a *app) giveUp(t *table) error {
	way, err := a.way(t)
	if way == nil {
		return err
	}
	t.told = true
	if err := a.goTo(t, way); err != nil {
		return err
	}
	a.Sentence("play.gaveup", "harm", string(t.harm), "steps", fmt.Sprint(len(way)), "faults", fmt.Sprint(t.at.Used()))
	if t.level > 0 {
		l, _ := play.LevelAt(t.level)
		for _, lang := range a.Langs() {
			a.Wrap("  "+text.Label(text.Say(lang, "play.learn")), l.Learn(lang))
		}
	}
	return nil
}

// mend tries the attack on another lock.
func (a *app) mend(t *table, name string) error {
	if name == "" {
		next, ok := race.Successor(t.Strategy)
		if !ok {
			a.Sentence("play.mend.which")
			return nil
		}
		name = next.ID
	}
	entry, err := race.Strategy(name)
	if err != nil {
		a.Printf("%s\n", a.Error(err))
		return nil
	}
	m, err := t.Against(a.ctx, entry, t.choices)
	if err != nil {
		a.Printf("%s\n", a.Error(err))
		return nil
	}
	a.Printf("\n")
	o := a.options()
	o.Brief = true
	if err := reports.Lanes(a.Out, m.Position.Outcome.History, m.Position.Outcome.Judgement, o); err != nil {
		return internal(err)
	}
	a.Printf("\n")
	came := verdict.Holds
	if v := m.Position.Verdicts; len(v) > 0 {
		came = v[0]
	}
	a.Sentence("play.mend.same", "lock", entry.Heading(), "same", fmt.Sprint(m.Same), "all", fmt.Sprint(len(t.choices)), "verdict", string(came))
	a.Sentence(mendKey(m.Search, t.harm), "lock", entry.ID, "harm", string(t.harm), "faults", orNone(a, m.Search.Bounds.Budget), "states", fmt.Sprint(m.Search.States),
		"found", foundWords(m.Search))
	link := m.Position.Trace.Link()
	for _, w := range m.Search.Witnesses {
		if w.Verdict == t.harm {
			link = w.Trace.Link()
		}
	}
	a.Printf("  locklab play %s\n", link)
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
func (a *app) line(in *bufio.Reader) (string, bool) {
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
	case <-a.ctx.Done():
		return "", false
	}
}
