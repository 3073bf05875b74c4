package live

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/simulator/history"
	"locklab/simulator/internal/clock"
	"locklab/simulator/realserver"
	"locklab/simulator/redisnode"
)

var _ redisnode.Real = (*player)(nil)

// Execute implements redisnode.Real.
func (r *player) Execute(q redisnode.Request, lab string) (answer string) {
	if r.err != nil {
		return lab
	}
	g, s, _ := r.server(q.Server)
	if err := r.countReplicas(g, s); err != nil {
		r.fail(err)
		return lab
	}
	_, w, err := r.wire(q, s)
	if err == nil && g.real != nil {
		err = r.beforeGiven(g, q)
	}
	if err == nil && q.Commands != nil {
		err = w.Send(written(q.Commands))
	}
	if err == nil {
		answer, err = w.Receive(redisnode.Values(lab))
	}
	if err == nil && g.real != nil {
		answer, err = r.afterGiven(g, lab, answer)
	}
	if err != nil {
		r.fail(fmt.Errorf("%q to server %d: %w", q.Commands, q.Server, err))
		return lab
	}
	r.compareAnswer(q, lab, answer)
	return answer
}

// Wait implements redisnode.Real.
func (r *player) Wait(q redisnode.Request) {
	if r.err != nil {
		return
	}
	g, s, old := r.server(q.Server)
	l, w, err := r.wire(q, s)
	for i, replica := range g.replicas {
		// The gate has kept from a replica that lacks nothing that it was asked how far it is.
		if err == nil && !old && i != g.split && !r.world.ReplicaBehind(q.Server, i) {
			err = replica.catchUp(r.ctx, s)
		}
	}
	if err == nil {
		err = w.Send(written(q.Commands))
	}
	if err == nil {
		err = s.heardWait(w)
	}
	if err != nil {
		r.fail(fmt.Errorf("%q to server %d: %w", q.Commands, q.Server, err))
		return
	}
	need := 0
	if len(q.Commands[0]) > 1 {
		need, _ = strconv.Atoi(q.Commands[0][1])
	}
	r.waits[q.Msg] = wait{on: l, need: need, request: q}
}

// heardWait waits until the server has executed a WAIT that was sent on a connection: it has blocked the
// connection, or answered. It counts the time from then on, so its clock must not move before.
func (s *server) heardWait(w *realserver.Wire) error {
	for {
		list, err := s.do("CLIENT", "LIST")
		if err != nil {
			return err
		}
		for line := range strings.Lines(fmt.Sprint(list)) {
			fields := strings.Fields(line)
			if slices.Contains(fields, "addr="+w.Name()) && slices.ContainsFunc(fields, func(f string) bool {
				flags, ok := strings.CutPrefix(f, "flags=")
				return ok && strings.Contains(flags, "b")
			}) {
				return nil
			}
		}
		if answered, err := w.Answered(time.Millisecond); answered || err != nil {
			return err
		}
	}
}

// Waited implements redisnode.Real.
func (r *player) Waited(msg uint32, lab string) (answer string) {
	sent, ok := r.waits[msg]
	if r.err != nil || !ok {
		return lab
	}
	delete(r.waits, msg)
	g, s, _ := r.server(sent.request.Server)
	if n, err := strconv.Atoi(strings.Trim(lab, ":\r\n")); err == nil && n < sent.need {
		r.fail(r.stand(g, time.Millisecond))    // its time is over in the millisecond after
		if _, err := s.do("PING"); err != nil { // and it looks at its clock after each command
			r.fail(err)
		}
	}
	answer, err := r.wires[sent.on].Receive(redisnode.Values(lab))
	if errors.Is(err, os.ErrDeadlineExceeded) { // its clock stands still: it will not
		r.differ(Difference{Server: sent.request.Server, Client: int(sent.request.Client), Cmd: sent.request.Commands[0], Lab: redisnode.ReplyText(lab), Real: "no answer"})
		r.hangUp(func(l line) bool { return l == sent.on })
		r.fail(r.stand(g, 0))
		return lab
	}
	if err != nil {
		r.fail(fmt.Errorf("%q to server %d: %w", sent.request.Commands, sent.request.Server, err))
		return lab
	}
	r.fail(r.stand(g, 0))
	r.compareAnswer(sent.request, lab, answer)
	return answer
}

// wire is the connection on which a request comes.
func (r *player) wire(q redisnode.Request, s *server) (line, *realserver.Wire, error) {
	l := line{client: q.Client, name: q.Conn, to: s}
	for r.blocked(l) {
		l.spare++
	}
	if w := r.wires[l]; w != nil {
		return l, w, nil
	}
	w, err := s.dial()
	if err == nil {
		r.wires[l] = w
	}
	return l, w, err
}

// blocked says whether a server has still to answer a WAIT on a connection.
func (r *player) blocked(l line) bool {
	for _, w := range r.waits {
		if w.on == l {
			return true
		}
	}
	return false
}

// countReplicas waits until a server that refuses writes with too few replicas has counted
// them: it does so once in a second of the machine.
func (r *player) countReplicas(g *group, s *server) error {
	if g.config.MinReplicas == 0 {
		return nil
	}
	for {
		info, err := s.replication()
		if err != nil {
			return err
		}
		good, late := 0, false
		for _, p := range info.replicas {
			if p.online && p.lag <= maxLag(&g.config) {
				good++
			}
			late = late || p.lag > time.Second
		}
		if good == info.good && (!late || s.cutOff != nil) {
			return nil
		}
		if err := rest(r.ctx, 5*time.Millisecond); err != nil {
			return err
		}
	}
}

// written is what a client wrote.
func written(commands [][]string) (raw []byte) {
	for _, c := range commands {
		raw = realserver.AppendCommand(raw, c...)
	}
	return raw
}

func (r *player) compareAnswer(q redisnode.Request, lab, real string) {
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

func (r *player) differ(d Difference) {
	d.At, d.Choice = r.now, r.choice
	r.run.Differences = append(r.run.Differences, d)
}

// compare compares all keys of servers with what the lab's hold, and puts what was measured into the
// events of the last step, which begin at first. All are asked before the first answer is read.
func (r *player) compare(numbers []int, first int) error {
	questions := make([]question, len(numbers))
	for i, n := range numbers {
		g, s, old := r.server(n)
		var err error
		if questions[i], err = s.ask(g.lab[old]); err != nil {
			return err
		}
	}
	for i, n := range numbers {
		g, s, old := r.server(n)
		is, err := questions[i].answer()
		for until := r.shown(g); err == nil && is.at.Before(until); { // it was not long enough
			var again question
			if again, err = s.ask(g.lab[old]); err == nil {
				is, err = again.answer()
			}
		}
		if err == nil {
			err = r.compareKeys(g, n, old, is.keys, first)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// shown is what the clock of a server that is ours must show, which TIME tells in whole microseconds.
func (r *player) shown(g *group) time.Time {
	if g.real != nil {
		return time.Time{} // passGiven has waited
	}
	return r.inLab(g).Truncate(time.Microsecond)
}

// compareKeys compares all keys of a server.
func (r *player) compareKeys(g *group, number int, old bool, real map[string]value, first int) error {
	if g.real != nil {
		if err := r.onLabClock(g, real); err != nil {
			return err
		}
	}
	var names []string
	for name := range g.lab[old] {
		names = append(names, name)
	}
	for name := range real {
		if _, both := g.lab[old][name]; !both {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		lab, inLab := g.lab[old][name]
		is, inReal := real[name]
		if lab == is && inLab == inReal {
			continue
		}
		r.differ(Difference{Server: number, Key: name, Lab: keyText(lab, inLab), Real: keyText(is, inReal)})
		e := history.Event{At: r.now, Kind: history.Change, Node: number, Key: name, Before: lab.text}
		if inReal {
			e.After, e.Until = is.text, r.until(g, is)
		}
		r.run.Events = r.measured(r.run.Events, first, e)
		if g.lab[old][name] = is; !inReal {
			delete(g.lab[old], name)
		}
	}
	return nil
}

// measured has the last event from first on about a key of a server tell what was measured; if
// there is none, it is a change of its own.
func (r *player) measured(events []history.Event, first int, is history.Event) []history.Event {
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

// until is the true time at which a key is gone.
func (r *player) until(g *group, v value) time.Duration {
	if v.ends == lasting {
		return history.Forever
	}
	return g.state.When(r.now, time.Duration(v.ends+1-clock.Epoch.UnixMilli())*time.Millisecond)
}

func keyText(v value, is bool) string {
	switch {
	case !is:
		return "(nil)"
	case v.ends == lasting:
		return v.text
	}
	return fmt.Sprintf("%s until %d", v.text, v.ends)
}
