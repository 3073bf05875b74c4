// Package promela asks SPIN, a model checker, what a search asks. It is tests only.
//
// The model is world.pml: clients, servers, messages, time, faults and judges, written in
// Promela from their definitions. It shares neither steps nor rules with packages simulator,
// explore and verdict. What the code of a lock does, and what its commands do to a server, are
// automata: SPIN asks for each transition that it needs, and the code and the engine give it. So the model
// visits what it finds reachable, and not what the lab's search has visited.
//
// A ZooKeeper ensemble is written from its definitions as well: its znodes, watches and
// sessions in ensemble.go, and when connections break and sessions end in world.pml. Of package
// zookeeper only the numbers by which the code of a lock knows requests and answers are used.
//
// A process is one instance from its start to its end: an automaton keeps all that it has
// observed, and nothing of what the lab takes for forgotten between attempts.
//
// Inherited from the lab are the program of a client (explore's Bounds), and what the engine
// does to a Redis keyspace, with what of the time that keys have left it depends on. These are
// compared with real servers elsewhere.
//
// One rule is written again here, but was taken from the lab and not from a definition: a client
// of an ensemble has a new connection, and receives its news, before time passes.
package promela

import (
	"bytes"
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"locklab/simulator/child"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/hypothesis"
	"locklab/simulator/verdict"
)

//go:embed model/world.pml
var world string

//go:embed model/automata.c
var automata []byte

// words are the verdicts that the model judges, in their order there. FENCED needs a resource
// that refuses, which the model has not.
var words = []verdict.Word{verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Lie, verdict.Orphan,
	verdict.Deadlock, verdict.Starved}

// A result is what a complete search says: its verdicts, each with the fewest faults, as OVERLAP@1, in the order of
// the alphabet.
type result struct {
	found               []string
	states, transitions int
}

func (r *result) String() string {
	return fmt.Sprintf("%v in %d states, %d transitions", r.found, r.states, r.transitions)
}

// errAgain: the model has to be larger than was thought.
var errAgain = errors.New("the model is too small")

// check has SPIN search within bounds, without symmetry. change may mutate the model.
func check(ctx context.Context, b *explore.Model, change func(m *model)) (r *result, err error) {
	if err := fits(b); err != nil {
		return nil, err
	}
	sim, err := b.Simulator()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	sim.Assume(hypothesis.Set{})
	m := newModel(b, sim)
	change(m)
	dir, err := child.NewFolder()
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	for {
		if r, err := m.run(ctx, dir.Path); !errors.Is(err, errAgain) {
			return r, err
		}
	}
}

// installed returns an error without SPIN or a C compiler.
func installed() error {
	for tool, in := range map[string]string{"spin": "spin", "cc": "gcc libc6-dev"} {
		if _, err := exec.LookPath(tool); err != nil {
			return fmt.Errorf("there is no %s on the path: install the package %s", tool, in)
		}
	}
	return nil
}

// fits says what of the bounds the model cannot say, as far as that shows before the search.
func fits(b *explore.Model) error {
	for lacks, is := range map[string]bool{
		"tables, transactions and locks of a database": b.Entry.Database != "",
		"code that opens connections to a ZooKeeper":   b.Entry.OnZooKeeper() && b.Code != nil,
		"locks that let several in":                    b.Entry.Holders != 0 && b.Entry.Holders != 1,
		"a resource that fences":                       b.Fenced,
		"clients that give up":                         b.Uses.Has(client.GiveUp),
		"searches without the probe":                   b.NoProbe,
		"clocks that are wrong":                        len(b.Skews) > 0,
		"SLOW and NOISY":                               b.Slow > 0 || b.Noisy > 0,
	} {
		if is {
			return unfit(lacks)
		}
	}
	for _, f := range b.Faults {
		if !slices.Contains([]string{"crash", "pause", "lose-reply", "lose-request", "expire-session"}, f.Fault.Name) &&
			f.Times > 0 {
			return unfit("the fault " + f.Fault.Name)
		}
	}
	return nil
}

// unfit is that the model has something not.
func unfit(what string) error { return fmt.Errorf("SPIN's model does not have %s", what) }

// run writes the model, compiles it and searches it.
func (m *model) run(ctx context.Context, dir string) (*result, error) {
	source, err := m.source()
	if err != nil {
		return nil, err
	}
	if m.mutateText != nil {
		source = m.mutateText(source)
	}
	pan, err := m.build(ctx, dir, source)
	if err != nil {
		return nil, err
	}
	if err := writeProgram(filepath.Join(dir, "pan"), pan); err != nil {
		return nil, err
	}
	return m.search(ctx, dir)
}

// built are the programs that were compiled, by source and by what the compiler was called with.
var built sync.Map

// build compiles a model, in dir.
func (m *model) build(ctx context.Context, dir, source string) ([]byte, error) {
	key := strings.Join(m.compile(), " ") + source
	if pan, ok := built.Load(key); ok {
		return pan.([]byte), nil
	}
	for name, content := range map[string][]byte{"model.pml": []byte(source), "automata.c": automata} {
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o666); err != nil {
			return nil, err
		}
	}
	for _, c := range [][]string{{"spin", "-a", "model.pml"}, append([]string{"cc"}, m.compile()...)} {
		if err := command(ctx, dir, c); err != nil {
			return nil, err
		}
	}
	pan, err := os.ReadFile(filepath.Join(dir, "pan"))
	if err == nil {
		built.Store(key, pan)
	}
	return pan, err
}

// writeProgram writes a program that is started next. Meanwhile no process is: it would have
// the file open for writing, and what is open for writing cannot be started.
func writeProgram(file string, content []byte) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return os.WriteFile(file, content, 0o777)
}

// compile returns the arguments of the C compiler.
func (m *model) compile() []string {
	return []string{"-w", m.optimize(), "-DSAFETY", "-DNOREDUCE", "-DMEMLIM=6000", "-DVECTORSZ=4096",
		fmt.Sprintf("-DTHREADS=%d", m.threads), fmt.Sprintf("-DKEYS=%d", m.keys), "-o", "pan", "pan.c", "automata.c"}
}

func command(ctx context.Context, dir string, words []string) error {
	c := exec.CommandContext(ctx, words[0], words[1:]...)
	var out bytes.Buffer
	c.Dir, c.Stdout, c.Stderr = dir, &out, &out
	if err := child.Run(c); err != nil {
		return fmt.Errorf("%s: %w: %s", strings.Join(words, " "), errors.Join(err, ctx.Err()), out.Bytes())
	}
	return nil
}

// search runs the compiled model, and answers what it asks.
func (m *model) search(ctx context.Context, dir string) (*result, error) {
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
	// no end is an error, nothing is listed, and so deep at most
	pan := exec.CommandContext(ctx, "./pan", "-E", "-n", "-m100000", "-w20")
	var out bytes.Buffer
	pan.Dir, pan.Stdout, pan.Stderr = dir, &out, &out
	pan.ExtraFiles = []*os.File{theirAsk, theirTell}
	end, err := child.Start(pan)
	theirAsk.Close()
	theirTell.Close()
	if err != nil {
		return nil, err
	}
	defer end()
	answered := m.answerAll(asks, tells)
	tells.Close()
	ended := pan.Wait()
	m.took = pan.ProcessState.UserTime() + pan.ProcessState.SystemTime()
	switch code := pan.ProcessState.ExitCode(); {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case answered != nil:
		return nil, answered
	case code == 6:
		m.orphans *= 2
		return nil, errAgain
	case ended != nil:
		return nil, incomplete(out.String())
	}
	if size := vector.FindStringSubmatch(out.String()); size != nil {
		m.bytes, _ = strconv.Atoi(size[1])
	}
	return read(out.String())
}

// incomplete is that a search of SPIN's was not complete. Nothing follows from it.
func incomplete(said string) error { return fmt.Errorf("SPIN did not complete its search: %s", said) }

var (
	states      = regexp.MustCompile(`(?m)^ *([0-9.e+]+) states, stored`)
	vector      = regexp.MustCompile(`State-vector ([0-9]+) byte`)
	transitions = regexp.MustCompile(`(?m)^ *([0-9.e+]+) transitions`)
	found       = regexp.MustCompile(`(?m)^verdict ([0-9]+) ([0-9]+)$`)
)

// read reads what pan has written.
func read(out string) (*result, error) {
	ended := strings.Contains(out, "errors: 0") && states.FindString(out) != ""
	for _, sign := range []string{"too small", "not completed", "MEMLIM", "out of memory"} {
		ended = ended && !strings.Contains(out, sign)
	}
	if !ended {
		return nil, incomplete(out)
	}
	number := func(re *regexp.Regexp) int {
		f, _ := strconv.ParseFloat(re.FindStringSubmatch(out)[1], 64)
		return int(f)
	}
	// SPIN's first state is that before init, and what init does leads to the first of ours.
	r := &result{states: number(states) - 1, transitions: number(transitions) - 2}
	for _, match := range found.FindAllStringSubmatch(out, -1) {
		w, _ := strconv.Atoi(match[1])
		r.found = append(r.found, fmt.Sprintf("%s@%s", words[w], match[2]))
	}
	slices.Sort(r.found)
	return r, nil
}
