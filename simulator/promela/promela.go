// Package promela asks SPIN what a search asks.
//
// The model is world.pml: clients, servers, messages, time, faults and judges, written in
// Promela from their definitions. It shares neither steps nor rules with packages simulator,
// explore and verdict. What the code of a lock does, and what its commands do to a server, are
// automata: SPIN asks for each transition that it needs, the code and the engine give it, and
// the tables stand beside the model when SPIN has asked for everything. So the model
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
// does to a Redis keyspace, with what of the time that keys have left it depends on. A test has
// a model of these, by hand, for the token lock.
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
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
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
	States      int     // those of a search without symmetry, whose clients forget nothing
	Transitions int
	Took        time.Duration // by spin, the compiler and the search, with all that it asked for
	// Files are the model with its tables, by name: in a folder of their own SPIN searches them
	// without the lab. The model says how.
	Files map[string][]byte
}

// An UnfitError is something that the model cannot say.
type UnfitError struct{ Why i18n.Message }

func (e *UnfitError) Error() string { return e.Why.String() }

// Message implements i18n.Error.
func (e *UnfitError) Message() i18n.Message { return e.Why }

func unfit(key string, pairs ...any) error { return &UnfitError{i18n.New(key, pairs...)} }

// A ToolError is a tool that is not installed.
type ToolError struct{ Tool, Package string }

func (e *ToolError) Error() string { return e.Message().String() }

// Message implements i18n.Error.
func (e *ToolError) Message() i18n.Message {
	return i18n.New("promela.tool", "tool", e.Tool, "package", e.Package)
}

// An IncompleteError is a search of SPIN's that was not complete. Nothing follows from it.
type IncompleteError struct{ Said string }

func (e *IncompleteError) Error() string { return e.Message().String() }

// Message implements i18n.Error.
func (e *IncompleteError) Message() i18n.Message {
	return i18n.New("promela.incomplete", "said", e.Said)
}

// errAgain: the model has to be larger than was thought.
var errAgain = errors.New("promela: the model is too small")

// Check has SPIN search within bounds. name is that of the model's file, without its ending. The
// error is an *UnfitError, a *ToolError, an *IncompleteError or ctx's, or is about the machine.
func Check(ctx context.Context, b *explore.Model, name string) (*Result, error) {
	return check(ctx, b, name, func(*model) {})
}

func check(ctx context.Context, b *explore.Model, name string, change func(m *model)) (r *Result, err error) {
	if err := Installed(); err != nil {
		return nil, err
	}
	began := time.Now()
	if err := Fits(b); err != nil {
		return nil, err
	}
	sim, err := b.Simulator()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	sim.Assume(simulator.Assumptions{})
	m := newModel(b, sim)
	change(m)
	dir, err := os.MkdirTemp("", "locklab-spin")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	for {
		m.rows = nil
		r, err := m.run(ctx, dir, name)
		switch {
		case errors.Is(err, errAgain):
		case err != nil:
			return nil, err
		default:
			r.Took = time.Since(began)
			r.Files["tables.h"] = m.tables()
			return r, nil
		}
	}
}

// Installed reports whether SPIN and a C compiler are; the error is a *ToolError.
func Installed() error {
	for _, t := range []ToolError{{"spin", "spin"}, {"cc", "gcc libc6-dev"}} {
		if _, err := exec.LookPath(t.Tool); err != nil {
			return &t
		}
	}
	return nil
}

// Fits says what of the bounds the model cannot say, as far as that shows before the search; the
// error is an *UnfitError.
func Fits(b *explore.Model) error {
	switch {
	case b.Entry.Database != "":
		return unfit("promela.database")
	case b.Entry.OnZooKeeper() && b.Code != nil:
		return unfit("promela.zookeeper")
	case b.Entry.Holders != 0 && b.Entry.Holders != 1:
		return unfit("promela.holders")
	case b.Fenced:
		return unfit("promela.fenced")
	case b.Uses.Has(client.GiveUp):
		return unfit("promela.uses")
	case b.NoProbe:
		return unfit("promela.probe")
	case len(b.Skews) > 0:
		return unfit("promela.skew")
	case b.Slow > 0 || b.Noisy > 0:
		return unfit("promela.bounds")
	}
	for _, f := range b.Faults {
		switch f.Fault.Name {
		case "crash", "pause", "lose-reply", "lose-request", "expire-session":
		default:
			if f.Times > 0 {
				return unfit("promela.fault", "fault", f.Fault.Name)
			}
		}
	}
	return nil
}

// run writes the model, compiles it and searches it.
func (m *model) run(ctx context.Context, dir, name string) (*Result, error) {
	file := name + ".pml"
	head, source, err := m.source(file)
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
	files := map[string][]byte{file: []byte(head + source), "automata.c": automata}
	r, err := m.search(ctx, dir)
	if r != nil {
		r.Files = files
	}
	return r, err
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
	if _, err := command(ctx, dir, "spin", "-a", "model.pml"); err != nil {
		return nil, err
	}
	if _, err := command(ctx, dir, "cc", m.compile()...); err != nil {
		return nil, err
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
		return nil, i18n.Errorf("promela.failed", "command", name+" "+strings.Join(args, " "), "cause", err, "said", string(out))
	}
	return out, nil
}

// panArgs: no end is an error, nothing is listed, and so deep at most.
var panArgs = []string{"-E", "-n", "-m100000", "-w20"}

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
		return nil, &IncompleteError{out.String()}
	}
	return m.read(out.String())
}

var (
	states      = regexp.MustCompile(`(?m)^ *([0-9.e+]+) states, stored`)
	transitions = regexp.MustCompile(`(?m)^ *([0-9.e+]+) transitions`)
	found       = regexp.MustCompile(`(?m)^verdict ([0-9]+) ([0-9]+)$`)
)

// read reads what pan has written.
func (m *model) read(out string) (*Result, error) {
	incomplete := strings.Contains(out, "too small") || strings.Contains(out, "not completed") || strings.Contains(out, "MEMLIM") || strings.Contains(out, "out of memory")
	if incomplete || !strings.Contains(out, "errors: 0") || states.FindString(out) == "" {
		return nil, &IncompleteError{out}
	}
	number := func(re *regexp.Regexp) int {
		f, _ := strconv.ParseFloat(re.FindStringSubmatch(out)[1], 64)
		return int(f)
	}
	// SPIN's first state is that before init, and what init does leads to the first of ours.
	r := &Result{States: number(states) - 1, Transitions: number(transitions) - 2}
	for _, match := range found.FindAllStringSubmatch(out, -1) {
		w, _ := strconv.Atoi(match[1])
		par, _ := strconv.Atoi(match[2])
		r.Found = append(r.Found, Found{Words[w], par})
	}
	return r, nil
}
