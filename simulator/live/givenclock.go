package live

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"locklab/simulator"
	"locklab/simulator/i18n"
	"locklab/simulator/redisnode"
)

// A realClock relates a server's clock, which cannot be set here, to that of the trace.
type realClock struct {
	shift time.Duration // what it is ahead; chosen anew where no lease runs
	// from and to are what it was ahead, in milliseconds of either clock, just before and just after the last
	// request.
	from, to int64
	ends     map[string]ending // of the leases that run
	touched  map[string]bool   // all words that were sent, and all keys of the lab: what is ours
}

// An ending is when a lease ends, by either clock in milliseconds since the Unix epoch.
type ending struct{ real, lab int64 }

// startGiven connects to the servers that are given.
func (r *redisServers) startGiven(configs []simulator.NodeConfig) error {
	if len(configs) != len(r.on.Given) {
		return i18n.Errorf("error.live.redis-number", "need", len(configs), "given", len(r.on.Given))
	}
	for i, c := range configs {
		given := r.on.Given[i]
		redis, err := given.Connect()
		if err == nil {
			g := r.newGroup(c)
			g.real = &realClock{ends: map[string]ending{}, touched: map[string]bool{}}
			g.master = &server{Redis: redis}
			r.run.Servers++
			err = mustBeEmpty(redis)
		}
		if err != nil {
			return i18n.Errorf("error.live.redis-given", "addr", given.String(), "cause", err)
		}
	}
	return nil
}

// leases reports whether a lease runs in the lab.
func (g *group) leases() bool {
	for _, v := range g.lab[false] {
		if v.ends != lasting {
			return true
		}
	}
	return false
}

// passReal waits until a server's own clock shows that the time has passed. Where no lease runs
// nothing depends on it.
func (g *group) passReal() error {
	if !g.leases() {
		return nil
	}
	return g.shows(g.inLab().Add(g.real.shift))
}

// shows waits until a server's own clock has come so far.
func (g *group) shows(until time.Time) error {
	for {
		at, err := g.master.now()
		if err != nil || !at.Before(until) {
			return err
		}
		g.progress(g.now - until.Sub(at))
		if err := Rest(g.ctx, min(until.Sub(at), 250*time.Millisecond)); err != nil {
			return err
		}
	}
}

// beforeRequest is called just before a request is written.
func (g *group) beforeRequest(q redisnode.Request) error {
	if what := harmful(q.Commands); what != "" {
		return i18n.Errorf("error.live.redis-harmful", "command", what)
	}
	for _, c := range q.Commands {
		for _, word := range c {
			g.real.touched[word] = true
		}
	}
	at, err := g.master.now()
	if err != nil {
		return err
	}
	if !g.leases() {
		g.real.shift = at.Sub(g.inLab())
	}
	g.real.from = at.UnixMilli() - g.inLab().UnixMilli()
	return nil
}

// afterRequest is called when a request is answered. It returns the answer with what remains of leases as in the
// lab, where it is as much as it must be on the server's clock. The error is a LateError if a lease that ran may
// have ended before the request arrived.
func (g *group) afterRequest(lab, answer string) (string, error) {
	at, err := g.master.now()
	if err != nil {
		return answer, err
	}
	now := g.inLab().UnixMilli()
	g.real.to = at.UnixMilli() - now
	for name, v := range g.lab[false] {
		if e, runs := g.real.ends[name]; runs && v.ends != lasting && at.UnixMilli() > e.real {
			return answer, LateError{i18n.Errorf("error.live.late", "key", name, "left", time.Duration(e.lab-now)*time.Millisecond, "late", at.Sub(g.inLab().Add(g.real.shift)).Round(time.Millisecond))}
		}
	}
	is, want := strings.Split(answer, "\r\n"), strings.Split(lab, "\r\n")
	if len(is) != len(want) {
		return answer, nil
	}
	for i := range is {
		if is[i] != want[i] && g.real.remains(is[i], want[i], now) {
			is[i] = want[i]
		}
	}
	return strings.Join(is, "\r\n"), nil
}

// remains reports whether two integers are what remains of one lease, as PTTL or TTL tells it on the server and in
// the lab, where it is so late.
func (c *realClock) remains(is, lab string, now int64) bool {
	if !strings.HasPrefix(is, ":") || !strings.HasPrefix(lab, ":") {
		return false
	}
	n, err1 := strconv.ParseInt(is[1:], 10, 64)
	m, err2 := strconv.ParseInt(lab[1:], 10, 64)
	if errors.Join(err1, err2) != nil {
		return false
	}
	for _, e := range c.ends {
		least, most := e.real-(now+c.to), e.real-(now+c.from)
		if m == e.lab-now && least <= n && n <= most || m == (e.lab-now+500)/1000 && (least+500)/1000 <= n && n <= (most+500)/1000 {
			return true
		}
	}
	return false
}

// expireReal waits until a key is gone whose lease has ended in the lab: it was taken up to some milliseconds
// late.
func (g *group) expireReal(key string) error {
	e, runs := g.real.ends[key]
	if !runs {
		return nil
	}
	return g.shows(time.UnixMilli(e.real + 1))
}

// onLabClock has the keys of a server end by the lab's clock. A lease that the last request has given
// ends as in the lab if it does so within the time that the request may have arrived at. One that has ended by
// the server's clock, which is ahead by what the run is late, lasts until it has in the lab: afterRequest notices if
// a request comes meanwhile.
func (g *group) onLabClock(keys map[string]value) error {
	at, err := g.master.now()
	if err != nil {
		return err
	}
	for name, e := range g.real.ends {
		if lab, is := g.lab[false][name]; is && lab.ends == e.lab && at.UnixMilli() > e.real {
			if _, there := keys[name]; !there {
				keys[name] = value{lab.text, e.real}
			}
		}
	}
	for name, v := range keys {
		if v.ends == lasting {
			continue
		}
		lab, known := g.lab[false][name], g.real.ends[name]
		ahead := v.ends - lab.ends
		switch {
		case known == ending{v.ends, lab.ends}:
			v.ends = lab.ends
		case lab.ends > lasting && g.real.from <= ahead && ahead <= g.real.to:
			g.real.ends[name] = ending{v.ends, lab.ends}
			v.ends = lab.ends
		case v.ends == known.real:
			v.ends = known.lab
		default:
			e := ending{v.ends, v.ends - g.real.from}
			g.real.ends[name] = e
			v.ends = e.lab
		}
		keys[name] = v
	}
	for name := range g.real.ends {
		if v, is := keys[name]; !is || v.ends == lasting {
			delete(g.real.ends, name)
		}
	}
	return nil
}

// clean removes from a server what the run has put there. What others have put there meanwhile stays.
func (g *group) clean() error {
	r, err := g.master.Address.Connect() // the other one may be broken
	if err == nil {
		defer r.Close()
		var v any
		v, err = r.Do("KEYS", "*")
		list, _ := v.([]any)
		for _, name := range list {
			if key := fmt.Sprint(name); err == nil && g.real.touched[key] {
				_, err = r.Do("DEL", key)
			}
		}
	}
	if err != nil {
		return i18n.Errorf("error.live.redis-left", "addr", g.master.Address.String(), "cause", err)
	}
	return nil
}
