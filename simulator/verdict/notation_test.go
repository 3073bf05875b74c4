package verdict_test

import (
	"fmt"
	. "locklab/simulator/verdict"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"locklab/simulator/history"
)

// tell writes a history down from a text: events separated by "|" or line ends, each a
// time in milliseconds, who, and what; after a comma, what the same does at the same time. Values before a change,
// versions of the resource and the attempts of clients are filled in. Who is c1…c8, n1…n8, or "-" for nobody; "c1/2" is
// c1 in its second attempt, where that is not the present one.
//
//	0 c1 acquire            and enter, leave, release, done, crash, pause, resume
//	5 c1 leave exception    any word more is the Note
//	3 c1 refuse             another has the lock; "refuse timeout": the outcome is not known
//	9 c1 released ok        the lock was its own; "released no": it was not; "released" alone claims nothing
//	4 c1 acquire renew      asks whether it still has the lock, with
//	5 c1 enter renew        yes, or
//	5 c1 refuse             no
//	2 c1 set a until 30     the key on n1 gets value a, gone at 30 (or "until never")
//	2 c1 set@3 a until 30   the same on n3
//	2 c1 other x            some other key on n1 gets value x
//	3 c1 renew until 60     its time to live alone is changed
//	4 c1 del                the key is removed
//	8 n1 expire             and down, up
//	8 n1 sync               its disk has caught up
//	8 n1 replicate 1 replica 1; none is replica 0; and failover
//	8 n1 split 2            the old master lives on, with client 2; and heal
//	2 c1 apply              n1 executes a request of c1; "apply@3" on n3; send leaves c1 for n1
//	4 c2 rest               sleeps with no request under way; "sleep": with one
//	4 c1 read               of the resource
//	5 c1 write 0            accepted, based on version 0; "write 0 refused"
func tell(t testing.TB, text string) *history.History {
	t.Helper()
	b := teller{t: t, h: &history.History{Key: "lock", Nodes: 1, TTL: 10 * time.Millisecond}}
	for part := range strings.FieldsFuncSeq(text, func(r rune) bool { return r == '|' || r == '\n' }) {
		part, _, _ = strings.Cut(part, "#")
		var who []string
		for what := range strings.SplitSeq(part, ",") {
			words := append(who[:len(who):len(who)], strings.Fields(what)...)
			if len(words) == 0 {
				continue
			}
			if len(words) < 3 {
				t.Fatalf("not an event: %q", part)
			}
			b.event(words)
			who = words[:2]
		}
	}
	return b.h
}

type teller struct {
	t       testing.TB
	h       *history.History
	value   [MaxNodes]string
	split   int           // how many nodes are
	source  [MaxNodes]int // the copy that a node was last replaced by
	version int
	attempt [MaxClients + 1]int
	inside  [MaxClients + 1]bool
}

func (b *teller) event(words []string) {
	e := history.Event{At: b.ms(words[0])}
	who, lease, older := strings.Cut(words[1], "/")
	switch n := b.number(who); words[1][0] {
	case 'c':
		e.Client = n
		b.count(n, words)
		if e.Lease = b.attempt[n]; older {
			e.Lease = b.number("/" + lease)
		}
		b.h.Clients = max(b.h.Clients, n)
	case 'n':
		e.Node = n
		if n > b.h.Nodes+b.split {
			b.h.Nodes = n
		}
	}
	verb, at, found := strings.Cut(words[2], "@")
	if e.Node == 0 {
		e.Node = 1
	}
	if found {
		e.Node = b.number("n" + at)
		if e.Node > b.h.Nodes+b.split {
			b.h.Nodes = e.Node
		}
	}
	args := words[3:]
	switch verb {
	case "set", "renew", "del":
		b.change(&e, verb, args)
	case "rest":
		if e.Kind, e.Rests = history.Sleep, true; len(args) > 0 {
			e.D = b.ms(args[0])
		}
	case "other":
		e.Kind, e.Key, e.After, e.Until = history.Change, "other", args[0], history.Forever
	case "read":
		e.Kind, e.Node, e.Version = history.Read, history.Resource, b.version
	case "apply", "send":
		_ = e.Kind.UnmarshalText([]byte(verb))
	case "write":
		b.write(&e, args)
	default:
		if err := e.Kind.UnmarshalText([]byte(verb)); err != nil {
			b.t.Fatal(err)
		}
		b.plain(&e, args)
	}
	b.h.Events = append(b.h.Events, e)
	b.h.End = e.At
}

// count counts the attempts of a client.
func (b *teller) count(c int, words []string) {
	switch words[2] {
	case "acquire":
		if len(words) == 3 && !b.inside[c] {
			b.attempt[c]++
		}
	case "enter":
		b.inside[c] = true
	case "leave":
		b.inside[c] = false
	}
}

func (b *teller) change(e *history.Event, verb string, args []string) {
	v := &b.value[e.Node-1]
	e.Kind, e.Key, e.Before = history.Change, b.h.Key, *v
	if e.Client == 0 {
		e.Replica = int8(b.source[e.Node-1])
	}
	if verb == "set" {
		*v = args[0]
	}
	if verb == "del" {
		*v = ""
	} else {
		e.Until = b.ms(args[len(args)-1])
	}
	e.After = *v
}

func (b *teller) write(e *history.Event, args []string) {
	e.Kind, e.Node, e.Base, e.OK = history.Write, history.Resource, b.number("v"+args[0]), len(args) == 1
	if e.OK {
		b.version++
	}
	e.Version = b.version
}

func (b *teller) plain(e *history.Event, args []string) {
	switch {
	case e.Kind == history.Expire:
		e.Key, e.Before = b.h.Key, b.value[e.Node-1]
		b.value[e.Node-1] = ""
	case e.Client != 0:
		e.Node = 0
	}
	switch e.Kind {
	case history.Released:
		e.OK = slices.Contains(args, "ok")
		if e.Claims = e.OK || slices.Contains(args, "no"); e.Claims {
			return
		}
	case history.Enter:
		e.Claims, e.OK = len(args) > 0, len(args) > 0
	case history.Refuse:
		e.Claims = len(args) == 0
	}
	if e.Kind == history.Replicate || e.Kind == history.Failover {
		if len(args) > 0 {
			e.Replica = int8(b.number("r" + args[0]))
		}
		if e.Kind == history.Failover {
			b.source[e.Node-1] = int(e.Replica)
		}
		return
	}
	if e.Kind == history.Down {
		b.source[e.Node-1] = history.Disk
	}
	if e.Kind == history.Split {
		b.source[e.Node-1] = 0
		if old := b.h.Nodes + e.Node - 1; b.split <= e.Node {
			b.value[old], b.split = b.value[e.Node-1], e.Node
		}
		e.Client = b.number("c" + args[0])
		return
	}
	e.Note = strings.Join(args, " ")
}

func (b *teller) ms(s string) time.Duration {
	if s == "never" {
		return history.Forever
	}
	return time.Duration(b.number("@"+s)) * time.Millisecond
}

func (b *teller) number(s string) int {
	if s == "-" {
		return 0
	}
	n, err := strconv.Atoi(s[1:])
	if err != nil {
		b.t.Fatal(err)
	}
	return n
}

// short writes findings the way the tables below do: word, clients, interval.
func short(findings []Finding) string {
	var parts []string
	for _, f := range findings {
		s := fmt.Sprintf("%s %s %d", f.Verdict, strings.Trim(fmt.Sprint(f.Clients), "[]"), f.From.Milliseconds())
		if f.To != f.From {
			s += fmt.Sprintf("..%d", f.To.Milliseconds())
		}
		if f.Forever {
			s += " forever"
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, ", ")
}
