package redisnode

import (
	"locklab/simulator/node"
	"locklab/simulator/process"
)

// A request is what a client's thread waits for: an answer, or a message.
type request struct {
	at        *instance
	c, thread int8
	th        *node.Thread
	op        process.Op
}

// request returns what a client's thread waits for.
func (k *Kind) request(w node.World, c, thread int8) request {
	o := *w.Op(c, thread)
	return request{&k.servers[o.Node-1], c, thread, &w.Client(c).Threads[thread], o}
}

// requests yields what threads wait for at the server.
func (s *instance) requests(yield func(r request) bool) {
	for c := int8(1); int(c) <= s.w.Clients(); c++ {
		for t, th := range s.w.Client(c).Each {
			if th.Phase.Waiting() && s.w.Op(c, t).Node == s.n && !yield(s.kind.request(s.w, c, t)) {
				return
			}
		}
	}
}

func (r request) batch() *batch { return r.at.x.batches.At(r.op.Arg) }

// arrival returns the arrival of a batch of the request.
func (r request) arrival(batch uint32) arrival { return arrival{r.c, r.op.Lease, batch, r.th.Msg} }

// arrive has the request reach its server.
func (r request) arrive() error {
	switch reachedBy(r.c, r.at.State) {
	case down:
		r.th.Answer(node.LostConn)
		return nil
	case hung:
		r.th.Hold = r.at.until
		return nil
	}
	if wait := r.batch().wait; wait != nil {
		return r.await(wait)
	}
	answer, err := r.at.serve(r.arrival(r.op.Arg))
	r.th.Answer(answer)
	return err
}
