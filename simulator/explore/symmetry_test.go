package explore_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"locklab/faults"
	"locklab/simulator"
	"locklab/simulator/effort"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/schedule"
)

// scripted is a client that takes a lock by a script, twice: 1 lets it in. It gives the
// lock back if the key has its token.
func scripted(acquire string) func(c *simulator.Client) {
	return func(c *simulator.Client) {
		ctx, node := context.Background(), c.Redis(1)
		for range 2 {
			token := c.Token()
			if in, err := node.Eval(ctx, acquire, []string{"lock"}, token, 1000).Int(); err == nil && in == 1 {
				c.Record(history.Event{Kind: history.Enter})
				c.Clock().Sleep(400 * time.Millisecond)
				c.Record(history.Event{Kind: history.Leave})
				node.Eval(ctx,
					`if redis.call("TYPE", KEYS[1]).ok == "string" and redis.call("GET", KEYS[1]) == ARGV[1] then `+
						`redis.call("DEL", KEYS[1]) end return 1`, []string{"lock"}, token)
			}
			c.Clock().Sleep(600 * time.Millisecond)
		}
	}
}

// A config has what searches of alike clients differ in.
type config struct {
	budget faults.Budget
	timing *simulator.Timing
	step   time.Duration
}

// searchAlike searches clients that run the same program, as interchangeable or not.
func searchAlike(
	t *testing.T, program func(c *simulator.Client), clients, symmetric int, with config,
) *explore.Result {
	t.Helper()
	allowed, err := with.budget.Parse()
	if err != nil {
		t.Fatal(err)
	}
	sim, err := simulator.New(simulator.Config{
		Clients: slices.Repeat([]simulator.ClientConfig{{Program: program}}, clients),
		Nodes:   make([]simulator.NodeConfig, 1), Timing: with.timing, Faults: allowed,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(sim.Close)
	r, err := explore.Exhaust(t.Context(), sim, explore.Options{Case: head(sim), Symmetric: symmetric, Step: with.step})
	if err != nil || !r.Complete {
		t.Fatalf("complete: %v, %v", r != nil && r.Complete, err)
	}
	return r
}

// answer is what a search has found, in a line.
func answer(r *explore.Result) string {
	var found []string
	for _, f := range r.Found {
		found = append(found, fmt.Sprintf("%s@%d in %d steps", f.Verdict, f.Par, f.Steps))
	}
	return strings.Join(found, ", ")
}

// foundOut checks that a search has given symmetry up, and finds what one without it finds: OVERLAP, without a fault.
func foundOut(t *testing.T, who any, got, want *explore.Result) {
	t.Helper()
	if got.Symmetry || answer(got) != answer(want) || !strings.Contains(answer(want), "OVERLAP@0") {
		t.Errorf("%v: symmetry %v, found %q, without it %q; want OVERLAP@0",
			who, got.Symmetry, answer(got), answer(want))
	}
}

// enter is the end of a script that has decided.
const enter = ` redis.call("SET", KEYS[1], ARGV[1], "PX", ARGV[2]) return 1`

// free is the beginning of a script that lets nobody in beside another.
const free = `if redis.call("EXISTS", KEYS[1]) == 1 then return 0 end `

// servers are scripts that treat clients otherwise that differ in their names only: each lets two in at a time, if the
// right one comes first; and, alike, scripts that do with names what is lawful, and let in one at a time.
var servers = []struct {
	name, script string
	alike        bool
}{
	{"the greater token takes over",
		`local v = redis.call("GET", KEYS[1]) if v and v > ARGV[1] then return 0 end`, false},
	{"the first of a range", `redis.call("ZADD", "all", 0, ARGV[1]) redis.call("PEXPIRE", "all", ARGV[2])
		if redis.call("ZRANGE", "all", 0, 0)[1] ~= ARGV[1] then return 0 end`, false},
	{"a key for each client", `local own = KEYS[1] .. string.sub(ARGV[1], 1, 2)
		if redis.call("EXISTS", own) == 1 then return 0 end redis.call("SET", own, "", "PX", ARGV[2])`, false},
	{"a hash in the data", `local own = KEYS[1] .. redis.sha1hex(ARGV[1])
		if redis.call("EXISTS", own) == 1 then return 0 end redis.call("SET", own, "", "PX", 500)`, false},

	{"comparison with its own", `local v = redis.call("GET", KEYS[1]) if v and v ~= ARGV[1] then return 0 end`, true},
	{"a key with a token", `redis.call("SET", KEYS[1] .. ":" .. ARGV[1], "", "PX", 50) ` + free, true},
	{"a line", `redis.call("RPUSH", "all", ARGV[1]) ` + free, true},
	{"how long keys live still", `if redis.call("PTTL", KEYS[1]) > 0 then return 0 end
		redis.call("SET", ARGV[1], "", "PX", 1500)`, true},
}

// TestServers: where a server can tell who is who, the search says so, does without symmetry, and finds what it finds
// without. What servers do with names in a lawful way costs no symmetry.
func TestServers(t *testing.T) {
	effort.Unwatched(t, "study's TestSearchOnTwoCores shows the goroutines of a search")
	all := servers
	for _, order := range []string{"123", "132", "213", "231", "312", "321"} {
		// A server that knows three names in one order cannot be found out by any exchange of two of them, from the
		// order in which it sees them first.
		script := `local all = (redis.call("GET", "all") or "") .. string.sub(ARGV[1], 1, 3) ` +
			`redis.call("SET", "all", all)
			if redis.call("EXISTS", KEYS[1]) == 1 and string.gsub(all, "[c.]", "") ~= "` + order + `" then return 0 end`
		all = append(all, struct {
			name, script string
			alike        bool
		}{order, script, false})
	}
	for _, c := range all {
		t.Run(c.name, func(t *testing.T) {
			for clients := 2; clients <= 3; clients++ {
				if clients == 2 && len(c.name) == 3 {
					continue
				}
				program := scripted(c.script + enter)
				got := searchAlike(t, program, clients, clients, config{})
				want := searchAlike(t, program, clients, 0, config{})
				switch {
				case !c.alike:
					foundOut(t, clients, got, want)
					if got.Asymmetry == nil || len(got.Asymmetry.Command) == 0 || got.Asymmetry.Command[0] != "EVAL" {
						t.Errorf("%d clients: given up for %+v; want it to be given up for EVAL",
							clients, got.Asymmetry)
					}
				case !got.Symmetry || got.States >= want.States || answer(got) != answer(want):
					t.Errorf("%d clients: found %q in %d states (%+v), without symmetry %q in %d",
						clients, answer(got), got.States, got.Asymmetry, answer(want), want.States)
				}
			}
		})
	}
}

// TestSpecialCode: code that treats one client in a special way is found out wherever it does so: also where whoever
// comes there is always the last, and takes the last place; and also where what one client remembers others forget, so
// that histories that it tells apart were taken for one.
func TestSpecialCode(t *testing.T) {
	effort.Unwatched(t, "study's TestSearchOnTwoCores shows the goroutines of a search")
	lockstep, step := config{}, config{timing: &simulator.Timing{}, step: time.Second}
	for name, test := range map[string]struct {
		config
		clients int // at most
		enters  func(c *simulator.Client, clients int, special bool) bool
	}{
		"the last comes in": {lockstep, 4, func(c *simulator.Client, clients int, special bool) bool {
			n := int(c.Redis(1).Incr(t.Context(), "n").Val())
			return n == 1 || n == clients && special
		}},
		"one remembers its way": {step, 3, func(c *simulator.Client, _ int, special bool) bool {
			way := c.Clock().Idle(time.Second, 1)
			c.Redis(1).Incr(t.Context(), "n")
			c.Redis(1).Incr(t.Context(), "n")
			return c.Redis(1).SetNX(t.Context(), "lock", c.Token(), 0).Val() || way == 1 && special
		}},
	} {
		for clients := 2; clients <= test.clients; clients++ {
			for special := 1; special <= clients; special++ {
				program := func(c *simulator.Client) {
					if test.enters(c, clients, c.ID() == special) {
						c.Record(history.Event{Kind: history.Enter})
					}
				}
				got := searchAlike(t, program, clients, clients, test.config)
				foundOut(t, name, got, searchAlike(t, program, clients, 0, test.config))
				if got.Asymmetry == nil || got.Asymmetry.Was == "" {
					t.Errorf("%s, client %d of %d: given up for %+v", name, special, clients, got.Asymmetry)
				}
			}
		}
	}
}

// TestWitnessFindsTheKey: a fault names a key by its place among all keys, which is
// another one under the names that the clients have in a witness.
func TestWitnessFindsTheKey(t *testing.T) {
	ctx := context.Background()
	program := func(c *simulator.Client) { // the second comes in if its own key is gone
		own := "own:" + c.Token()
		c.Redis(1).Set(ctx, own, "", 10*time.Second)
		n := c.Redis(1).Incr(ctx, "n").Val()
		c.Clock().Sleep(time.Second * time.Duration(n))
		if n == 1 || n == 2 && c.Redis(1).Exists(ctx, own).Val() == 0 {
			c.Record(history.Event{Kind: history.Enter})
			c.Clock().Sleep(5 * time.Second)
			c.Record(history.Event{Kind: history.Leave})
		}
	}
	for _, budget := range []faults.Budget{"delete=1", "evict=1", "evict=1,crash=1"} {
		for clients := 2; clients <= 3; clients++ {
			r := searchAlike(t, program, clients, clients, config{budget: budget})
			if !r.Symmetry || !strings.Contains(answer(r), "OVERLAP@1") {
				t.Fatalf("%s: symmetry %v, found %q, want OVERLAP@1", budget, r.Symmetry, answer(r))
			}
			sim := world(t, string(budget), 1, slices.Repeat([]func(*simulator.Client){program}, clients)...)
			run, err := schedule.Replay(sim, r.Found[0].Choices)
			if err != nil {
				t.Fatal(err)
			}
			others := slices.DeleteFunc(slices.Clone(run.Events),
				func(e history.Event) bool { return e.Kind == history.Enter })
			if entered := len(run.Events) - len(others); entered != 2 {
				t.Errorf("%s, %d clients: %d come in where the witness says two", budget, clients, entered)
			}
		}
	}
}

// condition is a random condition on the value of the key (v), the token (ARGV[1]) and
// the data, up to so deep.
func condition(rng *rand.Rand, deep int) string {
	texts := []string{`v`, `v`, `ARGV[1]`, `ARGV[1]`, `(redis.call("GET", "last") or "")`, `("c2" .. ".1")`, `"c1"`}
	text := func() string {
		s := texts[rng.IntN(len(texts))]
		switch rng.IntN(9) {
		case 0:
			return fmt.Sprintf(`string.sub(%s, 1, %d)`, s, 1+rng.IntN(4))
		case 1:
			return fmt.Sprintf(`string.sub(%s, -%d)`, s, 1+rng.IntN(4))
		case 2:
			return fmt.Sprintf(`redis.sha1hex(%s)`, s)
		case 3:
			return fmt.Sprintf(`string.upper(%s)`, s)
		}
		return s
	}
	number := func() string {
		switch s := text(); rng.IntN(5) {
		case 0:
			return `#` + s
		case 1:
			return fmt.Sprintf(`(string.byte(%s, %d) or 0)`, s, 1+rng.IntN(4))
		case 2:
			return fmt.Sprintf(`(tonumber(string.sub(%s, 2)) or 0)`, s)
		case 3:
			return `redis.call("HLEN", "all")`
		}
		return fmt.Sprint(rng.IntN(5))
	}
	operator := func(ops ...string) string { return ops[rng.IntN(len(ops))] }
	if deep > 0 && rng.IntN(2) == 0 {
		switch a, b := condition(rng, deep-1), condition(rng, deep-1); rng.IntN(3) {
		case 0:
			return "(" + a + " and " + b + ")"
		case 1:
			return "(" + a + " or " + b + ")"
		default:
			return "not " + a
		}
	}
	switch rng.IntN(8) {
	case 0, 1:
		return "(" + text() + " " + operator("==", "~=") + " " + text() + ")"
	case 2, 3, 4:
		return "(" + text() + " " + operator("<", "<=", ">", ">=") + " " + text() + ")"
	case 5:
		return "(" + number() + " " + operator("<", "==", ">") + " " + number() + ")"
	case 6:
		return `(redis.call("HEXISTS", "all", ` + text() + `) == 1)`
	}
	return fmt.Sprintf(`(sorted(%s, %s)[%d] == %s)`, text(), text(), 1+rng.IntN(2), text())
}

// TestRandomServers: whatever a script makes of names, a search with symmetry finds what
// one without finds.
func TestRandomServers(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine searches")
	rng := rand.New(rand.NewPCG(20, 26))
	kinds := map[bool]int{}
	for n := range 80 {
		script := `local function sorted(a, b) local all = {a, b} table.sort(all) return all end
local v = redis.call("GET", KEYS[1]) or ""
local free = v == "" or ` + condition(rng, 1) + `
redis.call("` + []string{"SET", "GETSET"}[rng.IntN(2)] + `", "last", ARGV[1])
if ` + condition(rng, 1) + ` then redis.call("HSET", "all", ARGV[1], #v) end
if not free then return 0 end` + enter
		clients := 2 + n%5/4 // three take longer
		got, want := searchAlike(t, scripted(script), clients, clients, config{}),
			searchAlike(t, scripted(script), clients, 0, config{})
		kinds[got.Symmetry]++
		if answer(got) != answer(want) {
			t.Errorf("%d clients: found %q with symmetry (%v), %q without:\n%s", clients, answer(got), got.Symmetry,
				answer(want), script)
		}
	}
	t.Logf("%d scripts treat clients alike, %d do not", kinds[true], kinds[false])
	if kinds[true] < 20 || kinds[false] < 20 {
		t.Error("the scripts are too much alike to show anything")
	}
}
