package bubble

import (
	"io"
	"net"
	"time"

	"locklab/simulator/internal/routine"
)

// loopback is the part of the machine's network of an execution outside of a bubble. Its
// fields belong to x.mu.
type loopback struct {
	listeners map[int]net.Listener // by server
	sockets   []net.Conn
}

// quiet is for how long, in real time, code must do nothing to have come to rest, once
// some of it waits.
const quiet = 500 * time.Microsecond

// run is agent without a bubble.
func (x *execution) run() {
	x.t, x.start, x.signal = x.h.T, time.Now(), make(chan struct{}, 1)
	for do := range x.orders {
		do()
		x.settle()
		x.reports <- struct{}{}
	}
}

// settle waits until the code has come to rest, or as long as x.order does.
func (x *execution) settle() {
	began := time.Now()
	calm := time.NewTimer(quiet)
	defer calm.Stop()
	for time.Since(began) < 2*patience {
		select {
		case <-x.signal:
		case <-calm.C:
			x.mu.Lock()
			rests := x.over || x.dead || x.err != nil || len(x.asks) > 0
			for _, c := range x.conns {
				rests = rests || c.written || c.err != nil || c.wait != nil && !c.closed
			}
			x.mu.Unlock()
			if rests {
				return
			}
		}
		calm.Reset(quiet)
	}
}

// waiting returns what code outside of a bubble does that has not come to rest. asleep is its
// goroutine if it sleeps; "": it does not.
func (x *execution) waiting() (e *StallError, asleep string) {
	e = &StallError{Client: x.h.ID}
	x.mu.Lock()
	main := x.main
	x.mu.Unlock()
	for _, g := range routine.All() {
		if main != "" && g.Name == main {
			e.State, e.Stack = g.Does(), g.Stack
		}
	}
	if e.State == "sleep" {
		asleep = main
	}
	return e, asleep
}

// listen returns the real address of a server.
func (x *execution) listen(server int) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	l := x.real.listeners[server]
	if l == nil {
		var err error
		if l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
			panic("no port of the machine is free: " + err.Error())
		}
		if x.real.listeners == nil {
			x.real.listeners = map[int]net.Listener{}
		}
		x.real.listeners[server] = l
		go x.accept(l, server)
	}
	return l.Addr().String()
}

func (x *execution) accept(l net.Listener, server int) {
	for {
		socket, err := l.Accept()
		if err != nil {
			return
		}
		x.mu.Lock()
		dead := x.dead
		x.real.sockets = append(x.real.sockets, socket)
		x.mu.Unlock()
		if dead {
			socket.Close()
			return
		}
		c, _ := x.dial(server)
		go pipe(c, socket)
		go pipe(socket, c)
	}
}

// pipe copies until one side ends, and then ends both.
func pipe(to, from net.Conn) {
	defer to.Close()
	defer from.Close()
	io.Copy(to, from)
}

// hangUp ends what there is of the network.
func (x *execution) hangUp() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, l := range x.real.listeners {
		l.Close()
	}
	for _, socket := range x.real.sockets {
		socket.Close()
	}
}
