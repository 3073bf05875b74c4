package promela

import (
	"fmt"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/process"
	"locklab/simulator/redisnode"
	"slices"
	"strings"
	"time"
)

// model is a question in Promela, as far as it is known.
type model struct {
	bounds  *explore.Bounds
	sim     *simulator.Simulator
	redis   *redisnode.Kind
	zk      *ensemble    // in place of redis
	ops     []process.Op // by number; servers' from 1, the resource's and all else from firstOther
	others  []process.Op
	number  map[process.Op]int
	threads int
	keys    int
	orphans int
	ways    int // in how many other ways a client may go on
	clock   bool
	limits  map[string]int
	rows    []row
	// In tests, what is spoiled: the text of the model, and rows of the tables.
	spoilText func(source string) string
	spoilRow  func(r *row)
}

// row is a row of the tables.
type row struct{ key, values []int }

// firstOther is the first number of an operation that is no request; RESOURCE in world.pml.
const firstOther = 20_000

func newModel(b *explore.Bounds, sim *simulator.Simulator) *model {
	m := &model{bounds: b, sim: sim, redis: sim.Redis(), number: map[process.Op]int{}, ops: []process.Op{{}}, threads: 1, keys: 1, orphans: 4}
	if words := sim.Ensemble(); words != nil {
		m.zk = newEnsemble(words, b.Entry.Line(m.key()), b.Clients+1)
	}
	return m
}

// limits are the bounds that a compiled model gets from its tables, in their order there: models that
// differ in nothing else are compiled once.
var limits = []string{"STEP", "LATENCY", "LATENESS", "TTL", "SPARE", "CRASHES", "EXPIRES", "PAUSES", "PAUSE", "LOST_REPLIES", "LOST_REQUESTS"}

// source is the model: a comment, sizes, and world.pml.
func (m *model) source(file string) (_, _ string, err error) {
	b, config := m.bounds, m.sim.Config()
	timing := simulator.Timing{}
	if config.Timing != nil {
		timing = *config.Timing
	}
	m.limits = map[string]int{"SPARE": m.spare(), "CRASHES": 0, "EXPIRES": 0, "PAUSES": 0, "PAUSE": never, "LOST_REPLIES": 0, "LOST_REQUESTS": 0}
	sizes := map[string]int{"CLIENTS": b.Clients, "NODES": b.Nodes, "THREADS": m.threads, "KEYS": m.keys, "ORPHANS": m.orphans, "CLOCK": is(m.clock), "ENSEMBLE": is(m.zk != nil), "WAYS": m.ways}
	for _, f := range b.Faults {
		switch f.Fault.Name() {
		case "crash":
			m.limits["CRASHES"] = f.Times
		case "expire-session":
			m.limits["EXPIRES"] = f.Times
		case "lose-reply":
			m.limits["LOST_REPLIES"] = f.Times
		case "lose-request":
			m.limits["LOST_REQUESTS"] = f.Times
		case "pause":
			m.limits["PAUSES"] = f.Times
			if f.Max > 0 {
				longest := f.Max
				if timing.Step > 0 {
					longest -= longest % timing.Step
				}
				if m.limits["PAUSE"], err = ms(longest); err != nil {
					return "", "", err
				}
			}
		}
	}
	for name, d := range map[string]time.Duration{"STEP": timing.Step, "LATENCY": timing.Latency, "LATENESS": timing.Lateness, "TTL": b.TTL} {
		if m.limits[name], err = ms(d); err != nil {
			return "", "", err
		}
	}
	var head, s strings.Builder
	fmt.Fprintf(&head, "/* %s, as SPIN sees it. Once its tables are written:\n *   spin -a %s && cc -DTABLES %s && ./pan %s\n * The tables say how long and how often (row 9):", b.Entry.ID, file, strings.Join(m.compile(), " "), strings.Join(panArgs, " "))
	for _, name := range limits {
		fmt.Fprintf(&head, " %s %d", name, m.limits[name])
	}
	head.WriteString(".\n */\n")
	names := make([]string, 0, len(sizes))
	for name := range sizes {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		fmt.Fprintf(&s, "#define %s %d\n", name, sizes[name])
	}
	repeat := func(name, join, macro string, n int, args string) {
		var items []string
		for i := range n {
			items = append(items, fmt.Sprintf(macro, i))
		}
		fmt.Fprintf(&s, "#define %s%s %s\n", name, args, "("+strings.Join(items, join)+")")
	}
	repeat("GRANTED", " + ", "GRANT_OF(%d,c,l)", b.Nodes, "(c,l)")
	repeat("LEFT", " + ", "LEFT_OF(%d,c)", b.Nodes, "(c)")
	repeat("AWAITS", " || ", "AWAITS_THREAD(c,%d)", m.threads, "(c)")
	repeat("BUSY", " || ", "BUSY_THREAD(c,%d)", m.threads, "(c)")
	repeat("UNREAD", " || ", "UNREAD_THREAD(c,%d)", m.threads, "(c)")
	repeat("JUST_ASKED", " || ", "JUST_ASKED_THREAD(c,%d)", m.threads, "(c)")
	s.WriteString("#define CHOICES")
	for c := range b.Clients + 1 {
		for t := range m.threads {
			fmt.Fprintf(&s, " CHOICES_OF_THREAD(%d,%d)", c+1, t)
			for way := range m.ways {
				fmt.Fprintf(&s, " CHOICE_OF_WAY(%d,%d,%d)", c+1, t, way+1)
			}
		}
		fmt.Fprintf(&s, " CHOICES_OF_CLIENT(%d)", c+1)
	}
	for i := range m.orphans {
		fmt.Fprintf(&s, " CHOICE_OF_ORPHAN(%d)", i)
	}
	for n := range b.Nodes {
		for i := range m.keys {
			fmt.Fprintf(&s, " CHOICE_OF_END(%d,%d)", n, i)
		}
	}
	s.WriteString("\n\n")
	s.WriteString(world)
	return head.String(), s.String(), nil
}

// optimize: where there are few states the compiler takes longer than the search.
func (m *model) optimize() string {
	if m.bounds.Timing == nil {
		return "-O0"
	}
	return "-O1"
}
