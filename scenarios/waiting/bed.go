package waiting

import (
	"bufio"
	"bytes"
	"container/heap"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"

	"locklab/simulator/zookeeper"
)

// epoch is what all clocks show at the start.
var epoch = time.Date(2014, time.May, 16, 12, 0, 0, 0, time.UTC)

// A bed is a simulation by events: clients are coroutines that run real code, of which one
// runs at a time, and the server is a real miniredis, or an ensemble of the simulator,
// behind a queue. It has no limit of clients, and forgets nothing by memo tables: that is
// why it is not the simulator's world.
type bed struct {
	now     time.Duration
	events  events
	order   int            // of events at the same time
	service time.Duration  // of one command
	latency time.Duration  // of one message, on average
	busy    time.Duration  // when the server has served what has arrived
	served  int            // commands
	kinds   map[string]int // of them, and of those that scripts call; in small letters
	broken  error          // why it cannot go on

	redis       *miniredis.Miniredis
	peer        *server.Peer
	out         bytes.Buffer
	hello       string
	subscribers map[string][]*conn
	published   []published

	ensemble zookeeper.State
	sessions map[zookeeper.SessionID]*session
}

type published struct{ channel, message string }

type event struct {
	at    time.Duration
	order int
	do    func()
}

type events []event

func (e events) Len() int { return len(e) }
func (e events) Less(i, j int) bool {
	return e[i].at < e[j].at || e[i].at == e[j].at && e[i].order < e[j].order
}
func (e events) Swap(i, j int) { e[i], e[j] = e[j], e[i] }
func (e *events) Push(x any)   { *e = append(*e, x.(event)) }
func (e *events) Pop() any {
	last := len(*e) - 1
	x := (*e)[last]
	*e = (*e)[:last]
	return x
}

func newBed(service, latency time.Duration) (*bed, error) {
	b := &bed{service: service, latency: latency, kinds: map[string]int{}, subscribers: map[string][]*conn{}, sessions: map[zookeeper.SessionID]*session{},
		ensemble: zookeeper.New(), redis: miniredis.NewMiniRedis()}
	c, err := b.redis.Dial() // starts it, without a listener
	if err != nil {
		return nil, fmt.Errorf("waiting: start miniredis: %w", err)
	}
	c.Close()
	b.redis.ClockTTL(true)
	b.peer = server.NewPeer(bufio.NewWriter(&b.out))
	b.hello = b.dispatch([]string{"HELLO", "2"}) // not counted
	b.redis.Server().SetPreHook(func(_ *server.Peer, cmd string, args ...string) bool {
		b.kinds[strings.ToLower(cmd)]++
		if strings.EqualFold(cmd, "PUBLISH") && len(args) == 2 {
			b.published = append(b.published, published{args[0], args[1]})
		}
		return false
	})
	return b, nil
}

func (b *bed) close() { b.redis.Close() }

// after calls do d from now.
func (b *bed) after(d time.Duration, do func()) {
	b.order++
	heap.Push(&b.events, event{b.now + d, b.order, do})
}

// run goes on until nothing is left to happen, or until stop says so.
func (b *bed) run(stop func() bool) error {
	for len(b.events) > 0 && b.broken == nil && !stop() {
		e := heap.Pop(&b.events).(event)
		b.now = e.at
		e.do()
	}
	return b.broken
}

// serve has the server run n commands, which arrive now, after what has arrived before.
func (b *bed) serve(n int, do func()) {
	b.busy = max(b.busy, b.now) + time.Duration(n)*b.service
	b.served += n
	b.after(b.busy-b.now, do)
}

// dispatch runs a command on the miniredis.
func (b *bed) dispatch(args []string) string {
	b.out.Reset()
	b.redis.SetTime(epoch.Add(b.now))
	b.redis.Server().Dispatch(b.peer, args)
	b.peer.Flush()
	return b.out.String()
}

// A process is one client.
type process struct {
	bed   *bed
	id    int // from 1
	rng   *rand.Rand
	next  func() (struct{}, bool)
	stop  func()
	yield func(struct{}) bool
	woken int // times that a message or a watch has woken it
}

// stopped unwinds the code of a client that is no longer needed.
type stopped struct{}

// start runs code on a coroutine, at a time.
func (c *process) start(at time.Duration, code func()) {
	c.next, c.stop = iter.Pull(func(yield func(struct{}) bool) {
		c.yield = yield
		defer func() {
			if r := recover(); r != nil && r != any(stopped{}) {
				panic(r)
			}
		}()
		code()
	})
	c.bed.after(at, func() { c.next() })
}

// wait lets others go on until resume is called, once.
func (c *process) wait(begin func(resume func())) {
	begin(func() { c.next() })
	if !c.yield(struct{}{}) {
		panic(stopped{})
	}
}

// sleep waits for d.
func (c *process) sleep(d time.Duration) {
	c.wait(func(resume func()) { c.bed.after(max(d, 0), resume) })
}

// trip is how long one message of this client takes: half of the latency and an exponential
// of the same mean, at most ten times the latency, as in the simulator's runs.
func (c *process) trip() time.Duration {
	half := float64(c.bed.latency) / 2
	return min(time.Duration(half+half*c.rng.ExpFloat64()), 10*c.bed.latency)
}

// ask sends n commands to the server, has do run them, and waits for the reply.
func (c *process) ask(n int, do func()) {
	c.wait(func(resume func()) {
		c.bed.after(c.trip(), func() {
			c.bed.serve(n, func() {
				do()
				c.bed.after(c.trip(), resume)
			})
		})
	})
}

var errSubscribed = errors.New("waiting: a read without a request")

// parse reads the commands of a pipeline, as RESP arrays of bulk strings.
func parse(raw []byte) (commands [][]string, err error) {
	r := bufio.NewReader(bytes.NewReader(raw))
	number := func(mark byte) (int, error) {
		line, err := r.ReadString('\n')
		if err != nil || line[0] != mark {
			return 0, fmt.Errorf("waiting: %q is no command", raw)
		}
		return strconv.Atoi(strings.TrimSpace(line[1:]))
	}
	for r.Buffered() > 0 || len(commands) == 0 {
		n, err := number('*')
		if err != nil {
			return nil, err
		}
		args := make([]string, n)
		for i := range args {
			size, err := number('$')
			if err != nil {
				return nil, err
			}
			b := make([]byte, size+2)
			if _, err := readFull(r, b); err != nil {
				return nil, err
			}
			args[i] = string(b[:size])
		}
		commands = append(commands, args)
	}
	return commands, nil
}

func readFull(r *bufio.Reader, b []byte) (n int, err error) {
	for n < len(b) && err == nil {
		var k int
		k, err = r.Read(b[n:])
		n += k
	}
	return n, err
}

// deliver sends what was published to those who have subscribed.
func (b *bed) deliver() {
	for _, p := range b.published {
		for _, c := range b.subscribers[p.channel] {
			text := fmt.Sprintf("*3\r\n$7\r\nmessage\r\n$%d\r\n%s\r\n$%d\r\n%s\r\n", len(p.channel), p.channel, len(p.message), p.message)
			b.after(c.process.trip(), func() { c.hear(text) })
		}
	}
	b.published = nil
}

// unsubscribe ends all subscriptions of a connection.
func (b *bed) unsubscribe(c *conn) {
	for _, channel := range c.channels {
		b.subscribers[channel] = slices.DeleteFunc(b.subscribers[channel], func(o *conn) bool { return o == c })
	}
	c.channels = nil
}
