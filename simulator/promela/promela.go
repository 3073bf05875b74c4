// Package promela asks SPIN what a search asks.
//
// The model is world.pml: clients, servers, messages, time, faults and judges, written in
// Promela from their definitions. It shares neither steps nor rules with packages simulator,
// explore and verdict. What the code of a lock does, and what its commands do to a server, are
// automata: SPIN asks for each transition that it needs, the code and the engine give it, and
// the tables are written beside the model when SPIN has asked for everything. So the model
// visits what it finds reachable, and not what the lab's search has visited.
//
// Inherited from the lab are the program of a client (explore's Bounds), the histories that it
// forgets (process.Process.Forget), and what the engine does to a keyspace. Nothing else is.
package promela

import (
	"bufio"
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports/text"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/process"
	"locklab/simulator/redisnode"
	"locklab/simulator/verdict"
)

//go:embed model/world.pml
var world string

//go:embed model/automata.c
var automata []byte

// Words are the verdicts that the model judges, in their order there. FENCED needs a resource
// that refuses, which the model has not.
var Words = []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock, verdict.Starved}

// A Found is a verdict that can occur, with the fewest faults.
type Found struct {
	Verdict verdict.Word
	Par     int
}

// A Result is what SPIN says. The search was complete.
type Result struct {
	Found       []Found // in the order of Words
	States      int     // that SPIN stored
	Transitions int
	Depth       int
	Rows        int           // of the tables
	Took        time.Duration // spin, the compiler and the search, with all that it asked for
}

// An UnfitError is something that the model cannot say.
type UnfitError struct{ Why text.Phrase }

func (e *UnfitError) Error() string { return e.Say("en") }

// Say says it to a user.
func (e *UnfitError) Say(lang string) string { return e.Why.Say(lang) }

func unfit(key string, pairs ...any) error { return &UnfitError{text.NewPhrase(key, pairs...)} }

// A ToolError is a tool that is not installed.
type ToolError struct{ Tool, Package string }

func (e *ToolError) Error() string { return e.Say("en") }

// Say says it to a user.
func (e *ToolError) Say(lang string) string {
	return text.NewPhrase("promela.tool", "tool", e.Tool, "package", e.Package).Say(lang)
}

// errAgain: the model has to be larger than was thought.
var errAgain = errors.New("promela: the model is too small")

// model is a question in Promela, as far as it is known.
type model struct {
	bounds  *explore.Bounds
	sim     *simulator.Simulator
	redis   *redisnode.Kind
	ops     []process.Op // by number; servers' from 1, the resource's and all else from firstOther
	others  []process.Op
	number  map[process.Op]int
	threads int
	keys    int
	orphans int
	clock   bool
	rows    []row
	judge   string // replaces a judge in a test
}

// row is a row of the tables.
type row struct{ key, values []int }

// firstOther is the first number of an operation that is no request; RESOURCE in world.pml.
const firstOther = 20_000

// Check has SPIN search within bounds. It writes the model with its tables to dir, under the
// given name. The error is an *UnfitError, a *ToolError, or ctx's.
func Check(ctx context.Context, b *explore.Bounds, dir, name string) (*Result, error) {
	return check(ctx, b, dir, name, nil)
}

func check(ctx context.Context, b *explore.Bounds, dir, name string, spoil func(m *model)) (*Result, error) {
	for _, t := range []ToolError{{"spin", "spin"}, {"cc", "gcc libc6-dev"}} {
		if _, err := exec.LookPath(t.Tool); err != nil {
			return nil, &t
		}
	}
	began := time.Now()
	if err := fits(b); err != nil {
		return nil, err
	}
	sim, err := b.Simulator()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	m := &model{bounds: b, sim: sim, redis: sim.Redis(), number: map[process.Op]int{}, threads: 1, keys: 1, orphans: 4}
	m.ops = []process.Op{{}}
	if spoil != nil {
		spoil(m)
	}
	for {
		m.rows = nil
		r, err := m.run(ctx, dir, name)
		if !errors.Is(err, errAgain) {
			if err == nil {
				r.Took = time.Since(began)
				err = m.writeTables(dir)
			}
			return r, err
		}
	}
}

// fits says what of the bounds the model cannot say.
func fits(b *explore.Bounds) error {
	switch {
	case b.Entry.OnZooKeeper():
		return unfit("promela.zookeeper")
	case b.Entry.Holders != 0 && b.Entry.Holders != 1:
		return unfit("promela.holders")
	case b.Fenced:
		return unfit("promela.fenced")
	case b.Uses != 0:
		return unfit("promela.uses")
	case b.NoProbe:
		return unfit("promela.probe")
	}
	for _, f := range b.Faults {
		switch f.Fault.(type) {
		case faults.Crash, faults.Pause, faults.LoseReply, faults.LoseRequest:
		default:
			if f.Times > 0 {
				return unfit("promela.fault", "fault", f.Fault.Name())
			}
		}
	}
	return nil
}

// run writes the model, compiles it and searches it.
func (m *model) run(ctx context.Context, dir, name string) (*Result, error) {
	file := name + ".pml"
	source, err := m.source(file)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(os.WriteFile(filepath.Join(dir, file), []byte(source), 0o666), os.WriteFile(filepath.Join(dir, "automata.c"), automata, 0o666)); err != nil {
		return nil, err
	}
	if _, err := command(ctx, dir, "spin", "-a", file); err != nil {
		return nil, err
	}
	if _, err := command(ctx, dir, "cc", m.compile()...); err != nil {
		return nil, err
	}
	return m.search(ctx, dir)
}

// compile is what the C compiler is called with.
func (m *model) compile() []string {
	return []string{"-w", m.optimize(), "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=6000", "-DVECTORSZ=4096", fmt.Sprintf("-DTHREADS=%d", m.threads), fmt.Sprintf("-DKEYS=%d", m.keys), "-o", "pan", "pan.c", "automata.c"}
}

func command(ctx context.Context, dir, name string, args ...string) ([]byte, error) {
	c := exec.CommandContext(ctx, name, args...)
	c.Dir = dir
	out, err := c.CombinedOutput()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return out, nil
}

// panArgs: no end is an error, nothing is listed, and so deep at most.
var panArgs = []string{"-E", "-n", "-m1000000", "-w22"}

// search runs the compiled model, and answers what it asks.
func (m *model) search(ctx context.Context, dir string) (*Result, error) {
	asks, theirAsk, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer asks.Close()
	theirTell, tells, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, theirAsk.Close())
	}
	defer tells.Close()
	pan := exec.CommandContext(ctx, "./pan", panArgs...)
	var out bytes.Buffer
	pan.Dir, pan.Stdout, pan.Stderr = dir, &out, &out
	pan.ExtraFiles = []*os.File{theirAsk, theirTell}
	err = pan.Start()
	theirAsk.Close()
	theirTell.Close()
	if err != nil {
		return nil, err
	}
	answered := m.answerAll(asks, tells)
	tells.Close()
	ended := pan.Wait()
	switch code := pan.ProcessState.ExitCode(); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case answered != nil:
		return nil, answered
	case code == 6:
		m.orphans *= 2
		return nil, errAgain
	case ended != nil:
		return nil, fmt.Errorf("pan: %w\n%s", ended, out.String())
	}
	return m.read(out.String())
}

// answerAll answers until nothing is asked any more.
func (m *model) answerAll(asks io.Reader, tells io.Writer) error {
	in, w := bufio.NewScanner(asks), bufio.NewWriter(tells)
	for in.Scan() {
		key, err := numbers(in.Text())
		if err != nil {
			return err
		}
		values, err := m.answer(key)
		if err != nil {
			return err
		}
		m.rows = append(m.rows, row{key, values})
		fmt.Fprint(w, len(values))
		for _, v := range values {
			fmt.Fprint(w, " ", v)
		}
		fmt.Fprintln(w)
		if err := w.Flush(); err != nil {
			return nil // it has ended: that says why
		}
	}
	return in.Err()
}

func numbers(line string) (list []int, err error) {
	for _, f := range strings.Fields(line) {
		n, err := strconv.Atoi(f)
		if err != nil {
			return nil, err
		}
		list = append(list, n)
	}
	return list, nil
}

// answer is a row of the tables; automata.c says what is where.
func (m *model) answer(key []int) ([]int, error) {
	switch key[0] {
	case 1:
		return m.follow(key[1], uint32(key[2]), process.Observation{Thread: uint8(key[3]), Kind: process.ObservationKind(key[4]), Val: int64(key[5])})
	case 2:
		return m.describe(key[1])
	case 3:
		return m.serve(uint32(key[1]), uint32(key[2]), 0, nil)
	case 4:
		return m.serve(uint32(key[1]), uint32(key[2]), key[3], key[4:])
	}
	to, what, err := m.redis.Drop(uint32(key[1]), key[2])
	return []int{int(to), is(what == m.key())}, err
}

func (m *model) key() string { c := m.bounds.Case(); return c.Key }

func is(b bool) int {
	if b {
		return 1
	}
	return 0
}

// notes are the kinds of note that judges hear of.
var notes = []history.Kind{history.Acquire, history.Enter, history.Refuse, history.Leave, history.Release, history.Released, history.Done}

func (m *model) follow(c int, at uint32, seen process.Observation) ([]int, error) {
	if seen.Kind == process.ClockRead {
		seen.Val *= int64(time.Millisecond)
	}
	e, to, err := m.sim.Follow(c, at, seen)
	if err != nil {
		return nil, err
	}
	row := []int{int(to), int(e.Fresh), 0}
	for t := range e.Ops {
		if t >= m.threads {
			if e.Ops[t].Kind != process.None {
				m.threads = t + 1
				return nil, errAgain
			}
			continue
		}
		n, err := m.opNumber(e.Ops[t])
		if err != nil {
			return nil, err
		}
		row = append(row, n)
	}
	for i := range e.Notes {
		kind := slices.Index(notes, e.Notes[i].Kind)
		if kind < 0 {
			continue
		}
		row = append(row, kind+1, remark(&e.Notes[i]), e.Notes[i].Lease)
		row[2]++
	}
	return row, nil
}

// remark is what is said of a note.
func remark(e *history.Event) int {
	return is(e.Kind == history.Acquire && e.Note != "") | is(e.Note == history.GaveUp)<<1 | is(e.Note == explore.ProbeRefused)<<2 |
		is(e.Note == history.Exception)<<3 | is(e.Claims)<<4 | is(e.OK)<<5
}

// opNumber numbers what a thread waits for.
func (m *model) opNumber(o process.Op) (int, error) {
	switch o.Kind {
	case process.None:
		return 0, nil
	case process.Join, process.Listen, process.Watch:
		return 0, unfit("promela.waits")
	case process.Clocked:
		if !m.clock {
			m.clock = true
			return 0, errAgain
		}
	case process.Idle:
		if o.Arg > 0 {
			return 0, unfit("promela.uses")
		}
	case process.Begin, process.Sleep:
		o.Arg = 0 // the entry knows
	}
	if o.Open {
		return 0, unfit("promela.uses")
	}
	if o.Kind != process.Read && o.Kind != process.Write {
		o.Base = 0
	}
	o.Token = 0
	if n, ok := m.number[o]; ok {
		return n, nil
	}
	list, first := &m.others, firstOther
	if o.Kind == process.Request {
		list, first = &m.ops, 0
	}
	n := first + len(*list)
	*list = append(*list, o)
	if len(*list) > 10_000 {
		return 0, unfit("promela.large")
	}
	m.number[o] = n
	return n, nil
}

// kinds are the kinds of operation as the model numbers them.
var kinds = []process.OpKind{process.None, process.Begin, process.Request, process.Read, process.Write, process.Sleep, process.Idle, process.Clocked}

func (m *model) describe(n int) ([]int, error) {
	o := process.Op{}
	if n >= firstOther {
		o = m.others[n-firstOther]
	} else {
		o = m.ops[n]
	}
	patience := o.D
	if patience == 0 {
		patience = m.sim.Config().Timeout
	}
	if o.Kind != process.Request && o.Kind != process.Read && o.Kind != process.Write {
		patience = 0
	}
	d, err := ms(o.D)
	if err != nil {
		return nil, err
	}
	waits, err := ms(patience)
	if err != nil {
		return nil, err
	}
	what := d
	switch o.Kind {
	case process.Request:
		what = int(o.Arg)
	case process.Write:
		what = int(o.Base)
	}
	return []int{slices.Index(kinds, o.Kind), what, waits, max(int(o.Node)-1, 0), int(o.Lease)}, nil
}

// never is NEVER in world.pml.
const never = 1_000_000_000

func ms(d time.Duration) (int, error) {
	switch {
	case d >= simulator.Never/2:
		return never, nil
	case d%time.Millisecond != 0 || d >= never*time.Millisecond/10:
		return 0, unfit("promela.time", "value", d)
	}
	return int(d.Milliseconds()), nil
}

func (m *model) serve(keyspace, request uint32, now int, left []int) ([]int, error) {
	n := m.redis.Expiring(keyspace)
	lives := make([]time.Duration, n)
	for i := range lives {
		lives[i] = time.Hour
		if left != nil {
			lives[i] = time.Duration(left[i]-m.spare()) * time.Millisecond
		}
	}
	e, why, err := m.redis.Effect(keyspace, lives, time.Duration(now)*time.Millisecond, request)
	switch {
	case err != nil:
		return nil, err
	case why != "":
		return nil, unfit(why)
	case e.ReadsClock && !m.clock:
		m.clock = true
		return nil, errAgain
	case len(e.Lives) > m.keys:
		m.keys = len(e.Lives)
		return nil, errAgain
	}
	row := make([]int, 10+2*m.keys)
	row[0], row[1], row[2], row[9] = int(e.To), int(e.Reply), len(e.Lives), is(e.ReadsLeft)+is(e.ReadsClock)
	for _, ch := range e.Changes {
		if ch.Key == m.key() {
			copy(row[3:], []int{1, is(ch.Before != ""), is(ch.After != ""), is(ch.Before != ch.After), m.place(ch.Was), m.place(ch.Is)})
		}
	}
	for i, l := range e.Lives {
		length, err := ms(l.D)
		if err != nil {
			return nil, err
		}
		row[10+2*i], row[11+2*i] = m.place(l.Keep), length
	}
	return row, nil
}

// place is a place among the keys that expire; KEYS: there is none.
func (m *model) place(i int) int {
	if i < 0 {
		return m.keys
	}
	return i
}

// spare is for how many milliseconds a key lives after its time.
func (m *model) spare() int { return is(m.bounds.Timing == nil) }

// source is the model: parameters, and world.pml.
func (m *model) source(file string) (string, error) {
	b, config := m.bounds, m.sim.Config()
	timing := simulator.Timing{}
	if config.Timing != nil {
		timing = *config.Timing
	}
	sizes := map[string]int{"CLIENTS": b.Clients, "NODES": b.Nodes, "THREADS": m.threads, "KEYS": m.keys, "ORPHANS": m.orphans, "SPARE": m.spare(), "CLOCK": is(m.clock),
		"CRASHES": 0, "PAUSES": 0, "PAUSE": never, "LOST_REPLIES": 0, "LOST_REQUESTS": 0}
	for _, f := range b.Faults {
		switch f.Fault.(type) {
		case faults.Crash:
			sizes["CRASHES"] = f.Times
		case faults.LoseReply:
			sizes["LOST_REPLIES"] = f.Times
		case faults.LoseRequest:
			sizes["LOST_REQUESTS"] = f.Times
		case faults.Pause:
			sizes["PAUSES"] = f.Times
			if f.Max > 0 {
				longest := f.Max
				if timing.Step > 0 {
					longest -= longest % timing.Step
				}
				var err error
				if sizes["PAUSE"], err = ms(longest); err != nil {
					return "", err
				}
			}
		}
	}
	for name, d := range map[string]time.Duration{"STEP": timing.Step, "LATENCY": timing.Latency, "LATENESS": timing.Lateness, "TTL": b.TTL} {
		var err error
		if sizes[name], err = ms(d); err != nil {
			return "", err
		}
	}
	var s strings.Builder
	fmt.Fprintf(&s, "/* %s, as SPIN sees it. Once its tables are written:\n *   spin -a %s && cc -DTABLES %s && ./pan %s\n */\n", b.Entry.ID, file, strings.Join(m.compile(), " "), strings.Join(panArgs, " "))
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
	repeat("JUST_ASKED", " || ", "JUST_ASKED_THREAD(c,%d)", m.threads, "(c)")
	s.WriteString("#define CHOICES")
	for c := range b.Clients + 1 {
		for t := range m.threads {
			fmt.Fprintf(&s, " CHOICES_OF_THREAD(%d,%d)", c+1, t)
		}
		fmt.Fprintf(&s, " CHOICES_OF_CLIENT(%d)", c+1)
	}
	for i := range m.orphans {
		fmt.Fprintf(&s, " CHOICE_OF_ORPHAN(%d)", i)
	}
	s.WriteString("\n\n")
	s.WriteString(world)
	return s.String(), nil
}

// writeTables writes the tables for automata.c.
func (m *model) writeTables(dir string) error {
	var s strings.Builder
	s.WriteString("/* 1: client, entry, thread, observation, value: entry, threads, notes, ...\n * 2: operation: ...   3: data, request: data, reply, ...   4: 3 by time   5: data, place: data, ...\n */\n")
	for _, r := range m.rows {
		fmt.Fprint(&s, len(r.key), ",")
		for _, v := range r.key {
			fmt.Fprint(&s, v, ",")
		}
		fmt.Fprint(&s, " ", len(r.values), ",")
		for _, v := range r.values {
			fmt.Fprint(&s, v, ",")
		}
		s.WriteString(m.comment(r) + "\n")
	}
	return os.WriteFile(filepath.Join(dir, "tables.h"), []byte(s.String()), 0o666)
}

// comment says a row in words.
func (m *model) comment(r row) string {
	what := ""
	switch r.key[0] {
	case 2:
		if r.values[0] == 2 {
			what = strings.Join(m.redis.Say(uint32(r.values[1])), " ")
		}
	case 3, 4:
		what = fmt.Sprintf("%s: %s -> %s; then %s", m.redis.SayKeys(uint32(r.key[1])), strings.Join(m.redis.Say(uint32(r.key[2])), " "), m.redis.SayReply(uint32(r.values[1])), m.redis.SayKeys(uint32(r.values[0])))
	}
	if what == "" {
		return ""
	}
	return " /* " + strings.NewReplacer("\n", " ", "*/", "* /").Replace(what) + " */"
}

var (
	states      = regexp.MustCompile(`(?m)^ *([0-9.e+]+) states, stored`)
	transitions = regexp.MustCompile(`(?m)^ *([0-9.e+]+) transitions`)
	depth       = regexp.MustCompile(`depth reached ([0-9]+)`)
	found       = regexp.MustCompile(`(?m)^verdict ([0-9]+) ([0-9]+)$`)
)

// read reads what pan has written.
func (m *model) read(out string) (*Result, error) {
	incomplete := strings.Contains(out, "too small") || strings.Contains(out, "not completed") || strings.Contains(out, "MEMLIM") || strings.Contains(out, "out of memory")
	if incomplete || !strings.Contains(out, "errors: 0") || states.FindString(out) == "" {
		return nil, fmt.Errorf("pan did not complete its search:\n%s", out)
	}
	number := func(re *regexp.Regexp) int {
		f, _ := strconv.ParseFloat(re.FindStringSubmatch(out)[1], 64)
		return int(f)
	}
	r := &Result{States: number(states), Transitions: number(transitions), Depth: number(depth), Rows: len(m.rows)}
	for _, match := range found.FindAllStringSubmatch(out, -1) {
		w, _ := strconv.Atoi(match[1])
		par, _ := strconv.Atoi(match[2])
		r.Found = append(r.Found, Found{Words[w], par})
	}
	return r, nil
}

var _ lock.Entry

// optimize: where there are few states the compiler takes longer than the search.
func (m *model) optimize() string {
	if m.bounds.Timing == nil {
		return "-O0"
	}
	return "-O1"
}
