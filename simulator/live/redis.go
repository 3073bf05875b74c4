package live

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/realserver"
	"locklab/simulator/redisnode"
)

// A Redis is redis-servers, for a simulator of these.
type Redis struct {
	Launcher *Launcher
	// Speed is the number of seconds that the servers' time of day gains in one second, above 0.
	Speed float64
}

func (on Redis) servers(p *player) servers { return &redisServers{player: p, Redis: on} }

var _ redisnode.Real = (*redisServers)(nil)

// redisServers are the real redis-servers of one run.
type redisServers struct {
	*player
	Redis
	early  bool // leases end to the nanosecond
	groups []*group
	lab    []map[string]value // what each server holds in the lab, by its number in histories less one
	wires  []*wire
}

// A wire is a connection of a client to a server.
type wire struct {
	*realserver.Conn
	client int8
	name   string // see redisnode.Request.Conn
	to     *server
	wait   *redisnode.Request // a WAIT that the server has not answered; nil: none
}

// start has all servers run, side by side.
func (r *redisServers) start() error {
	r.sim.Kind().(*redisnode.Kind).Real = r
	config := r.sim.Config()
	r.early = config.Timing != nil
	var all errgroup.Group
	for _, c := range config.Nodes {
		c.Offset += config.Epoch.Ahead()
		g := &group{of: r, config: c, state: clock.State{Offset: c.Offset, PPM: c.PPM}, split: -1}
		r.groups = append(r.groups, g)
		r.lab = append(r.lab, map[string]value{}, map[string]value{})
		r.run.Servers += c.Replicas + 1
		all.Go(func() error { return g.start(len(config.Clients) + 1) })
	}
	return all.Wait()
}

// close ends what was started.
func (r *redisServers) close() error {
	r.hangUp(func(*wire) bool { return true })
	for _, g := range r.groups {
		if g.set != nil {
			g.end()
		}
	}
	return nil
}

// server returns the one that a history calls number, nil if it does not run, and its group. The old masters of
// splits have the numbers after those of the masters.
func (r *redisServers) server(number int) (*group, *server) {
	g := r.groups[(number-1)%len(r.groups)]
	switch {
	case number <= len(r.groups):
		return g, g.master
	case g.split < 0:
		return g, nil
	}
	return g, g.replicas[g.split]
}

// before does what has to be done on the servers before the choice happens in the lab.
func (r *redisServers) before(c simulator.Choice) error {
	switch c.Verb {
	case simulator.Pass:
		for _, g := range r.groups {
			g.pass(c.D)
		}
		return rest(r.ctx, time.Duration(float64(c.D)/r.Speed)) // TIME reports whether it was long enough: see compare
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
	for i := range r.groups {
		for _, n := range []int{i + 1, len(r.groups) + i + 1} {
			if touched[n] || c.Verb == simulator.Pass {
				if err := r.compare(n, first); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// happened does on the servers what an event of the lab says.
func (r *redisServers) happened(e *history.Event) error {
	g, s := r.server(e.Node)
	lab := r.lab[e.Node-1]
	switch e.Kind {
	case history.Change:
		if delete(lab, e.Key); e.After != "" {
			lab[e.Key] = value{e.After, g.lastMillisecond(e.Until)}
		}
	case history.Expire:
		delete(lab, e.Key)
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
		return g.failover(int(e.Replica))
	case history.Split:
		if g.split < 0 {
			r.lab[len(r.groups)+e.Node-1] = maps.Clone(lab)
		}
		return g.splitOff(int8(e.Client), int(e.Replica))
	}
	return nil
}

// wire returns the connection to a server on which a request comes.
func (r *redisServers) wire(q redisnode.Request, to *server) (*wire, error) {
	for _, w := range r.wires {
		if w.client == q.Client && w.name == q.Conn && w.to == to && w.wait == nil {
			return w, nil
		}
	}
	conn, err := to.connect()
	if err != nil {
		return nil, err
	}
	w := &wire{Conn: conn, client: q.Client, name: q.Conn, to: to}
	r.wires = append(r.wires, w)
	return w, nil
}

// hangUp breaks connections.
func (r *redisServers) hangUp(which func(w *wire) bool) {
	r.wires = slices.DeleteFunc(r.wires, func(w *wire) bool {
		gone := which(w)
		if gone {
			w.Close()
		}
		return gone
	})
}

// failAt keeps the error of a request, if it is the first.
func (r *redisServers) failAt(q redisnode.Request, err error) {
	r.fail(fmt.Errorf("%q to server %d: %w", q.Commands, q.Server, err))
}

// Execute implements redisnode.Real.
func (r *redisServers) Execute(q redisnode.Request, lab string) string {
	if r.err != nil {
		return lab
	}
	answer, err := r.execute(q, lab)
	if err != nil {
		r.failAt(q, err)
		return lab
	}
	return r.compareAnswer(q, lab, answer)
}

func (r *redisServers) execute(q redisnode.Request, lab string) (string, error) {
	g, s := r.server(q.Server)
	if err := g.countReplicas(s); err != nil {
		return "", err
	}
	w, err := r.wire(q, s)
	if err == nil && q.Commands != nil {
		err = w.Send(q.Commands...)
	}
	if err != nil {
		return "", err
	}
	return w.Receive(redisnode.Values(lab))
}

// Wait implements redisnode.Real.
func (r *redisServers) Wait(q redisnode.Request) {
	if r.err != nil {
		return
	}
	g, s := r.server(q.Server)
	w, err := r.wire(q, s)
	for i, replica := range g.replicas {
		// The gate has kept from a replica that lacks nothing that it was asked how far it is.
		if err == nil && s == g.master && i != g.split && !q.ReplicaBehind(i) {
			err = replica.catchUp(r.ctx, s)
		}
	}
	if err == nil {
		err = w.Send(q.Commands...)
	}
	if err == nil {
		err = s.receivedWait(r.ctx, w.Conn)
	}
	if err != nil {
		r.failAt(q, err)
		return
	}
	w.wait = &q
}

// Waited implements redisnode.Real.
func (r *redisServers) Waited(msg uint32, lab string) string {
	i := slices.IndexFunc(r.wires, func(w *wire) bool { return w.wait != nil && w.wait.Msg == msg })
	if r.err != nil || i < 0 {
		return lab
	}
	w := r.wires[i]
	q := *w.wait
	w.wait = nil
	g, _ := r.server(q.Server)
	need := 0
	if words := q.Commands[0]; len(words) > 1 {
		need, _ = strconv.Atoi(words[1])
	}
	if n, err := strconv.Atoi(strings.Trim(lab, ":\r\n")); err == nil && n < need {
		g.stand(time.Millisecond)                      // its time is over in the millisecond after
		if err := w.to.Ping(r.ctx).Err(); err != nil { // and it looks at its clock after each command
			r.fail(err)
		}
	}
	answer, err := w.Receive(redisnode.Values(lab))
	g.stand(0)
	switch {
	case errors.Is(err, os.ErrDeadlineExceeded): // its clock stood still: it will not
		none := Difference{Server: q.Server, Client: int(q.Client), Cmd: q.Commands[0]}
		none.Lab, none.Real = redisnode.ReplyText(lab), "no answer"
		r.differ(none)
		r.hangUp(func(one *wire) bool { return one == w })
		return lab
	case err != nil:
		r.failAt(q, err)
		return lab
	}
	return r.compareAnswer(q, lab, answer)
}

// compareAnswer compares the answer of a server, which it returns.
func (r *redisServers) compareAnswer(q redisnode.Request, lab, real string) string {
	r.run.Answers++
	if sameAnswer(lab, real) {
		return real
	}
	d := Difference{
		Server: q.Server, Client: int(q.Client), Lab: redisnode.ReplyText(lab), Real: redisnode.ReplyText(real),
	}
	for i, c := range q.Commands {
		if i > 0 {
			d.Cmd = append(d.Cmd, ";")
		}
		d.Cmd = append(d.Cmd, c...)
	}
	r.differ(d)
	return real
}

// sameAnswer compares answers, of errors only the code by which clients recognise them.
func sameAnswer(lab, real string) bool {
	if strings.HasPrefix(lab, "-") && strings.HasPrefix(real, "-") {
		lab, _, _ = strings.Cut(lab, " ")
		real, _, _ = strings.Cut(real, " ")
	}
	return lab == real
}

// compare compares all keys of a server, if it runs, with what it holds in the lab, and puts what was measured into the
// events of the last step, which begin at first.
func (r *redisServers) compare(number, first int) error {
	g, s := r.server(number)
	if s == nil {
		return nil
	}
	at, real, err := s.contents(r.ctx)
	for err == nil && at.Before(g.inLab().Truncate(time.Microsecond)) { // time has not passed for long enough
		at, real, err = s.contents(r.ctx)
	}
	if err != nil {
		return err
	}
	lab := r.lab[number-1]
	for _, name := range r.compareKeys(number, lab, real) {
		is, inReal := real[name]
		e := history.Event{At: r.now, Kind: history.Change, Node: number, Key: name, Before: lab[name].text}
		if delete(lab, name); inReal {
			e.After, e.Until, lab[name] = is.text, g.until(is), is
		}
		r.run.Events = measured(r.run.Events, first, e)
	}
	return nil
}

// measured has the last event about a key of a server, from first on, or a new one, tell what was measured.
func measured(events []history.Event, first int, is history.Event) []history.Event {
	for i := len(events) - 1; i >= first; i-- {
		e := &events[i]
		if e.Node == is.Node && e.Key == is.Key && (e.Kind == history.Change || e.Kind == history.Expire) {
			if e.Before == is.After && e.Kind == history.Expire {
				return slices.Delete(events, i, i+1) // it lives on
			}
			e.Kind, e.After, e.Until = history.Change, is.After, is.Until
			return events
		}
	}
	return append(events, is)
}
