package live

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/redisnode"
)

var _ redisnode.Real = (*redisServers)(nil)

// redisServers are the real redis-servers of one run.
type redisServers struct {
	*player
	pool   *Pool
	early  bool // leases end to the nanosecond
	groups []*group
}

func newRedis(p *player) *redisServers { return &redisServers{player: p, pool: p.on.Pool} }

// start has all servers run, side by side.
func (r *redisServers) start(sim *simulator.Simulator) (err error) {
	sim.Kind().(*redisnode.Kind).Real = r
	config := sim.Config()
	r.early = config.Timing != nil
	var all errgroup.Group
	for _, c := range config.Nodes {
		c.Offset += config.Epoch.Ahead()
		g := r.newGroup(c)
		r.run.Servers += c.Replicas + 1
		all.Go(func() error {
			s, err := r.pool.take(r.ctx, &g.config, clock.Epoch.Add(g.state.Read(0)))
			if s != nil {
				g.set = *s
				for _, one := range g.set.all() {
					err = errors.Join(err, one.prepare(len(config.Clients)+1))
				}
			}
			return err
		})
	}
	err = all.Wait()
	r.groups = slices.DeleteFunc(r.groups, func(g *group) bool { return g.master == nil })
	for _, g := range r.groups {
		if err == nil {
			err = g.sync()
		}
	}
	return err
}

// close ends what was started, or gives it back.
func (r *redisServers) close(run *Playback) error {
	for _, g := range r.groups {
		g.hangUp(func(line) bool { return true })
		for _, one := range g.set.all() {
			one.closeReady()
		}
		r.pool.give(r.ctx, &g.set, &g.config, run == nil || run.Stopped != nil || len(run.Differences) > 0)
	}
	return nil
}

// server returns the one that a history calls number, if it runs.
func (r *redisServers) server(number int) (g *group, s *server, old bool) {
	i := number - 1
	if old = i >= len(r.groups); old {
		i -= len(r.groups)
	}
	g = r.groups[i]
	if old {
		return g, g.replicas[g.split], old
	}
	return g, g.master, old
}

// before does what has to be done on the servers before the choice happens in the lab.
func (r *redisServers) before(c simulator.Choice) error {
	switch c.Verb {
	case simulator.Pass:
		return r.pass(c.D)
	case simulator.Replicate:
		g := r.groups[c.Node-1]
		if int(c.Thread) < len(g.replicas) {
			return g.replicas[c.Thread].catchUp(r.ctx, g.master)
		}
		return g.sync()
	case simulator.Heal:
		return r.groups[c.Node-1].heal()
	}
	return nil
}

// pass lets the servers' clocks run on by d of true time, and waits for as long as that takes.
func (r *redisServers) pass(d time.Duration) error {
	for _, g := range r.groups {
		g.pass(d)
	}
	return rest(r.ctx, time.Duration(float64(d)/r.on.Speed)) // TIME reports whether it was long enough: see compare
}

// after does on the servers what has happened in the lab, and compares.
func (r *redisServers) after(c simulator.Choice, first int) error {
	touched := map[int]bool{}
	for _, e := range r.run.Events[first:] {
		if e.Node > 0 {
			if err := r.happened(&e); err != nil {
				return err
			}
			touched[e.Node] = true
		}
	}
	passed := c.Verb == simulator.Pass
	var numbers []int
	for _, g := range r.groups {
		if n := g.number(false); g.master != nil && (touched[n] || passed) {
			numbers = append(numbers, n)
		}
		if n := g.number(true); g.split >= 0 && (touched[n] || passed) {
			numbers = append(numbers, n)
		}
	}
	return r.compare(numbers, first)
}

// happened does on the servers what an event of the lab says.
func (r *redisServers) happened(e *history.Event) error {
	g, s, old := r.server(e.Node)
	switch e.Kind {
	case history.Change:
		if e.After == "" {
			delete(g.lab[old], e.Key)
			return nil
		}
		g.lab[old][e.Key] = value{e.After, g.lastMillisecond(e.Until)}
	case history.Expire:
		delete(g.lab[old], e.Key)
		return g.expire(s, e.Key)
	case history.ClockStep:
		if e.Client == 0 {
			g.state.Jump(e.D) // that of the lab has jumped, too
			g.stand(0)
		}
	case history.Down:
		g.down()
	case history.Up:
		return g.up()
	case history.Failover:
		if s != nil {
			g.hangUp(func(l line) bool { return l.to == s })
			s.kill()
		}
		return g.failover(int(e.Replica))
	case history.Split:
		return g.splitOff(int8(e.Client), int(e.Replica))
	}
	return nil
}

// Execute implements redisnode.Real.
func (r *redisServers) Execute(q redisnode.Request, lab string) string {
	if r.err != nil {
		return lab
	}
	answer, err := r.execute(q, lab)
	if err != nil {
		r.fail(fmt.Errorf("%q to server %d: %w", q.Commands, q.Server, err))
		return lab
	}
	r.compareAnswer(q, lab, answer)
	return answer
}

func (r *redisServers) execute(q redisnode.Request, lab string) (answer string, err error) {
	g, s, _ := r.server(q.Server)
	if err := g.countReplicas(s); err != nil {
		return "", err
	}
	_, w, err := g.wire(q, s)
	if err == nil && q.Commands != nil {
		err = w.Send(q.Commands...)
	}
	if err == nil {
		answer, err = w.Receive(redisnode.Values(lab))
	}
	return answer, err
}

// Wait implements redisnode.Real.
func (r *redisServers) Wait(q redisnode.Request) {
	if r.err != nil {
		return
	}
	g, s, old := r.server(q.Server)
	l, w, err := g.wire(q, s)
	for i, replica := range g.replicas {
		// The gate has kept from a replica that lacks nothing that it was asked how far it is.
		if err == nil && !old && i != g.split && !q.ReplicaBehind(i) {
			err = replica.catchUp(r.ctx, s)
		}
	}
	if err == nil {
		err = w.Send(q.Commands...)
	}
	if err == nil {
		err = s.receivedWait(w)
	}
	if err != nil {
		r.fail(fmt.Errorf("%q to server %d: %w", q.Commands, q.Server, err))
		return
	}
	need := 0
	if len(q.Commands[0]) > 1 {
		need, _ = strconv.Atoi(q.Commands[0][1])
	}
	g.waits[q.Msg] = wait{on: l, need: need, request: q}
}

// Waited implements redisnode.Real.
func (r *redisServers) Waited(msg uint32, lab string) string {
	i := slices.IndexFunc(r.groups, func(g *group) bool { _, is := g.waits[msg]; return is })
	if r.err != nil || i < 0 {
		return lab
	}
	g := r.groups[i]
	sent := g.waits[msg]
	delete(g.waits, msg)
	q := sent.request
	_, s, _ := r.server(q.Server)
	if n, err := strconv.Atoi(strings.Trim(lab, ":\r\n")); err == nil && n < sent.need {
		g.stand(time.Millisecond)               // its time is over in the millisecond after
		if _, err := s.do("PING"); err != nil { // and it looks at its clock after each command
			r.fail(err)
		}
	}
	answer, err := g.wires[sent.on].Receive(redisnode.Values(lab))
	g.stand(0)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded): // its clock stood still: it will not
		r.differ(Difference{Server: q.Server, Client: int(q.Client), Cmd: q.Commands[0], Lab: redisnode.ReplyText(lab), Real: "no answer"})
		g.hangUp(func(l line) bool { return l == sent.on })
		return lab
	case err != nil:
		r.fail(fmt.Errorf("%q to server %d: %w", q.Commands, q.Server, err))
		return lab
	}
	r.compareAnswer(q, lab, answer)
	return answer
}

func (r *redisServers) compareAnswer(q redisnode.Request, lab, real string) {
	r.run.Answers++
	if sameAnswer(lab, real) {
		return
	}
	var cmd []string
	for i, c := range q.Commands {
		if i > 0 {
			cmd = append(cmd, ";")
		}
		cmd = append(cmd, c...)
	}
	r.differ(Difference{Server: q.Server, Client: int(q.Client), Cmd: cmd, Lab: redisnode.ReplyText(lab), Real: redisnode.ReplyText(real)})
}

// sameAnswer compares answers, of errors only the code by which clients recognise them.
func sameAnswer(lab, real string) bool {
	if strings.HasPrefix(lab, "-") && strings.HasPrefix(real, "-") {
		lab, _, _ = strings.Cut(lab, " ")
		real, _, _ = strings.Cut(real, " ")
	}
	return lab == real
}

// compare compares all keys of servers with what the lab's hold, and puts what was measured into the
// events of the last step, which begin at first. All are asked before the first answer is read.
func (r *redisServers) compare(numbers []int, first int) error {
	for _, n := range numbers {
		g, s, old := r.server(n)
		if err := s.ask(g.lab[old]); err != nil {
			return err
		}
	}
	for _, n := range numbers {
		g, s, old := r.server(n)
		at, keys, err := s.answer()
		for until := g.shown(); err == nil && at.Before(until); { // it was not long enough
			if err = s.ask(g.lab[old]); err == nil {
				at, keys, err = s.answer()
			}
		}
		if err != nil {
			return err
		}
		g.compareKeys(old, keys, first)
	}
	return nil
}
