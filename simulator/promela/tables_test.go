package promela

import (
	"bufio"
	"fmt"
	"io"
	"locklab/simulator"
	"locklab/simulator/explore"
	"locklab/simulator/history"
	"locklab/simulator/process"
	"slices"
	"strconv"
	"strings"
	"time"
)

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
		r := row{key, values}
		if m.mutateRow != nil {
			m.mutateRow(&r)
		}
		values = r.values
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
		return m.follow(key[1], uint32(key[2]), process.Observation{Thread: uint8(key[3]),
			Kind: process.ObservationKind(key[4]), Val: int64(key[5])})
	case 2:
		return m.describe(key[1])
	case 3:
		return m.serve(uint32(key[1]), uint32(key[2]), 0, nil)
	case 4:
		return m.serve(uint32(key[1]), uint32(key[2]), key[3], key[4:])
	case 6:
		var ask *process.Op
		if key[4] > 0 {
			ask = &m.ops[key[4]]
		}
		return m.zk.act(key[1], key[2], key[3], ask, uint32(key[5])), nil
	case 9:
		return []int{m.limits[limits[key[1]]]}, nil
	case 7:
		return []int{m.zk.alive(key[1])}, nil
	case 8:
		return []int{is(m.zk.endsWait(key[1], key[2], &m.others[key[3]-firstOther]))}, nil
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
var notes = []history.EventKind{history.Acquire, history.Enter, history.Refuse, history.Leave, history.Release,
	history.Released, history.Done}

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

// remark returns the comment on a note.
func remark(e *history.Event) int {
	return is(e.Kind == history.Acquire && e.Note != "") | is(e.Note == history.GaveUp)<<1 |
		is(explore.ReportsDeadlock(e))<<2 | is(e.Note == history.Exception)<<3 | is(e.Claims)<<4 | is(e.OK)<<5
}

// opNumber numbers what a thread waits for.
func (m *model) opNumber(o process.Op) (int, error) {
	switch o.Kind {
	case process.None:
		return 0, nil
	case process.Join, process.Listen:
		return 0, unfit("threads that listen or wait for others")
	case process.Listed:
		return 0, unfit("lists of servers that a client chooses from")
	case process.Clocked:
		if !m.clock {
			m.clock = true
			return 0, errAgain
		}
	case process.Idle:
		if int(o.Arg) > m.ways {
			m.ways = int(o.Arg)
			return 0, errAgain
		}
	case process.Begin, process.Sleep:
		o.Arg = 0 // the entry knows
	}
	if o.Open {
		return 0, unfit("clients that give up")
	}
	if o.Kind != process.Read && o.Kind != process.Write {
		o.Base = 0
	}
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
		return 0, unfit("room for so many different requests")
	}
	m.number[o] = n
	return n, nil
}

// kinds are the kinds of operation as the model numbers them.
var kinds = []process.OpKind{process.None, process.Begin, process.Request, process.Read, process.Write, process.Sleep,
	process.Idle, process.Clocked, process.Watch}

func (m *model) describe(n int) ([]int, error) {
	o := process.Op{}
	if n >= firstOther {
		o = m.others[n-firstOther]
	} else {
		o = m.ops[n]
	}
	patience := o.D
	switch {
	case patience > 0:
	case m.zk != nil && o.Kind == process.Request: // as ZooKeeper's own client does
		patience = m.bounds.TTL * 2 / 3
	default:
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
	what, ways := d, 0
	switch o.Kind {
	case process.Idle:
		ways = int(o.Arg)
	case process.Request:
		what = int(o.Arg)
	case process.Write:
		what = int(o.Base)
	}
	return []int{slices.Index(kinds, o.Kind), what, waits, max(int(o.Node)-1, 0), int(o.Lease), ways}, nil
}

// never is NEVER in world.pml.
const never = 1_000_000_000

func ms(d time.Duration) (int, error) {
	switch {
	case d >= simulator.Never/2:
		return never, nil
	case d%time.Millisecond != 0 || d >= never*time.Millisecond/10:
		return 0, unfit("times that are no milliseconds: " + d.String())
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
	e, err := m.redis.Effect(keyspace, lives, time.Duration(now)*time.Millisecond, request)
	switch {
	case err != nil:
		return nil, err
	case e == nil:
		return nil, unfit("WAIT, transactions and subscriptions")
	case e.ReadsClock() && !m.clock:
		m.clock = true
		return nil, errAgain
	case len(e.Lives) > m.keys:
		m.keys = len(e.Lives)
		return nil, errAgain
	}
	row := make([]int, 10+2*m.keys)
	row[0], row[1], row[2], row[9] = int(e.To), int(e.Reply), len(e.Lives), is(e.ReadsLeft())+is(e.ReadsClock())
	for _, ch := range e.Changes {
		if ch.Key == m.key() {
			copy(row[3:], []int{1, is(ch.Before != ""), is(ch.After != ""), is(ch.Before != ch.After), m.place(ch.Was),
				m.place(ch.Is)})
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
