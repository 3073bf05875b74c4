package bubble

import (
	"strings"

	"github.com/alicebob/miniredis/v2/proto"

	"locklab/simulator/process"
	"locklab/simulator/resp"
)

// aliases are the values of one execution and the names that stand for them.
type aliases struct {
	*Drawn
	id          executionID
	execution   int // number of this one, from 1, of all of the Drawn
	drawn       int // number of values that it has drawn
	name, value map[string]string
}

// execution returns open with named values, for an execution of a client's code.
func (d *Drawn) execution(id executionID, open func(server int) process.Wire) func(server int) process.Wire {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.executions++
	a := &aliases{Drawn: d, id: id, execution: d.executions, name: map[string]string{}, value: map[string]string{}}
	return func(server int) process.Wire { return &namedWire{Wire: open(server), of: a} }
}

// named replaces values in a command by names. The error is a *DrawnError.
func (a *aliases) named(command []string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i, word := range command {
		name, known := a.name[word]
		_, drawn := a.Arguments[Argument{strings.ToUpper(command[0]), i}]
		switch by := a.drawnBy[word]; {
		case known && (drawn || len(word) >= unmistakable):
		case !drawn || a.Constants[word] || len(a.Constants) > maxConstants:
			continue
		case by != executionID{} && by != a.id:
			a.Constants[word] = true
			return &DrawnError{a.id.client}
		default:
			a.drawn++
			name = nameOf(a.id.client, a.drawn)
			a.drawnBy[word], a.Like[name] = a.id, word
			a.name[word], a.value[name] = name, word
		}
		command[i] = name
	}
	return nil
}

// nameless reports whether no value is known to have a name: then nothing is to be replaced.
func (a *aliases) nameless() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return len(a.Arguments) == 0
}

// valued returns a text that the server wrote, with values in the place of names.
func (a *aliases) valued(text string) string {
	if a.nameless() {
		return text
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	return resp.Replace(text, func(word string) string {
		if drawnName.FindString(word) != word {
			return word
		}
		value, known := a.value[word]
		if !known {
			value = a.Drawn.value(word, a.execution)
			a.name[value], a.value[word] = word, value
		}
		return value
	})
}

// A namedWire is a connection on which the server sees names.
type namedWire struct {
	process.Wire
	of   *aliases
	raw  []byte // written: no whole command yet
	sent []byte // passed on since the last request
}

// Write implements process.Wire.
func (w *namedWire) Write(b []byte) (answers []byte, err error) {
	if w.of.nameless() {
		w.sent = append(w.sent, b...)
		return w.Wire.Write(b)
	}
	w.raw = append(w.raw, b...)
	var whole []byte
	for len(w.raw) > 0 && w.raw[0] == '*' {
		words, left, err := resp.Command(string(w.raw))
		if err != nil {
			break // the rest of it is still to come
		}
		if err := w.of.named(words); err != nil {
			return nil, err
		}
		whole = append(whole, proto.Strings(words...)...)
		w.raw = append(w.raw[:0], left...)
	}
	if len(w.raw) > 0 && w.raw[0] != '*' { // the connection returns what is wrong with it
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
