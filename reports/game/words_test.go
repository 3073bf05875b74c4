package game

import (
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// What a dead client had sent is worded by the message, and nothing else of a dead client is offered.
func TestNothingOfTheDead(t *testing.T) {
	offered := 0
	for _, name := range []string{"setnx", "setnx-expire", "token"} {
		entry, b := must(race.Lock(name))(t), play.DefaultBounds()
		b.Budget = "crash=1,lose-request=1" // a request that may be lost is under way for a move
		g := must(play.New(t.Context(), entry, b))(t)
		for depth := range 8 { // c1 goes on for so long, and crashes
			var at []simulator.Choice
			for range depth {
				at = choose(t, g, at, func(m play.Move) bool { return !m.Fault && m.Choice.Client == 1 })
			}
			at = choose(t, g, at, func(m play.Move) bool { return m.Fault && m.Choice.Client == 1 })
			for range 20 {
				p, err := g.At(at)
				if err != nil {
					t.Fatal(err)
				}
				for i, said := range must(movesOf(t.Context(), g, p, ""))(t) {
					m, at := p.Moves[i], stateOf(p.Outcome.History)
					if m.Choice.Client > 0 && at.stage(int(m.Choice.Client)) == verdict.Dead {
						offered++
						sent := map[string]string{"en": "sent before c1 crashed: ", "zh": "c1 宕机前发出："}
						for lang, before := range sent {
							if m.Choice.Verb != simulator.Orphaned || !strings.Contains(said[lang], before) {
								t.Errorf("%s, %s: %q of the dead c%d", name, lang, said[lang], m.Choice.Client)
							}
						}
					}
				}
				if len(p.Moves) == 0 {
					break
				}
				at = choose(t, g, at, func(m play.Move) bool { return m.Choice.Client != 1 })
			}
		}
		g.Close()
	}
	if offered == 0 {
		t.Errorf("no request of a dead client was under way, in %v", text.Languages())
	}
}

// choose makes the first move that is wanted and what is then no choice; without one, the first move.
func choose(t *testing.T, g *play.Game, at []simulator.Choice, want func(play.Move) bool) []simulator.Choice {
	t.Helper()
	p, err := g.At(at)
	if err != nil {
		t.Fatal(err)
	}
	for i, m := range p.Moves {
		if want(m) || i == len(p.Moves)-1 {
			if !want(m) {
				m = p.Moves[0]
			}
			if at, err = g.Forward(t.Context(), append(at[:len(at):len(at)], m.Choice), ""); err != nil {
				t.Fatal(err)
			}
			break
		}
	}
	return at
}

// Moves that follow the hints solve each level that can be solved, with the fewest faults: by at most ten moves, and
// half of the levels by at most five. Each hint has an idea in every language, which does not name the move, and a
// move; none counts the steps to the end. The idea begins with what the move's client does in it, and strikes where it
// said that it would.
func TestHintsSolveLevels(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	counted, first := []int(nil), map[string][]string{}
	for n, l := range play.Levels() {
		want := l.Solution()
		if !want.Possible || !effort.Exhaustive() && want.States > 8_000 {
			continue
		}
		g := must(l.Game(t.Context()))(t)
		at, clicks := must(g.Forward(t.Context(), nil, l.Harm))(t), 0
		p, planned := must(g.At(at))(t), ""
		for ; !p.Has(l.Harm) && clicks < 20; clicks++ {
			w := must(g.Way(t.Context(), at, l.Harm))(t)
			h := must(hintOf(t.Context(), g, p, w, l.Harm))(t)
			hinted(t, n+1, h, must(movesOf(t.Context(), g, p, l.Harm))(t)[h.Move])
			if clicks == 0 {
				first[h.Idea["en"]] = append(first[h.Idea["en"]], l.ID)
			}
			move, before := p.Moves[h.Move], len(p.Outcome.History.Events)
			at = must(g.Forward(t.Context(), append(at[:len(at):len(at)], move.Choice), l.Harm))(t)
			p = must(g.At(at))(t)
			concerns(t, n+1, h, move, p.Outcome.History.Events[before:])
			if _, when, waits := strings.Cut(h.Idea["en"], "keep your fault until "); waits {
				planned, _, _ = strings.Cut(when, ".")
			} else if move.Fault && planned != "" && !strings.HasPrefix(h.Idea["en"], "Now "+planned+".") {
				t.Errorf("level %d strikes by %q, and should wait until %s", n+1, h.Idea["en"], planned)
			}
		}
		if counted = append(counted, clicks); !p.Has(l.Harm) || p.Used() != want.Par || clicks > 10 {
			t.Errorf("level %d, %s: %d moves and %d faults, want %+v", n+1, l.ID, clicks, p.Used(), want)
		}
		g.Close()
	}
	if strings.Contains(fmt.Sprint(first), "crash two-commands") {
		t.Errorf("one idea for what SETNX and EXPIRE leave open: %v", first)
	}
	if slices.Sort(counted); counted[len(counted)/2] > 5 {
		t.Errorf("half of the levels take more than five moves: %v", counted)
	}
}

// Where a pause lets another client in, the hints lead to one of a client that is inside, and so to what the level is
// about: a watchdog has begun, and the client has its fencing token.
func TestHintsShowTheLesson(t *testing.T) {
	for _, n := range []int{8, 9, 10} {
		l := must(play.LevelAt(n))(t)
		var table Table
		at := must(table.do(t.Context(), Request{Do: "level", Number: n}))(t).(*Position)
		for steps := 0; at.Faults[0].Used == 0 && steps < 9; steps++ {
			r := Request{Do: "hint", Link: at.Link, Harm: l.Harm}
			r.Do, r.Number = "move", must(table.do(t.Context(), r))(t).(*Hint).Move
			if at.Moves[r.Number].Fault {
				h := at.at.Outcome.History
				begun, token := false, false
				for _, e := range h.Events {
					begun = begun || e.Kind == history.Sleep && e.Thread > 0
					token = token || e.Kind == history.Enter && e.Token > 0
				}
				stage := stateOf(h).stage(at.Moves[r.Number].Client)
				if stage != verdict.Inside || begun != (n == 9) || token != l.Fenced {
					t.Errorf("level %d strikes at %s: watchdog %t, token %t", n, at.Link, begun, token)
				}
			}
			at = must(table.do(t.Context(), r))(t).(*Position)
		}
		if table.Close(); at.Faults[0].Used == 0 {
			t.Errorf("level %d: no hint strikes", n)
		}
	}
}

// What is said in random games is true: a hint names the command that the client sends next on the way of the hint; and
// who asks before it deletes, or finds no key, does so in random runs from where the game is lost.
func TestSaidIsTrue(t *testing.T) {
	random, commands, reasons := rand.New(rand.NewPCG(1, 1)), 0, 0
	for _, n := range []int{3, 6, 7, 7} {
		l := must(play.LevelAt(n))(t)
		g := must(l.Game(t.Context()))(t)
		for range 12 {
			at := must(g.Forward(t.Context(), nil, l.Harm))(t)
			for p := must(g.At(at))(t); len(p.Moves) > 0 && !p.Has(l.Harm); p = must(g.At(at))(t) {
				w := must(g.Way(t.Context(), at, l.Harm))(t)
				if w.Choices != nil {
					commands += namesNext(t, g, p, w, l.Harm)
				} else if p.Used() > 0 {
					reasons += reasonHolds(t, g, at, l.Harm, random)
					break
				}
				m := p.Moves[random.IntN(len(p.Moves))]
				if m.Fault { // later is better
					m = p.Moves[random.IntN(len(p.Moves))]
				}
				at = must(g.Forward(t.Context(), append(slices.Clip(at), m.Choice), l.Harm))(t)
			}
		}
		g.Close()
	}
	if commands == 0 || reasons == 0 {
		t.Errorf("%d commands and %d reasons: nothing was tested", commands, reasons)
	}
}

// namesNext counts the commands that a hint names, and compares them with what its client sends on the way.
func namesNext(t *testing.T, g *play.Game, p *play.Position, w play.Way, harm verdict.Word) (n int) {
	t.Helper()
	said := must(hintOf(t.Context(), g, p, w, harm))(t).Idea["en"]
	_, named, found := strings.Cut(said, "next command on the lock is ")
	_, _, way, err := g.Next(t.Context(), p, w, harm)
	steps := must(g.Steps(way.Choices, len(p.Trace.Choices)))(t)
	at := slices.IndexFunc(steps, func(s play.Step) bool { return s.Choice.Verb == faults.Pause.Verb })
	if err != nil || !found || at < 0 {
		return 0
	}
	kind, client := history.Send, int(steps[at].Choice.Client)
	if steps[at].Choice == faults.PauseUnsentOf(client) {
		kind = history.Apply
	}
	for _, s := range steps[at+1:] {
		for _, e := range s.Events() {
			command := reports.Command(e.Cmd, s.Run.Key)
			if n == 0 && e.Kind == kind && e.Client == client && len(e.Cmd) > 0 {
				if n++; !strings.HasPrefix(named, command+":") {
					t.Errorf("after %v: %q, and on the way follows %s", p.Trace.Choices, said, command)
				}
			}
		}
	}
	return n
}

// reasonHolds counts the reasons that it compares with a random run from where a game is lost.
func reasonHolds(t *testing.T, g *play.Game, at []simulator.Choice, harm verdict.Word, random *rand.Rand) int {
	t.Helper()
	r := &asked{Request: Request{Harm: harm}, ctx: t.Context(), game: g, choices: at}
	said := must(r.lost())(t).(*Lost).Said["en"]
	reason := regexp.MustCompile(`(when c\d releases, there is nothing|c\d asks whose the key|c\d sends GET before)`)
	about := reason.FindString(said)
	if about == "" {
		return 0
	}
	client := int(about[strings.IndexAny(about, "123")] - '0')
	from := len(must(g.At(at))(t).Outcome.History.Events)
	for p := must(g.At(at))(t); len(p.Moves) > 0; p = must(g.At(at))(t) {
		if m := p.Moves[random.IntN(len(p.Moves))]; m.Choice.Verb != simulator.GiveUp || len(p.Moves) == 1 {
			at = append(slices.Clip(at), m.Choice)
		}
	}
	h := must(g.At(at))(t).Outcome.History
	for n, e := range h.Events {
		past := *h
		past.Events = h.Events[:n]
		s := stateOf(&past)
		if n < from || e.Kind != history.Apply || e.Client != client || s.stage(client) != verdict.Releasing {
			continue
		}
		owner := s.owner(1)
		early := e.Cmd[0] != "GET" || owner == client
		if strings.Contains(said, "nothing left") && owner != 0 || strings.Contains(said, "GET before") && early ||
			strings.Contains(said, "finds") && (owner == 0 || owner == client) {
			t.Errorf("%q, but at %v the key is that of %d", said, at, owner)
		}
		break
	}
	return 1
}

// hinted checks the words of a hint.
func hinted(t *testing.T, level int, h *Hint, move Words) {
	t.Helper()
	counts := regexp.MustCompile(`(?i)steps|步|[{}]|play\.`)
	for _, lang := range text.Languages() {
		idea, said := h.Idea[lang], h.Said[lang]
		if !strings.Contains(said, move[lang]) || strings.Contains(idea, move[lang]) || counts.MatchString(idea+said) ||
			len(idea) < 9 {
			t.Errorf("level %d, %s: %q %q", level, lang, idea, said)
		}
	}
}

// ideas are the kinds of events of which an idea tells, by the key of the text that it begins with.
var ideas = map[string][]history.EventKind{
	"turn.acquire": {history.Acquire}, "turn.acquire.free": {history.Send}, "turn.acquire.taken": {history.Send},
	"turn.acquire.first": {history.Send}, "turn.apply": {history.Apply, history.Read, history.Write},
	"turn.answer": {history.Answer}, "turn.answer.resource": {history.Answer}, "turn.send.resource": {history.Send},
	"turn.leave": {history.Leave}, "turn.reconnect": {history.Reconnect},
	"turn.timeout": {history.Timeout}, "turn.broken": {history.Broken}, "enter.both": {history.Enter},
	"enter.too": {history.Enter}, "enter.stale": {history.Enter}, "wake": {history.Resume},
	"wake.inside": {history.Resume},
	"delete":      {history.Change}, "overwrite.stamp": {history.Change}, "write.late": {history.Write},
	"turn.pass": nil, "enter": nil, "now": nil,
}

// concerns checks that the client and the kind of event that an idea begins with are those of its move.
func concerns(t *testing.T, level int, h *Hint, m play.Move, events []history.Event) {
	t.Helper()
	for _, lang := range text.Languages() {
		best, key, client := "", "", ""
		texts := text.Texts(lang, "play.hint.")
		for _, k := range slices.Sorted(maps.Keys(texts)) {
			said := texts[k]
			pattern := strings.NewReplacer(`\{client\}`, `(c\d)`, " ", " ?").Replace(regexp.QuoteMeta(said))
			pattern = regexp.MustCompile(`\\\{\w+\\\}`).ReplaceAllString(pattern, `[^.。]+?`)
			found := regexp.MustCompile("^" + pattern).FindStringSubmatch(h.Idea[lang])
			part := strings.HasPrefix(said, "{why}") || strings.HasPrefix(k, "play.hint.at.")
			if part || found == nil || len(said) <= len(best) {
				continue
			}
			if best, key, client = said, strings.TrimPrefix(k, "play.hint."), ""; len(found) > 1 {
				client = found[1]
			}
		}
		kinds, known := ideas[key]
		right := slices.ContainsFunc(events, func(e history.Event) bool {
			return slices.Contains(kinds, e.Kind) && clientName(e.Client) == client
		})
		switch of := clientName(m.Choice.Client); key {
		case "now":
			right = m.Fault && (m.Choice.Client == 0 || strings.Contains(h.Idea[lang], of))
		case "turn.pass", "enter":
			right = m.Choice.Verb == simulator.Pass
		default:
			right = right && !m.Fault && (m.Choice.Client == 0 || of == client)
		}
		if !known || !right {
			t.Errorf("level %d: %q is %s of %q, and the move is %v", level, h.Idea[lang], key, client, m.Name)
		}
	}
}

// A page offers for a lock the faults that can strike it: each of them is a move in a calm run, and no other is. A
// lock without a server is offered none of a server, though the simulator has one.
func TestOfferedFaultsStrike(t *testing.T) {
	effort.OnlyPushed(t, "it plays each lock with each fault")
	for _, e := range algorithms.All() {
		for _, b := range budgets {
			f := b.Faults()
			if len(f) != 1 || f[0].Times != 1 {
				continue
			}
			bounds, never := play.DefaultBounds(), slices.Contains(never(e), f[0].Fault.Name)
			bounds.Budget = b
			g := must(play.New(t.Context(), e, bounds))(t)
			strikes, at := false, []simulator.Choice(nil)
			for p := must(g.At(at))(t); len(p.Moves) > 0 && len(at) < 60 && !strikes; p = must(g.At(at))(t) {
				strikes = slices.ContainsFunc(p.Moves, func(m play.Move) bool { return m.Fault })
				n := slices.IndexFunc(p.Moves, func(m play.Move) bool { return !m.Fault })
				at = append(slices.Clip(at), p.Moves[n].Choice)
			}
			g.Close()
			if strikes == never && !(never && e.Local()) {
				t.Errorf("%s, %s: offered %t, strikes %t", e.ID, b, !never, strikes)
			}
		}
	}
}

// must returns a value, unless there is an error.
func must[T any](value T, err error) func(*testing.T) T {
	return func(t *testing.T) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// What a loss says will happen happens in every run that can follow: here in runs by chance, of every level.
func TestLostInEveryRun(t *testing.T) {
	happens := map[string][]history.EventKind{ // to the client
		`(c\d) gets no answer in time`: {history.Timeout, history.Broken}, `(c\d) releases its own`: {history.Change},
		`(c\d) learns that it has no`: {history.Refuse}, `(c\d) leaves before`: {history.Leave},
		`(c\d)'s write arrives`: {history.Write},
	}
	chance, checked := rand.New(rand.NewPCG(7, 7)), map[string]int{}
	var table Table
	defer table.Close()
	for level, l := range play.Levels() {
		for range 3 {
			at := must(table.do(t.Context(), Request{Do: "level", Number: level + 1}))(t).(*Position)
			for range 8 {
				lost := must(table.do(t.Context(), Request{Do: "lost", Link: at.Link, Harm: l.Harm}))(t).(*Lost)
				for words, kinds := range happens {
					if said := regexp.MustCompile(words).FindStringSubmatch(lost.Said["en"]); said != nil {
						checked[words]++
						mustHappen(t, chance, at.Link, lost.Said["en"], said[1], kinds)
					}
				}
				if len(at.Moves) == 0 || lost.Said != nil {
					break
				}
				next := Request{Do: "move", Link: at.Link, Harm: l.Harm, Number: chance.IntN(len(at.Moves))}
				at = must(table.do(t.Context(), next))(t).(*Position)
			}
		}
	}
	if len(checked) < 3 {
		t.Errorf("only these were lost: %v", checked)
	}
	t.Log(checked)
}

// mustHappen plays on from a position by chance, ten times, without a fault: from the last fault on, something happens
// to a client.
func mustHappen(t *testing.T, chance *rand.Rand, link, said, client string, kinds []history.EventKind) {
	trace := must(simulator.ParseLink(link))(t)
	g := must(play.Open(t.Context(), trace))(t)
	defer g.Close()
	last := 0
	for i, c := range trace.Choices {
		if c.Verb >= simulator.FaultVerb {
			last = i
		}
	}
	from := len(must(g.At(trace.Choices[:last]))(t).Outcome.History.Events)
	for range 10 {
		at := must(g.At(trace.Choices))(t)
		for {
			usual := slices.DeleteFunc(slices.Clone(at.Moves), func(m play.Move) bool { return m.Fault })
			if len(usual) == 0 {
				break
			}
			next := usual[chance.IntN(len(usual))].Choice
			at = must(g.At(append(slices.Clone(at.Trace.Choices), next)))(t)
		}
		if !slices.ContainsFunc(at.Outcome.History.Events[from:], func(e history.Event) bool {
			return slices.Contains(kinds, e.Kind) && fmt.Sprintf("c%d", e.Client) == client
		}) {
			t.Errorf("%s: it is said that %q, and not so in %s", link, said, at.Trace.Link())
			return
		}
	}
}

// An answer that is a number is named by it: what stands second is not what is called 2.
func TestAnswersAreNumbers(t *testing.T) {
	q := &Question{Answers: []Answer{{Said: same("0"), Right: true}, {Said: same("1")}}}
	for line, want := range map[string]int{"0": 0, "1": 1, "a": 0, "b": 1, "2": 1} {
		s := &Screen{Printer: &text.Printer{Lang: "en", Out: io.Discard, Width: 80},
			Line: func() (string, bool) { return line, true }}
		if got, ok := s.choose([]*Question{q}, 0); got != want || !ok {
			t.Errorf("%q chooses %d, want %d", line, got, want)
		}
	}
}
