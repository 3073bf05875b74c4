package cost

import (
	"bufio"
	"bytes"
	"cmp"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/proto"
	"github.com/alicebob/miniredis/v2/server"

	"locklab/simulator/zookeeper"
)

// epoch is the time that all clocks show at the start.
var epoch = time.Date(2014, time.May, 16, 12, 0, 0, 0, time.UTC)

// A simulation is one of events: clients are coroutines that run real code, of which one runs at a time, and the server
// is a real miniredis, or an ensemble of the simulator, behind a queue.
type simulation struct {
	now              time.Duration
	events           []event       // the next one last
	service, latency time.Duration // of one command; of one message, on average
	busy             time.Duration // when the server has served what has arrived
	served           int           // commands
	broken           error         // why it cannot go on

	redis       *miniredis.Miniredis
	peer        *server.Peer
	out         bytes.Buffer
	subscribers map[string][]*conn // by channel
	ensemble    zookeeper.State
	sessions    map[zookeeper.SessionID]*session
}

type event struct {
	at time.Duration
	do func()
}

func newSimulation(service, latency time.Duration) (*simulation, error) {
	b := &simulation{service: service, latency: latency, redis: miniredis.NewMiniRedis(), ensemble: zookeeper.New(),
		subscribers: map[string][]*conn{}, sessions: map[zookeeper.SessionID]*session{}}
	c, err := b.redis.Dial() // starts it, without a listener
	if err != nil {
		return nil, fmt.Errorf("waiting: start miniredis: %w", err)
	}
	c.Close()
	b.redis.ClockTTL(true)
	b.peer = server.NewPeer(bufio.NewWriter(&b.out))
	b.redis.Server().SetPreHook(func(_ *server.Peer, cmd string, args ...string) bool {
		if strings.EqualFold(cmd, "PUBLISH") && len(args) == 2 {
			for _, c := range b.subscribers[args[0]] {
				b.after(c.process.trip(), func() { c.push(proto.Strings("message", args[0], args[1])) })
			}
		}
		return false
	})
	return b, nil
}

// after calls do d from now; what is due at the same time is done in the order of these calls.
func (b *simulation) after(d time.Duration, do func()) {
	at := b.now + d
	i, _ := slices.BinarySearchFunc(b.events, at, func(e event, at time.Duration) int { return cmp.Compare(at, e.at) })
	b.events = slices.Insert(b.events, i, event{at, do})
}

// play handles events until none is left, or until stop returns true.
func (b *simulation) play(stop func() bool) error {
	for len(b.events) > 0 && b.broken == nil && !stop() {
		last := len(b.events) - 1
		e := b.events[last]
		b.events[last], b.events = event{}, b.events[:last]
		b.now = e.at
		e.do()
	}
	return b.broken
}

// dispatch runs a command on the miniredis.
func (b *simulation) dispatch(args []string) string {
	b.out.Reset()
	b.redis.SetTime(epoch.Add(b.now))
	b.redis.Server().Dispatch(b.peer, args)
	b.peer.Flush()
	return b.out.String()
}

// A process is one client.
type process struct {
	*simulation
	id     int // from 1
	random *rand.Rand
	next   func() (struct{}, bool)
	stop   func()
	yield  func(struct{}) bool
	woken  int // times that a message or a watch has woken it
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
	c.after(at, func() { c.next() })
}

// wait lets others go on until resume is called, once.
func (c *process) wait(begin func(resume func())) {
	begin(func() { c.next() })
	if !c.yield(struct{}{}) {
		panic(stopped{})
	}
}

// sleep waits for d.
func (c *process) sleep(d time.Duration) { c.wait(func(resume func()) { c.after(max(d, 0), resume) }) }

// trip returns the time that one message of this client takes: half of the latency and an exponential of the same mean,
// at most ten times the latency, as in the simulator's runs.
func (c *process) trip() time.Duration {
	half := float64(c.latency) / 2
	return min(time.Duration(half+half*c.random.ExpFloat64()), 10*c.latency)
}

// ask sends n commands to the server, which runs them with do after all that has arrived before, and awaits the reply.
func (c *process) ask(n int, do func()) {
	c.wait(func(resume func()) {
		c.after(c.trip(), func() {
			c.busy = max(c.busy, c.now) + time.Duration(n)*c.service
			c.served += n
			c.after(c.busy-c.now, func() {
				do()
				c.after(c.trip(), resume)
			})
		})
	})
}
