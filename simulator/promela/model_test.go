package promela

import (
	"fmt"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/process"
	"locklab/simulator/redisnode"
	"locklab/simulator/zookeeper"
	"maps"
	"slices"
	"strings"
	"time"
)

// model is a question in Promela, as far as it is known.
type model struct {
	bounds  *explore.Model
	sim     *simulator.Simulator
	redis   *redisnode.Executor
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
	// Mutations: of the text of the model, and of rows of the tables. Nil: it is as it is.
	mutateText func(source string) string
	mutateRow  func(r *row)
	// Of its last search: what a processor took for it, and the bytes of a state.
	took  time.Duration
	bytes int
}

// row is a row of the tables.
type row struct{ key, values []int }

// firstOther is the first number of an operation that is no request; RESOURCE in world.pml.
const firstOther = 20_000

func newModel(b *explore.Model, sim *simulator.Simulator) *model {
	m := &model{bounds: b, sim: sim, number: map[process.Op]int{}, ops: []process.Op{{}}, threads: 1,
		keys: 1, orphans: 4}
	switch k := sim.Kind().(type) {
	case *redisnode.Kind:
		m.redis = k.Executor
	case *zookeeper.Kind:
		m.zk = newEnsemble(k.Executor, b.Entry.Line(m.key()), b.Clients+1)
	}
	return m
}

// limits are the bounds that a compiled model gets from its tables, in their order there: models that
// differ in nothing else are compiled once.
var limits = []string{"STEP", "LATENCY", "LATENESS", "TTL", "SPARE", "CRASHES", "EXPIRES", "PAUSES", "PAUSE",
	"LOST_REPLIES", "LOST_REQUESTS"}

// source returns the model: sizes, and world.pml.
func (m *model) source() (string, error) {
	if err := m.setLimits(); err != nil {
		return "", err
	}
	var s strings.Builder
	m.writeSizes(&s)
	m.writeSums(&s)
	m.writeChoices(&s)
	s.WriteString(world)
	return s.String(), nil
}

// setLimits computes limits.
func (m *model) setLimits() (err error) {
	timing := simulator.Timing{}
	if t := m.sim.Config().Timing; t != nil {
		timing = *t
	}
	m.limits = map[string]int{"SPARE": m.spare(), "CRASHES": 0, "EXPIRES": 0, "PAUSES": 0, "PAUSE": never,
		"LOST_REPLIES": 0, "LOST_REQUESTS": 0}
	times := map[string]string{"crash": "CRASHES", "expire-session": "EXPIRES", "lose-reply": "LOST_REPLIES",
		"lose-request": "LOST_REQUESTS", "pause": "PAUSES"}
	for _, f := range m.bounds.Faults {
		fault := f.Fault.Name
		if name, ok := times[fault]; ok {
			m.limits[name] = f.Times
		}
		if fault != "pause" || f.Max == 0 {
			continue
		}
		longest := f.Max
		if timing.Step > 0 {
			longest -= longest % timing.Step
		}
		if m.limits["PAUSE"], err = ms(longest); err != nil {
			return err
		}
	}
	for name, d := range map[string]time.Duration{"STEP": timing.Step, "LATENCY": timing.Latency,
		"LATENESS": timing.Lateness, "TTL": m.bounds.TTL} {
		if m.limits[name], err = ms(d); err != nil {
			return err
		}
	}
	return nil
}

// writeSizes defines the sizes of the model's arrays, by name.
func (m *model) writeSizes(s *strings.Builder) {
	sizes := map[string]int{"CLIENTS": m.bounds.Clients, "NODES": m.bounds.Nodes, "THREADS": m.threads, "KEYS": m.keys,
		"ORPHANS": m.orphans, "CLOCK": is(m.clock), "ENSEMBLE": is(m.zk != nil), "WAYS": m.ways}
	for _, name := range slices.Sorted(maps.Keys(sizes)) {
		fmt.Fprintf(s, "#define %s %d\n", name, sizes[name])
	}
}

// writeSums defines what is said of all servers or of all threads.
func (m *model) writeSums(s *strings.Builder) {
	repeat := func(name, join, macro string, n int, args string) {
		var items []string
		for i := range n {
			items = append(items, fmt.Sprintf(macro, i))
		}
		fmt.Fprintf(s, "#define %s%s %s\n", name, args, "("+strings.Join(items, join)+")")
	}
	repeat("GRANTED", " + ", "GRANT_OF(%d,c,l)", m.bounds.Nodes, "(c,l)")
	repeat("LEFT", " + ", "LEFT_OF(%d,c)", m.bounds.Nodes, "(c)")
	repeat("AWAITS", " || ", "AWAITS_THREAD(c,%d)", m.threads, "(c)")
	repeat("BUSY", " || ", "BUSY_THREAD(c,%d)", m.threads, "(c)")
	repeat("UNREAD", " || ", "UNREAD_THREAD(c,%d)", m.threads, "(c)")
	repeat("JUST_ASKED", " || ", "JUST_ASKED_THREAD(c,%d)", m.threads, "(c)")
}

// writeChoices defines the choices of the scheduler.
func (m *model) writeChoices(s *strings.Builder) {
	s.WriteString("#define CHOICES")
	for c := range m.bounds.Clients + 1 {
		for t := range m.threads {
			fmt.Fprintf(s, " CHOICES_OF_THREAD(%d,%d)", c+1, t)
			for way := range m.ways {
				fmt.Fprintf(s, " CHOICE_OF_WAY(%d,%d,%d)", c+1, t, way+1)
			}
		}
		fmt.Fprintf(s, " CHOICES_OF_CLIENT(%d)", c+1)
	}
	for i := range m.orphans {
		fmt.Fprintf(s, " CHOICE_OF_ORPHAN(%d)", i)
	}
	for n := range m.bounds.Nodes {
		for i := range m.keys {
			fmt.Fprintf(s, " CHOICE_OF_END(%d,%d)", n, i)
		}
	}
	s.WriteString("\n\n")
}

// optimize: where there are few states the compiler takes longer than the search.
func (m *model) optimize() string {
	if m.bounds.Timing == nil {
		return "-O0"
	}
	return "-O1"
}
