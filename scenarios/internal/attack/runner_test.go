package attack

import (
	"bufio"
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/alicebob/miniredis/v2"
	"github.com/alicebob/miniredis/v2/server"
	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locklab/algorithms/lock"
)

const key = "lock"

// limits are what a run may do at most.
type limits struct {
	clients, attempts, nodes    int
	ttl, work, idle             time.Duration // idle 0: a client wants the lock whenever it likes
	latency, lateness, patience time.Duration
	lockstep                    bool // all begin at once, work for so long, and ask again after Between
	retries                     []time.Duration
	between                     time.Duration
	budget                      []allowance
	anyDate                     bool
}

// An allowance is a fault, how often it may strike, and for how long (0: any).
type allowance struct {
	fault string
	times int
	most  time.Duration
}

// A world is one run: goroutines in a bubble, whose time is the only time there is.
type world struct {
	sync.Mutex
	limits
	entry     lock.Entry
	rng       *rand.Rand
	began     time.Time
	date      time.Time // that clocks show at first
	nodes     []*node
	processes []*process
	pending   []strike
	messages  int
	judge     judge
}

// A strike is a fault that waits for a message, and for the stage of it.
type strike struct {
	allowance
	message int
	stage   stage
}

type stage int

const (
	unsent stage = iota
	asking
	answering
	heard
	stages
)

// A process is a client of the lock.
type process struct {
	w        *world
	rng      *rand.Rand
	near     bool
	strategy lock.Strategy
	clients  []*redis.Client
	stopped  time.Time     // until when it stands still
	ahead    time.Duration // its clock
	attempt  int
	asking   int // requests that it waits for

	dead, busy, inside            bool
	met                           bool // what refused it in this attempt nobody believes in
	telling, decided, had, lacked bool // of its release
}

// A node is a server.
type node struct {
	store       *miniredis.Miniredis
	out         *bytes.Buffer
	peer        *server.Peer // of whom it keeps nothing
	ahead       time.Duration
	down, hangs time.Time // until when
	lives       int
	grant       grant
	log         []entry
}

// An entry is what a server has executed.
type entry struct {
	at   time.Time
	peer *server.Peer
	args []string
}

// A bed has the servers that runs use in turn.
type bed struct{ nodes []*node }

func newBed(t *testing.T, n int) *bed {
	b := &bed{}
	for range n {
		o := &node{store: miniredis.NewMiniRedis(), out: new(bytes.Buffer)}
		c, err := o.store.Dial() // starts it without a listener
		if err != nil {
			t.Fatal(err)
		}
		c.Close()
		t.Cleanup(o.store.Close)
		o.store.ClockTTL(true)
		o.peer = o.newPeer()
		b.nodes = append(b.nodes, o)
	}
	return b
}

func (n *node) newPeer() *server.Peer { return server.NewPeer(bufio.NewWriterSize(n.out, 256)) }

// play makes one run, and returns what it comes to.
func (b *bed) play(t *testing.T, e lock.Entry, l limits, seed uint64) (found map[string]bool) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{limits: l, entry: e, rng: rand.New(rand.NewPCG(seed, 1)), began: time.Now()}
		w.date = time.Date(2026, 2, 28, 12, 0, 0, 0, time.UTC)
		if l.anyDate {
			w.date = w.date.Add(time.Duration(w.rng.Int64N(int64(90*24*time.Hour) / 1e6 * 1e6)))
		}
		w.judge = judge{room: max(e.Holders, 1), quorum: l.nodes/2 + 1, ttl: l.ttl}
		w.judge.found, w.judge.makers = map[string]bool{}, map[string]attempt{}
		if e.Shards > 0 {
			w.judge.quorum = 1
		}
		w.nodes = b.nodes[:l.nodes]
		for _, n := range w.nodes {
			*n = node{store: n.store, out: n.out, peer: n.peer}
			n.store.SetTime(w.date)
			n.wipe()
		}
		w.plan()
		w.run(seed)
		found = w.judge.found
	})
	return found
}

// plan says which faults strike, and when.
func (w *world) plan() {
	for _, a := range w.budget {
		for range a.times {
			each := 2 + 2*len(w.nodes)
			s := strike{a, 1 + w.rng.IntN(max(1, w.clients*w.attempts*each)), stage(w.rng.IntN(int(stages)))}
			switch a.fault {
			case "lose-request", "fail-call":
				s.stage = asking
			case "lose-reply":
				s.stage = answering
			case "delay":
				s.stage = asking + stage(w.rng.IntN(2))
			}
			w.pending = append(w.pending, s)
		}
	}
}

func (w *world) run(seed uint64) {
	var all sync.WaitGroup
	for i := range w.clients {
		p := w.process(seed, i)
		all.Go(func() { defer w.end(p); p.program() })
	}
	end := time.AfterFunc(time.Duration(w.attempts*w.clients)*100*w.ttl, w.kill) // nothing is waited for without end
	all.Wait()
	time.Sleep(w.patience + 4*w.latency + w.lateness) // nothing is under way
	for _, n := range w.nodes {
		time.Sleep(max(time.Until(n.down), time.Until(n.hangs)))
	}
	w.Lock()
	w.pending = nil
	w.Unlock()
	p := w.process(seed, w.clients)
	p.near = true
	done := make(chan bool)
	go func() { defer close(done); defer w.end(p); p.probe() }()
	<-done
	end.Stop()
	w.kill()
	time.Sleep(100 * w.ttl) // for whom sleeps, to wake up and end
	for _, p := range w.processes {
		for _, c := range p.clients {
			c.Close()
		}
	}
}

func (w *world) kill() {
	w.Lock()
	defer w.Unlock()
	for _, p := range w.processes {
		p.dead = true
	}
}

func (w *world) end(p *process) {
	w.Lock()
	p.busy, p.inside = false, false
	w.Unlock()
}

func (w *world) process(seed uint64, i int) *process {
	p := &process{w: w, rng: rand.New(rand.NewPCG(seed, uint64(i)+2))}
	env := lock.Env{Clock: clock{clockwork.NewRealClock(), p}, Tokens: p, Thread: fmt.Sprintf("%d.1", i+1), TTL: w.ttl}
	env.Parallel = func(tasks ...func()) {
		var all sync.WaitGroup
		for _, f := range tasks {
			all.Go(f)
		}
		all.Wait()
	}
	for _, n := range w.nodes {
		c := redis.NewClient(&redis.Options{
			Addr: "127.0.0.1:1", // never dialed
			Dialer: func(context.Context, string, string) (net.Conn, error) {
				end, _ := net.Pipe()
				return &conn{Conn: end, p: p, n: n}, nil
			},
			Protocol: 2, DisableIdentity: true, MaxRetries: -1, DialerRetries: 1, PoolSize: 100,
			DialTimeout: -1, ReadTimeout: -2, WriteTimeout: -2, ConnMaxIdleTime: -1,
			ReadBufferSize: 1 << 10, WriteBufferSize: 1 << 10,
			MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
		})
		p.clients = append(p.clients, c)
		env.Nodes = append(env.Nodes, c)
	}
	if w.entry.Shards > 0 {
		env.Shards = func() (list []int) {
			for i := range w.entry.Shards {
				list = append(list, i)
			}
			return list
		}
	}
	w.Lock()
	w.processes = append(w.processes, p)
	w.Unlock()
	p.strategy = w.entry.New(env)
	return p
}

// Token implements lock.Tokens.
func (p *process) Token() string {
	p.w.Lock()
	defer p.w.Unlock()
	var b [20]byte
	for i := range b {
		b[i] = byte(p.rng.Uint32())
	}
	return hex.EncodeToString(b[:])
}

// upTo is a length from 0 to most, often near one of the two.
func (p *process) upTo(most time.Duration) time.Duration {
	p.w.Lock()
	defer p.w.Unlock()
	return upTo(p.rng, most)
}

func upTo(r *rand.Rand, most time.Duration) time.Duration {
	if most <= 0 {
		return time.Duration(r.Int64N([]int64{10, 500, 5000}[r.IntN(3)])) // any order
	}
	switch near := time.Duration(r.Int64N(int64(most)/50 + 1)); r.IntN(8) {
	case 0, 1:
		return near
	case 2, 3:
		return most - near
	}
	return time.Duration(r.Int64N(int64(most)))
}

// long is a length from 0 to most, mostly near most; in lockstep it is most.
func (w *world) long(a allowance) time.Duration {
	most := a.most
	if most == 0 && strings.HasPrefix(a.fault, "pause") {
		most = w.ttl * time.Duration(1+w.rng.IntN(6)) / 2
	} else if w.lockstep {
		return most
	}
	if w.rng.IntN(3) > 0 && most > 0 {
		return most - time.Duration(w.rng.Int64N(int64(most)/20+1))
	}
	return upTo(w.rng, most)
}

func (w *world) way(a allowance) time.Duration {
	return w.long(a) * time.Duration(1-2*w.rng.IntN(2))
}

// stand has a goroutine of the process wait while that stands still, and end if it is dead.
func (p *process) stand() {
	for {
		p.w.Lock()
		dead, until := p.dead, p.stopped
		p.w.Unlock()
		if dead {
			runtime.Goexit()
		}
		d := time.Until(until)
		if d <= 0 {
			return
		}
		time.Sleep(d)
		time.Sleep(p.upTo(p.w.lateness))
	}
}

func (p *process) pass(d time.Duration) {
	time.Sleep(d)
	p.stand()
}

// clock is the clock of a process.
type clock struct {
	clockwork.Clock
	p *process
}

func (c clock) Now() time.Time {
	c.p.w.Lock()
	defer c.p.w.Unlock()
	now := time.Since(c.p.w.began)
	if c.p.w.lockstep {
		now = now.Truncate(time.Millisecond) // what happens at one instant is only put in an order
	}
	return c.p.w.date.Add(now + c.p.ahead)
}

func (c clock) Sleep(d time.Duration) {
	c.p.stand()
	c.p.pass(max(d, 0) + c.p.late())
}

func (c clock) AfterFunc(d time.Duration, f func()) clockwork.Timer {
	c.p.stand()
	return c.Clock.AfterFunc(max(d, 0)+c.p.late(), func() { c.p.stand(); f() })
}

func (p *process) late() time.Duration {
	if p.w.lockstep {
		return 0
	}
	return p.upTo(p.w.lateness)
}

// conn is a connection, whose messages take their time.
type conn struct {
	net.Conn // one end of a pipe that nobody uses
	p        *process
	n        *node
	peer     *server.Peer
	lives    int
	watches  bool // the server keeps something for it
	out      []byte
	in       string
}

func (c *conn) Write(b []byte) (int, error) {
	if bytes.HasPrefix(b, []byte("*2\r\n$5\r\nhello\r\n")) { // the library's own affair
		c.in += "-ERR unknown command\r\n"
		return len(b), nil
	}
	c.out = append(c.out, b...)
	return len(b), nil
}

func (c *conn) Read(b []byte) (int, error) {
	if c.in == "" {
		commands := parse(string(c.out))
		c.out = nil
		c.p.w.Lock()
		if !c.watches && (c.peer == nil || c.lives != c.n.lives) {
			c.peer, c.lives = c.n.newPeer(), c.n.lives
		}
		for _, args := range commands {
			switch strings.ToUpper(args[0]) {
			case "WATCH":
				c.watches = true
			case "UNWATCH", "EXEC", "DISCARD":
				c.watches = false
			}
		}
		a, lives := attempt{c.p, c.p.attempt}, c.lives
		c.p.w.Unlock()
		reply, err := c.p.ask(c.n, func() (string, error) {
			if c.n.lives != lives || time.Until(c.n.down) > 0 {
				return "", errBroken
			}
			return c.n.execute(a, c.peer, commands), nil
		})
		if err != nil {
			return 0, err
		}
		c.in = reply
	}
	n := copy(b, c.in)
	c.in = c.in[n:]
	return n, nil
}

var (
	errSilence = &net.OpError{Op: "read", Net: "tcp", Err: os.ErrDeadlineExceeded}
	errBroken  = &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET}
)

// An answer to a message.
type answer struct {
	reply string
	err   error
}

// ask sends a message to a server, nil: to the resource, and waits for the answer.
func (p *process) ask(n *node, serve func() (string, error)) (string, error) {
	w := p.w
	p.stand()
	w.Lock()
	w.messages++
	m := w.messages
	p.dead = p.dead || m > 1000+200*w.clients*w.attempts // what asks without end has an end
	p.asking++
	w.strike(m, unsent, p, n)
	w.Unlock()
	p.stand()
	latency := w.latency
	if n == nil || p.near {
		latency = 0
	}
	heardOf := make(chan answer, 1)
	go func() {
		w.Lock()
		lost, late := w.strike(m, asking, p, n)
		d := upTo(p.rng, latency)
		w.Unlock()
		time.Sleep(d + late)
		for n != nil && time.Until(n.hangs) > 0 {
			time.Sleep(time.Until(n.hangs))
		}
		var a answer
		w.Lock()
		switch {
		case lost == "lose-request":
			w.Unlock()
			return
		case lost == "fail-call":
			a.reply = "-BUSY Redis is busy running a script. You can only call SCRIPT KILL or SHUTDOWN NOSAVE.\r\n"
		default:
			a.reply, a.err = serve()
		}
		lost, late = w.strike(m, answering, p, n)
		d = upTo(p.rng, latency)
		w.Unlock()
		time.Sleep(d + late)
		if lost == "" {
			heardOf <- a
		}
	}()
	asked, wait := time.Now(), w.patience+p.late()
	patience := time.NewTimer(wait)
	defer patience.Stop()
	var a answer
	select {
	case a = <-heardOf:
	case <-patience.C:
		a.err = errSilence
	}
	w.Lock()
	p.asking--
	w.strike(m, heard, p, n)
	w.Unlock()
	p.stand()
	if time.Since(asked) > wait && p.upTo(time.Second) < time.Second/2 { // both were due when it went on
		a.err = errSilence
	}
	return a.reply, a.err
}

// strike has the faults strike that wait for a stage of a message, and says what becomes of that. The world is locked.
func (w *world) strike(message int, at stage, p *process, n *node) (lost string, late time.Duration) {
	for i := 0; i < len(w.pending); i++ {
		s := w.pending[i]
		ofMessage := strings.HasPrefix(s.fault, "lose-") || s.fault == "fail-call"
		if p.near || s.message > message || s.stage != at || n == nil && ofMessage {
			continue
		}
		n := n
		if n == nil {
			n = w.nodes[w.rng.IntN(len(w.nodes))]
		}
		w.pending = slices.Delete(w.pending, i, i+1)
		i--
		switch now := time.Now(); s.fault {
		case "crash":
			p.dead, p.busy, p.inside = true, false, false
		case "pause":
			p.stopped = now.Add(w.long(s.allowance))
		case "lose-request", "lose-reply", "fail-call":
			lost = s.fault
		case "delay":
			late = w.long(s.allowance)
		case "hang":
			n.hangs = now.Add(w.long(s.allowance))
		case "restart":
			n.down = now.Add(w.long(s.allowance))
			n.lives++
			n.wipe()
		case "failover":
			w.failover(n)
		case "client-clock":
			p.ahead += w.way(s.allowance)
		case "node-clock":
			n.jump(w, w.way(s.allowance))
		case "evict", "delete":
			stays := func(k string) bool { return s.fault == "evict" && n.store.TTL(k) == 0 }
			if keys := slices.DeleteFunc(n.store.Keys(), stays); len(keys) > 0 {
				n.store.Del(keys[w.rng.IntN(len(keys))])
			}
		case "flush":
			n.store.FlushAll()
		default:
			panic("no such fault: " + s.fault)
		}
		w.observe(n, attempt{})
	}
	return lost, late
}

// failover replaces a server by one that has missed the last of its commands.
func (w *world) failover(n *node) {
	n.lives++
	log := n.log[:len(n.log)-w.rng.IntN(min(len(n.log), 4)+1)]
	n.wipe()
	for _, e := range log {
		n.tick(w, e.at)
		n.dispatch(e.peer, e.args)
	}
	n.dispatch(n.peer, []string{"SCRIPT", "FLUSH"})
	n.log = log
	n.tick(w, time.Now())
}

func (n *node) wipe() {
	n.store.FlushAll()
	n.dispatch(n.peer, []string{"SCRIPT", "FLUSH"})
	n.log = nil
}

func (n *node) tick(w *world, at time.Time) { n.store.SetTime(w.date.Add(at.Sub(w.began) + n.ahead)) }

// jump moves the server's clock, and with it the end of every key.
func (n *node) jump(w *world, d time.Duration) {
	n.tick(w, time.Now())
	for _, k := range n.store.Keys() { // miniredis does so for a jump forward only
		if left := n.store.TTL(k); left > 0 && d < 0 {
			n.store.SetTTL(k, left-d)
		}
	}
	n.ahead += d
}

func (n *node) dispatch(peer *server.Peer, args []string) string {
	const ifMine = "if redis.call('GET', KEYS[1]) ~= ARGV[1] then return %s end return redis.call(%s)"
	switch name := strings.ToUpper(args[0]); { // which miniredis does not know
	case name == "DELIFEQ", name == "DELEX":
		args = []string{"EVAL", fmt.Sprintf(ifMine, "0", "'DEL', KEYS[1]"), "1", args[1], args[len(args)-1]}
	case name == "SET" && len(args) == 7 && args[3] == "IFEQ":
		set := fmt.Sprintf(ifMine, "false", "'SET', KEYS[1], ARGV[2], 'PX', ARGV[3]")
		args = []string{"EVAL", set, "1", args[1], args[4], args[2], args[6]}
	}
	n.out.Reset()
	n.store.Server().Dispatch(peer, args)
	peer.Flush()
	return n.out.String()
}

// execute executes the commands of an attempt. The world is locked.
func (n *node) execute(a attempt, peer *server.Peer, commands [][]string) (reply string) {
	n.tick(a.by.w, time.Now())
	for _, args := range commands {
		if strings.EqualFold(args[0], "WAIT") {
			reply += ":" + args[1] + "\r\n"
			continue
		}
		reply += n.dispatch(peer, args)
		n.log = append(n.log, entry{time.Now(), peer, args})
	}
	a.by.w.observe(n, a)
	a.by.met = a.by.w.met(a.by)
	return reply
}

// observe sees what has become of the key.
func (w *world) observe(n *node, a attempt) {
	n.tick(w, time.Now())
	value, left := "", time.Duration(0)
	if n.store.Exists(key) {
		left = n.store.TTL(key)
		switch n.store.Type(key) {
		case "string":
			value, _ = n.store.Get(key)
			value = "=" + value
		case "hash":
			fields, _ := n.store.HKeys(key)
			slices.Sort(fields)
			for _, f := range fields {
				value += f + "=" + n.store.HGet(key, f) + " "
			}
		default:
			value = n.store.Dump()
		}
	}
	until := time.Time{}
	if left > 0 {
		until = time.Now().Add(left)
	}
	if !n.grant.until.IsZero() && !time.Now().Before(n.grant.until) {
		w.change(n, attempt{}, "", time.Time{}) // it has ended by itself
	}
	w.change(n, a, value, until)
}

// parse reads the commands of a request.
func parse(raw string) (commands [][]string) {
	number := func() int {
		line, rest, _ := strings.Cut(raw[1:], "\r\n")
		raw = rest
		n, _ := strconv.Atoi(line)
		return n
	}
	for raw != "" {
		args := make([]string, number())
		for i := range args {
			n := number()
			args[i], raw = raw[:n], raw[n+2:]
		}
		commands = append(commands, args)
	}
	return commands
}

// program is what a client does in its life.
func (p *process) program() {
	for i := range p.w.attempts {
		p.rest(i)
		lease, err := p.acquire()
		for _, sleep := range p.w.retries {
			if err == nil {
				break
			}
			p.pass(sleep)
			lease, err = p.acquire()
		}
		if err == nil {
			p.work()
			p.release(lease)
		}
		p.w.end(p)
	}
}

// rest waits until the client wants the lock.
func (p *process) rest(i int) {
	if p.w.lockstep {
		if i > 0 {
			p.pass(p.w.between)
		}
		p.pass(p.upTo(0))
	} else {
		most := p.w.idle
		if most == 0 {
			most = 2 * p.w.ttl
		}
		p.w.Lock()
		most = []time.Duration{p.w.ttl / 48, p.w.ttl / 6, p.w.ttl, most}[p.rng.IntN(4)]
		if until := time.Until(p.w.nodes[0].grant.until); 0 < until && until < p.w.ttl && p.rng.IntN(3) == 0 {
			most = until // soon after a lease's end
			p.w.Unlock()
			p.pass(until + p.upTo(p.w.ttl/48))
		} else {
			p.w.Unlock()
			p.pass(p.upTo(most))
		}
	}
	for {
		p.w.Lock()
		asking := p.asking
		p.w.Unlock()
		if asking == 0 {
			return
		}
		p.pass(p.w.ttl / 100)
	}
}

func (p *process) acquire() (lock.Lease, error) {
	p.w.Lock()
	p.attempt++
	p.busy, p.met = true, false
	p.w.Unlock()
	lease, err := p.strategy.Acquire(context.Background(), key)
	p.stand()
	p.w.Lock()
	defer p.w.Unlock()
	if err != nil {
		p.busy = false
		p.w.see("ORPHAN", p.met && errors.Is(err, lock.ErrNotAcquired))
		return nil, err
	}
	p.w.enter(p)
	return lease, nil
}

// work is the critical section.
func (p *process) work() {
	base := 0
	p.w.Lock()
	a := attempt{p, p.attempt}
	p.w.Unlock()
	_, err := p.ask(nil, func() (string, error) { base = len(p.w.judge.writes); return "", nil })
	if p.w.lockstep {
		p.pass(p.w.limits.work)
	} else {
		p.pass(p.upTo(p.w.limits.work))
	}
	if err == nil {
		_, _ = p.ask(nil, func() (string, error) { p.w.write(a, base); return "", nil })
	}
	p.w.Lock()
	p.inside = false
	p.w.Unlock()
}

func (p *process) release(lease lock.Lease) {
	p.w.Lock()
	p.had, p.lacked = p.w.holds(p), !p.w.holds(p)
	p.telling, p.decided = true, false
	p.w.Unlock()
	err := lease.Release(context.Background())
	p.stand()
	_, reports := lease.(lock.Reporter)
	p.w.Lock()
	defer p.w.Unlock()
	p.w.told(p, err == nil, err == nil && reports || errors.Is(err, lock.ErrNotHeld))
}

// probe asks for the lock when all others have ended, and again when every lease must be over.
func (p *process) probe() {
	for again := range 2 {
		if again == 1 {
			jumps := time.Duration(0)
			for _, a := range p.w.budget {
				if strings.HasSuffix(a.fault, "-clock") {
					jumps += time.Duration(a.times) * a.most
				}
			}
			time.Sleep(2*(p.w.ttl+p.w.ttl/10) + jumps)
		}
		lease, err := p.acquire()
		if err == nil {
			p.w.end(p)
			p.release(lease)
			return
		}
		p.w.Lock()
		p.w.see("DEADLOCK", again == 1 && errors.Is(err, lock.ErrNotAcquired))
		p.w.Unlock()
	}
}
