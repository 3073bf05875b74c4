package bubble

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/alicebob/miniredis/v2/proto"

	"locklab/simulator/lists"
	"locklab/simulator/process"
	"locklab/simulator/resp"
)

// Drawn has the values that code draws by chance and sends to Redis servers: tokens, mostly. Two executions of one history draw
// different ones. So each gets a name, c2.1001 for the first one of client 2, like the tokens of [Handle.Token]: the server and the search
// see the name, and the code sees its value, or for a name of another client one that looks like those that were drawn.
//
// Where requests have such values is found by comparing executions. That code does the same whatever it has drawn, but for names, is
// checked where each history is executed again. What servers do is the simulator's to check: see [Drawn.Value].
type Drawn struct {
	// Places has the places of drawn values in requests, each with one that was seen there.
	Places map[Place]string
	// Constants are values at these places that two executions had: they are not drawn.
	Constants map[string]bool
	// Like has for each name a value that was drawn where it was.
	Like map[string]string

	mu         sync.Mutex
	executions int
	by         map[string]drawer // values, by the execution that drew them
	sent       map[uint32]string // by Op.Arg, what stands for it
}

// A drawer is an execution of a client's code by its number. In another search with the same Drawn, one with that number draws the same.
type drawer struct{ client, number int }

// A Place is a word of a command, from 1, which the server's name for it stands before.
type Place struct {
	Command string // in capitals
	Word    int
}

func (p Place) String() string { return fmt.Sprintf("%s %d", p.Command, p.Word) }

// places returns the places in their order.
func (d *Drawn) places() []Place {
	return slices.SortedFunc(maps.Keys(d.Places), func(a, b Place) int { return cmp.Or(cmp.Compare(a.Command, b.Command), cmp.Compare(a.Word, b.Word)) })
}

// Where names the places, each with the length of what was drawn there; "": there are none.
func (d *Drawn) Where() string {
	return strings.Join(lists.Each(d.places(), func(p Place) string { return fmt.Sprintf("%v: %d bytes", p, len(d.Places[p])) }), ", ")
}

// NewDrawn knows of no values.
func NewDrawn() *Drawn {
	return &Drawn{Places: map[Place]string{}, Constants: map[string]bool{}, Like: map[string]string{}, by: map[string]drawer{}, sent: map[uint32]string{}}
}

// Add adds what another one has found.
func (d *Drawn) Add(o *Drawn) {
	maps.Copy(d.Places, o.Places)
	maps.Copy(d.Constants, o.Constants)
	maps.Copy(d.Like, o.Like)
}

// DrawnError says that code turned out to draw a value. It is a way to go on, not a failure: the Drawn of its host knows that now, so that
// everything can begin anew.
type DrawnError struct{ Client int }

func (e *DrawnError) Error() string {
	return fmt.Sprintf("simulator: c%d draws values that it sends", e.Client)
}

// nameOf names the n-th value, from 1, that an execution draws; drawnName finds such names. The numbers of Handle.Token have fewer digits.
func nameOf(client, n int) string { return fmt.Sprintf("c%d.1%03d", client, n) }

var drawnName = regexp.MustCompile(`\bc[1-8]\.1[0-9]{3,}\b`)

// Value is a text with a value like those that are drawn in the place of each name.
func (d *Drawn) Value(text string) string {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.Places) == 0 || !strings.Contains(text, ".1") {
		return text
	}
	return drawnName.ReplaceAllStringFunc(text, func(name string) string { return d.value(name, 0) })
}

// Values returns the values that executions have drawn, sorted.
func (d *Drawn) Values() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Sorted(maps.Keys(d.by))
}

// value returns a value for a name, like those drawn at its place: digits in the place of digits, letters in that of letters. It differs with time.
// d.mu is held.
func (d *Drawn) value(name string, time int) string {
	like := d.Like[name]
	if like == "" { // of an execution elsewhere
		like = d.Places[d.places()[0]]
	}
	out := []byte(like)
	for i, c := range out {
		h := fnv.New32a()
		fmt.Fprint(h, name, " ", i, " ", time)
		by := func(first byte, n uint32) byte { return first + byte(h.Sum32()>>8%n) }
		switch {
		case i < 4: // a number may not become larger than numbers are
		case c >= '0' && c <= '9':
			out[i] = by('0', 10)
		case c >= 'a' && c <= 'f':
			out[i] = by('a', 6)
		case c >= 'A' && c <= 'F':
			out[i] = by('A', 6)
		case c >= 'g' && c <= 'z':
			out[i] = by('g', 20)
		case c >= 'G' && c <= 'Z':
			out[i] = by('G', 20)
		}
	}
	return string(out)
}

// learn finds the values in which the requests of two executions of a history differ. It reports whether nothing else differs.
func (d *Drawn) learn(was, is *process.Entry) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	found := map[Place]string{}
	for t := range was.Ops {
		a, b := was.Ops[t], is.Ops[t]
		if a == b {
			continue
		}
		of, with := d.sent[a.Arg], d.sent[b.Arg]
		if b.Arg = a.Arg; a != b || a.Kind != process.Request || !compare(of, with, found) {
			return false
		}
	}
	for place, value := range found {
		if _, known := d.Places[place]; known || d.Constants[value] {
			return false // by its name it differs, too
		}
	}
	maps.Copy(d.Places, found)
	return len(found) > 0
}

// compare adds the places at which two texts of commands have different words. It reports whether nothing else differs, and no word stands in
// both texts at different places.
func compare(of, with string, found map[Place]string) bool {
	for of != "" && with != "" {
		a, restOf, err1 := resp.Command(of)
		b, restWith, err2 := resp.Command(with)
		if err1 != nil || err2 != nil || len(a) != len(b) || a[0] != b[0] {
			return false
		}
		for i := range a {
			if a[i] == b[i] {
				continue
			}
			if slices.Contains(b, a[i]) || slices.Contains(a, b[i]) {
				return false
			}
			found[Place{strings.ToUpper(a[0]), i}] = a[i]
		}
		of, with = restOf, restWith
	}
	return of == with
}

// unmistakable is the length of values that are known by themselves. Shorter ones are looked for only where values were found to be drawn.
const unmistakable = 8

// mostConstants bounds how often everything begins anew.
const mostConstants = 20

// names are the values of one execution.
type names struct {
	*Drawn
	drawer
	execution   int // of Drawn
	drawn       int // so many
	name, value map[string]string
}

// execution returns open with named values, for an execution of a client's code.
func (d *Drawn) execution(by drawer, open func(server int) process.Wire) func(server int) process.Wire {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.executions++
	n := &names{Drawn: d, drawer: by, execution: d.executions, name: map[string]string{}, value: map[string]string{}}
	return func(server int) process.Wire { return &namedWire{Wire: open(server), of: n} }
}

// named is a command with names. The error is a *DrawnError.
func (n *names) named(command []string) ([]string, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for i, word := range command {
		name, known := n.name[word]
		_, drawn := n.Places[Place{strings.ToUpper(command[0]), i}]
		switch by := n.by[word]; {
		case known && (drawn || len(word) >= unmistakable):
		case !drawn || n.Constants[word] || len(n.Constants) > mostConstants:
			continue
		case by != drawer{} && by != n.drawer:
			n.Constants[word] = true
			return command, &DrawnError{n.client}
		default:
			n.drawn++
			name = nameOf(n.client, n.drawn)
			n.by[word], n.Like[name] = n.drawer, word
			n.name[word], n.value[name] = name, word
		}
		command[i] = name
	}
	return command, nil
}

// valued is a text that the server wrote, with values in the place of names.
func (n *names) valued(text string) string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.Places) == 0 {
		return text
	}
	return resp.Replace(text, func(word string) string {
		if drawnName.FindString(word) != word {
			return word
		}
		value, known := n.value[word]
		if !known {
			value = n.Drawn.value(word, n.execution)
			n.name[value], n.value[word] = word, value
		}
		return value
	})
}

// A namedWire is a connection on which the server sees names.
type namedWire struct {
	process.Wire
	of        *names
	raw, sent []byte // written: no whole command yet, and what was passed on since the last request
}

// Write implements process.Wire.
func (w *namedWire) Write(b []byte) (answers []byte, err error) {
	w.raw = append(w.raw, b...)
	var whole []byte
	for len(w.raw) > 0 && w.raw[0] == '*' {
		words, rest, err := resp.Command(string(w.raw))
		if err != nil {
			break // the rest of it is still to come
		}
		if words, err = w.of.named(words); err != nil {
			return nil, err
		}
		whole = append(whole, proto.Strings(words...)...)
		w.raw = append(w.raw[:0], rest...)
	}
	if len(w.raw) > 0 && w.raw[0] != '*' { // the connection says what is wrong with it
		whole, w.raw = append(whole, w.raw...), nil
	}
	w.sent = append(w.sent, whole...)
	return w.Wire.Write(whole)
}

// Unsent implements process.Wire.
func (w *namedWire) Unsent() bool { return len(w.raw) > 0 || w.Wire.Unsent() }

// Asks implements process.Wire.
func (w *namedWire) Asks() (o process.Op, ok bool, err error) {
	o, ok, err = w.Wire.Asks()
	if ok && o.Kind == process.Request {
		w.of.mu.Lock()
		defer w.of.mu.Unlock()
		w.of.Drawn.sent[o.Arg] = string(w.sent)
	}
	w.sent = w.sent[:0]
	return o, ok, err
}

// Received implements process.Wire.
func (w *namedWire) Received(o process.Op, s process.Observation) (in []byte, err error) {
	in, err = w.Wire.Received(o, s)
	return []byte(w.of.valued(string(in))), err
}
