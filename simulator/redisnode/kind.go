package redisnode

import (
	"slices"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/memo"
	"locklab/simulator/node"
	"locklab/simulator/process"
	"locklab/simulator/translate"
)

var (
	_ node.Kind     = (*Kind)(nil)
	_ node.Fallible = (*Kind)(nil)
)

// A Kind is all Redis servers of a simulator.
type Kind struct {
	// Retries is the number of times that the clients' library sends a command again by itself,
	// after its connection broke or no answer came. To be set before the first step.
	Retries int
	// Real, if it is not nil, executes everything as well. To be set before the first step.
	Real Real
	// Executor executes the requests of clients.
	Executor *Executor

	servers []instance // as open has left them
	group   node.Group[State]
}

// New makes the servers of a simulator from their settings.
func New(configs []Config, m *memo.Memo) (*Kind, error) {
	k := &Kind{servers: make([]instance, len(configs))}
	spare := int64(1)
	for i, c := range configs {
		if c.EarlyExpiry {
			spare = 0
		}
		if c.MaxLag == 0 {
			c.MaxLag = defaultMaxLag
		}
		k.servers[i] = instance{config: &c, kind: k, n: int8(i + 1)}
	}
	var err error
	k.Executor, err = newExecutor(m, spare)
	return k, err
}

// Close ends the engine.
func (k *Kind) Close() { k.Executor.engine.close() }

// Words returns the requests and answers. Nothing else is to be remembered.
func (k *Kind) Words() node.Words {
	return node.Words{Requests: k.Executor.batches, Answers: k.Executor.replies}
}

// Traits returns that time stamps can be moved.
func (k *Kind) Traits() node.Traits { return node.Traits{Stamps: true} }

// Asked returns the different times that servers were asked for, in the order they were met. Do not change the slice.
func (k *Kind) Asked() []node.Length { return k.Executor.asked.Values }

// Start returns a server with its clock and nothing else.
func (k *Kind) Start(n int8, _ int) node.State { return State{clock: k.servers[n-1].config.Clock} }

// Enabled appends what server n can do by itself.
func (k *Kind) Enabled(now time.Duration, state node.State, n int8, buf []node.Choice) []node.Choice {
	s := state.(State)
	buf = k.alone(now, &s, n).endings(buf)
	if s.outage != serving {
		if k.servers[n-1].config.EarlyEnd {
			buf = append(buf, node.Choice{Verb: node.Resume, Node: n})
		}
		return buf
	}
	for i := range int8(MaxReplicas + 1) {
		if s.behind>>i&1 != 0 {
			buf = append(buf, node.Choice{Verb: node.Replicate, Node: n, Thread: i})
		}
	}
	if s.cut != 0 {
		buf = append(buf, node.Choice{Verb: node.Heal, Node: n})
	}
	return buf
}

// Offers appends the messages that servers can send to client c, whose threads wait for one, and the end of the wait of
// those whose server does not know their connection any more. go-redis itself connects without delay.
func (k *Kind) Offers(w node.World, c int8, servers bool, buf []node.Choice) []node.Choice {
	if !servers || !k.Executor.listens {
		return buf
	}
	k.open(w)
	for t, th := range w.Client(c).Each {
		if th.Phase != node.Listening {
			continue
		}
		if ready, _ := k.request(w, c, t).subscription(); ready {
			buf = append(buf, node.Choice{Verb: node.Unblock, Client: c, Thread: t})
		}
	}
	return buf
}

// Due returns the next true time at which a key expires or an outage ends.
func (k *Kind) Due(now time.Duration, state node.State) time.Duration {
	s := state.(State)
	return k.alone(now, &s, 0).due()
}

// Step has an event happen. A server does not notice what else happens to a client.
func (k *Kind) Step(w node.World, e node.Input) error {
	switch e.What {
	case node.GaveUp: // a request on its way still arrives
		if w.Client(e.Client).Threads[e.Thread].Phase == node.Asking {
			w.Orphan(e.Client, e.Thread)
		}
		return nil
	case node.Lost: // where later messages are received, none before has been lost
		if w.Op(e.Client, e.Thread).Kind == process.Listen {
			w.Client(e.Client).Threads[e.Thread].Answer(node.LostConn)
		}
		return nil
	case node.HeldUp, node.Paused, node.Resumed, node.Crashed:
		return nil
	}
	k.open(w)
	defer k.close(w)
	switch e.What {
	case node.Chosen:
		return k.choose(w, e.Choice)
	case node.Arrived:
		return k.request(w, e.Client, e.Thread).arrive()
	case node.ArrivedOrphan:
		return k.servers[e.Orphan.Op.Node-1].arriveOrphan(e.Orphan)
	case node.EndSession:
		return node.Refuse("refused.session")
	case node.Passed:
		k.passed(e.Pending)
	case node.Settled:
		if slices.ContainsFunc(k.servers, func(s instance) bool { return s.pending }) {
			k.passed(false)
		}
	default:
		return k.servers[e.Choice.Node-1].strike(e)
	}
	return nil
}

// open takes the servers out of a world.
func (k *Kind) open(w node.World) {
	states := k.group.Open(w)
	for i := range states {
		s := &k.servers[i]
		s.State, s.x, s.w, s.now = &states[i], k.Executor, w, w.Now()
	}
}

// close puts those back that have changed.
func (k *Kind) close(w node.World) {
	for i := range k.servers {
		if s := &k.servers[i]; s.pending { // is anything still?
			s.pending = s.outage != serving && s.until == s.now || s.cut != 0 && s.refuses == s.now || s.keyEndsNow()
		}
	}
	k.group.Close(w)
}

// choose makes a choice of Enabled or Offers happen, or the end of a WAIT.
func (k *Kind) choose(w node.World, c node.Choice) error {
	if c.Verb == node.Unblock {
		switch th := &w.Client(c.Client).Threads[c.Thread]; {
		case th.Phase == node.Listening:
			return k.request(w, c.Client, c.Thread).push()
		case th.Phase != node.Blocked || th.Hold > 0:
			return node.Refuse("refused.wait")
		}
		k.request(w, c.Client, c.Thread).unblock()
		return nil
	}
	s := k.alone(w.Now(), &State{}, 0) // no server: it can do nothing
	if c.Node >= 1 && int(c.Node) <= len(k.servers) {
		s = &k.servers[c.Node-1]
	}
	switch c.Verb {
	case node.Replicate:
		return s.update(c.Thread)
	case node.Heal:
		return s.heal()
	case node.Resume:
		return s.resume()
	case node.End:
		return s.end(c)
	}
	return node.Refuse("refused.thing")
}

// passed ends the outages whose time has come and removes the keys whose time is over, but for what ends now, if that
// is pending. A server that is down removes nothing until it is back.
func (k *Kind) passed(pending bool) {
	for i := range k.servers {
		s := &k.servers[i]
		if s.pending = pending; s.outage != serving && (s.until < s.now || s.until == s.now && !pending) {
			s.comeBack()
		}
	}
	for i := range k.servers {
		k.servers[i].expire()
	}
}

// HoldsBack returns the true time for which the server of a request holds back the answer at most
// while replicas catch up; Never if there is no bound.
func (k *Kind) HoldsBack(o *process.Op) time.Duration {
	switch wait := k.Executor.batches.At(o.Arg).wait; {
	case wait == nil:
		return 0
	case wait.limit == 0:
		return clock.Never
	default:
		return k.servers[o.Node-1].config.Clock.After(wait.limit)
	}
}

// Relative returns a server as a part of a world at now.
func (k *Kind) Relative(now time.Duration, state node.State, readsClock bool) node.State {
	s := state.(State)
	k.alone(now, &s, 0).shift(-1)
	if k.alone(0, &s, 0).refusing() && s.cut != 0 {
		s.refuses = refusing
	}
	if !k.Executor.memo.Waits {
		s.lacks = [MaxReplicas]history.ClientSet{}
	}
	if !readsClock {
		s.clock = s.clock.WithinMillisecond(now)
	}
	if s == state.(State) {
		return state
	}
	return s
}

// Absolute undoes Relative.
func (k *Kind) Absolute(now time.Duration, state node.State) node.State {
	s := state.(State)
	if now == 0 && clock.Millis(s.clock.Read(now)) == 0 {
		return state
	}
	k.alone(now, &s, 0).shift(1)
	return s
}

// Map returns a server in a translation.
func (k *Kind) Map(state node.State, t *translate.Translation) node.State {
	s := state.(State)
	for d := range s.all {
		k.Executor.translate(d, t)
	}
	for i := range s.lacks {
		s.lacks[i] = t.Clients(s.lacks[i])
	}
	s.cut = t.Clients(s.cut)
	return s
}

// StampsIn returns the time stamps in a server.
func (k *Kind) StampsIn(state node.State) clock.Stamps {
	s, has := state.(State), clock.NoStamps
	for d := range s.all {
		has = has.With(k.Executor.keyspaces.Stamps(d.keyspace))
	}
	return has
}
