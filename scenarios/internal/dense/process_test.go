package dense

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"os"
	"runtime"
	"strings"
	"syscall"
	"time"

	"github.com/alicebob/miniredis/v2/server"
	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locklab/algorithms/lock"
	"locklab/simulator/history"
)

// A process is one client process in one run.
type process struct {
	w       *world
	id      int           // from 1
	near    bool          // its messages take no time
	ahead   time.Duration // its clock, of true time
	lock    lock.Lock
	threads []*thread
	attempt int // counts from 1
	tokens  int
	asking  int // requests without an answer
	paused  bool
	dead    bool
	done    bool // its program has ended
}

// A thread is a coroutine of a process.
type thread struct {
	p      *process
	lease  int // the attempt in which it was started
	yield  func(func(*turn)) bool
	next   func() (func(*turn), bool)
	stop   func()
	ended  func()
	over   bool     // it has ended
	torn   bool     // the run is over, and it only unwinds
	calls  int      // since then
	paused bool     // alone
	held   []func() // what became due while it stood still
}

// A turn is one wait of a thread. It ends once.
type turn struct {
	t    *thread
	over bool
}

// unwound is the panic that ends the code of a thread when the run is over.
type unwound struct{}

// spawn makes a thread that runs f when it is first stepped.
func (p *process) spawn(lease int, f func(t *thread), ended func()) *thread {
	t := &thread{p: p, lease: lease, ended: ended}
	t.next, t.stop = iter.Pull(iter.Seq[func(*turn)](func(yield func(func(*turn)) bool) {
		defer func() {
			if r := recover(); r != nil && r != any(unwound{}) {
				panic(r)
			}
		}()
		growStack()
		t.yield = yield
		f(t)
	}))
	p.threads = append(p.threads, t)
	return t
}

// growStack gives the coroutine at once the stack that a command of go-redis takes. A tenth of the time
// of runs would go into stacks that grow in the midst of calls.
//
//go:noinline
func growStack() {
	var room [12 << 10]byte
	runtime.KeepAlive(&room)
}

// step runs the thread until it waits or ends.
func (t *thread) step() {
	w, before := t.p.w, t.p.w.running
	w.running = t
	begin, more := t.next()
	w.running = before
	switch {
	case more:
		begin(&turn{t: t})
	case !t.over:
		t.over = true
		if t.ended != nil {
			t.ended()
		}
	}
}

// wake ends the wait, unless it has ended or the process.
func (k *turn) wake() {
	if !k.over && !k.t.p.dead {
		k.over = true
		k.t.step()
	}
}

// wait has the running thread wait until somebody wakes the turn that begin is given. It
// returns false if the run is over.
func (t *thread) wait(begin func(*turn)) bool {
	if t.torn || !t.yield(begin) {
		t.torn = true
		if t.calls++; t.calls > 100 {
			panic(unwound{})
		}
		return false
	}
	return true
}

// mustWait is wait that does not return if the run is over.
func (t *thread) mustWait(begin func(*turn)) {
	if !t.wait(begin) {
		panic(unwound{})
	}
}

// stands says whether the thread stands still.
func (t *thread) stands() bool { return t.paused || t.p.paused }

// deliver does what has become due to a thread, now or when it goes on.
func (t *thread) deliver(do func()) {
	switch {
	case t.p.dead:
	case t.stands():
		t.held = append(t.held, do)
	default:
		do()
	}
}

// goOn has a thread do late what it could have done before.
func (t *thread) goOn() {
	if t.stands() {
		return
	}
	held := t.held
	t.held = nil
	for _, do := range held {
		t.p.w.at(t.p.w.now+t.p.w.upTo(t.p.w.lateness), func() { t.deliver(do) })
	}
}

// later delivers after d, and up to late after that.
func (t *thread) later(d, late time.Duration, do func()) *event {
	w := t.p.w
	return w.at(w.now+max(d, 0)+w.upTo(late), func() { t.deliver(do) })
}

// pass has the thread wait for any time up to most, or for exactly that in lockstep.
func (t *thread) pass(most time.Duration) {
	least := time.Duration(0)
	if t.p.w.lockstep {
		least, most = most, 0
	}
	t.mustWait(func(k *turn) { t.later(least, most, k.wake) })
}

// env is everything that the lock of p may use.
func (p *process) env(l *library) lock.Env {
	env := lock.Env{Clock: clock{p}, Parallel: p.parallel, Tokens: p, Thread: fmt.Sprintf("thread-%d", p.id),
		TTL: p.w.ttl}
	for n := range p.w.nodes {
		env.Nodes = append(env.Nodes, l.clients[n])
	}
	if shards := p.w.entry.Shards; shards > 0 {
		all := []int{}
		for i := range shards {
			all = append(all, i)
		}
		env.Shards = func() []int { return all }
	}
	return env
}

// Token implements lock.Tokens.
func (p *process) Token() string {
	if p.w.drawn {
		return fmt.Sprintf("%016x%016x%08x", p.w.Uint64(), p.w.Uint64(), p.w.Uint32())
	}
	p.tokens++
	return fmt.Sprintf("p%d-%d", p.id, p.tokens)
}

// parallel runs tasks side by side and waits for all.
func (p *process) parallel(tasks ...func()) {
	t := p.w.running
	left := len(tasks)
	t.mustWait(func(k *turn) {
		for _, task := range tasks {
			one := p.spawn(t.lease, func(*thread) { task() }, func() {
				if left--; left == 0 {
					t.deliver(k.wake)
				}
			})
			one.deliver(one.step)
		}
	})
}

// clock is the clock of a process.
type clock struct{ p *process }

func (c clock) Now() time.Time { return c.p.w.date.Add(c.p.w.now + c.p.ahead) }

func (c clock) Sleep(d time.Duration) {
	t := c.p.w.running
	c.p.note(history.Event{Kind: history.Sleep, D: d, Rests: c.p.asking == 0})
	t.mustWait(func(k *turn) { t.later(d, c.p.w.lateness, k.wake) })
}

func (c clock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	t := &timer{p: c.p, f: f}
	t.arm(d)
	return t
}

// A timer starts a thread.
type timer struct {
	p     *process
	f     func()
	due   *event
	armed bool
}

func (t *timer) arm(d time.Duration) {
	if t.p.w.running.torn {
		panic(unwound{})
	}
	t.armed = true
	one := t.p.spawn(t.p.w.running.lease, func(*thread) { t.f() }, nil)
	var due *event
	due = one.later(d, t.p.w.lateness, func() {
		if t.armed && t.due == due {
			t.armed = false
			one.step()
		}
	})
	t.due = due
}

func (t *timer) Chan() <-chan time.Time { return nil }

func (t *timer) Stop() bool {
	was := t.armed
	t.armed = false
	return was
}

func (t *timer) Reset(d time.Duration) bool {
	was := t.Stop()
	t.arm(d)
	return was
}

// A library is the go-redis clients of one process, one a server. It serves many runs.
type library struct {
	clients []*redis.Client
	w       *world // of the present run
}

func newLibrary(nodes int) *library {
	l := &library{}
	for n := range nodes {
		l.clients = append(l.clients, redis.NewClient(&redis.Options{
			Addr:     "127.0.0.1:1", // never dialed
			Dialer:   func(context.Context, string, string) (net.Conn, error) { return &conn{l: l, node: n + 1}, nil },
			Protocol: 2, DisableIdentity: true, MaxRetries: -1, DialerRetries: 1, PoolSize: 50,
			DialTimeout: -1, ReadTimeout: -2, WriteTimeout: -2, ConnMaxIdleTime: -1, ReadBufferSize: 1 << 10,
			WriteBufferSize:          1 << 10,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		}))
	}
	return l
}

// conn is a connection whose requests the scheduler carries.
type conn struct {
	l       *library
	node    int
	of      *world       // in which peer was made
	peer    *server.Peer // its other end
	out     []byte       // written, not sent
	in      string       // received, not read
	watches bool         // the server keeps watched keys for it: it is not made again
	life    int          // of the server, at its last request
}

// keeps notes what the server keeps for the connection once it has executed commands.
func (c *conn) keeps(commands [][]string, life int) {
	for _, command := range commands {
		switch strings.ToUpper(command[0]) {
		case "WATCH":
			c.watches, c.life = true, life
		case "UNWATCH", "EXEC", "DISCARD":
			c.watches = false
		}
	}
}

var greeting = []byte("*2\r\n$5\r\nhello\r\n")

func (c *conn) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, greeting) { // the library's own affair
		c.in += "-ERR unknown command\r\n"
		return len(b), nil
	}
	c.out = append(c.out, b...)
	return len(b), nil
}

func (c *conn) Read(b []byte) (n int, err error) {
	if c.in == "" {
		raw := string(c.out)
		c.out = c.out[:0]
		if c.of != c.l.w {
			c.of, c.peer, c.watches = c.l.w, c.l.w.servers[c.node-1].store.peer(), false
		}
		commands, life := parse(raw), c.l.w.servers[c.node-1].lives
		if c.watches && c.life != life {
			return 0, errBroken
		}
		if c.in, err = c.l.w.running.ask(&message{node: c.node, peer: c.peer, commands: commands}); err != nil {
			return 0, err
		}
		c.keeps(commands, life)
	}
	n = copy(b, c.in)
	c.in = c.in[n:]
	return n, nil
}

func (c *conn) Close() error                     { return nil }
func (c *conn) LocalAddr() net.Addr              { return &net.TCPAddr{} }
func (c *conn) RemoteAddr() net.Addr             { return &net.TCPAddr{} }
func (c *conn) SetDeadline(time.Time) error      { return nil }
func (c *conn) SetReadDeadline(time.Time) error  { return nil }
func (c *conn) SetWriteDeadline(time.Time) error { return nil }

var (
	errSilence = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	errBroken  = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
)

// ask sends a message and waits for the answer.
func (t *thread) ask(m *message) (reply string, err error) {
	m.from, m.lease = t, t.lease
	if !t.wait(func(k *turn) { m.turn = k; t.p.w.post(m) }) {
		return "", net.ErrClosed
	}
	return m.reply, m.err
}

// program is what a client does in its life.
func (p *process) program(t *thread) {
	for range p.w.attempts {
		p.idle(t)
		lease, err := p.acquire(t)
		for i := 0; err != nil && i < len(p.w.retries); i++ {
			t.pass(p.w.retries[i])
			lease, err = p.acquire(t)
		}
		if err == nil {
			p.work(t)
			p.release(lease)
		}
	}
	p.done = true
	p.note(history.Event{Kind: history.Done})
}

// idle waits until the client wants the lock.
func (p *process) idle(t *thread) {
	most := []time.Duration{p.w.ttl / 48, p.w.ttl / 6, p.w.ttl, 2 * p.w.ttl}[p.w.IntN(4)]
	longest := cmp.Or(p.w.idle, history.Forever)
	left := p.w.servers[0].until - p.w.now
	switch {
	case p.w.lockstep && p.attempt > 0:
		t.pass(p.w.between)
	case p.w.lockstep:
	case left > 0 && p.w.servers[0].until != history.Forever && left+step/4 < longest && p.w.oneIn(3):
		t.mustWait(func(k *turn) { t.later(left, step/4, k.wake) }) // soon after a lease's end
	default:
		t.pass(min(most, longest))
	}
	for p.asking > 0 {
		t.pass(step / 10)
	}
	p.attempt++
	t.lease = p.attempt
}

func (p *process) acquire(t *thread) (lock.Lease, error) {
	p.note(history.Event{Kind: history.Acquire})
	lease, err := p.lock.Acquire(context.Background(), key)
	if t.torn {
		panic(unwound{})
	}
	if err != nil {
		p.note(history.Event{Kind: history.Refuse, Claims: errors.Is(err, lock.ErrNotAcquired), Note: err.Error()})
		return nil, err
	}
	p.note(history.Event{Kind: history.Enter})
	return lease, nil
}

// work is the critical section.
func (p *process) work(t *thread) {
	read := &message{resource: history.Read}
	_, err := t.ask(read)
	t.pass(p.w.work)
	if err == nil {
		_, _ = t.ask(&message{resource: history.Write, version: read.version})
	}
	if t.torn {
		panic(unwound{})
	}
	p.note(history.Event{Kind: history.Leave})
}

func (p *process) release(lease lock.Lease) {
	p.note(history.Event{Kind: history.Release})
	err := lease.Release(context.Background())
	_, claims := lease.(lock.Reporter)
	if err != nil {
		claims = errors.Is(err, lock.ErrNotHeld)
	}
	if p.w.running.torn {
		panic(unwound{})
	}
	e := history.Event{Kind: history.Released, Claims: claims, OK: err == nil}
	if err != nil {
		e.Note = err.Error()
	}
	p.note(e)
}

// probe asks for the lock when all others have ended.
func (p *process) probe(t *thread) {
	for again := range 2 {
		if again == 1 {
			clock{p}.Sleep(2*(p.w.ttl+p.w.ttl/10) + p.w.jumps())
		}
		p.attempt++
		t.lease = p.attempt
		lease, err := p.acquire(t)
		switch {
		case err == nil:
			p.note(history.Event{Kind: history.Leave})
			p.release(lease)
			return
		case again == 1 && errors.Is(err, lock.ErrNotAcquired):
			p.w.barred = true
		}
	}
}

// note records a deed of the client itself.
func (p *process) note(e history.Event) {
	e.Client, e.Lease = p.id, p.w.running.lease
	p.w.record(e)
}
