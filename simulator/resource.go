package simulator

import (
	"errors"

	"locklab/simulator/history"
)

// The protected resource is a register across the network that counts its
// accepted writes, and refuses those that its guard finds late.
//
// Naive accepts all. Fenced refuses a token lower than the highest it has seen, in
// reads and writes alike (Kleppmann 2016). CompareAndSet refuses a write that does
// not build on the newest version, and needs no token. (Sanfilippo 2016: a random
// token, which the holder sets before it works and compares when it writes. There
// the holder registers by that; here a read does, as any accepted write makes what
// was read before it too old. Unlike there, a read alone shuts nobody out: of two
// who have read the same, the first to write wins, whoever has the lock.)

// ErrRefused is a write that the resource's guard refused.
var ErrRefused = errors.New("simulator: write refused: it comes too late")

// Read reads the resource and returns the version it saw. token 0 is no
// fencing token. An error means that the answer did not arrive.
func (c *Client) Read(token uint64) (version int, err error) {
	s, ok := c.p.ask(op{kind: opRead, node: history.Resource, token: token})
	if !ok {
		panic(stopped{})
	}
	return int(s.val), s.err("read")
}

// Write writes the resource; base is the version that the write builds on. The
// error is ErrRefused if it was refused; any other leaves the outcome open.
func (c *Client) Write(base int, token uint64) error {
	s, ok := c.p.ask(op{kind: opWrite, node: history.Resource, base: int32(base), token: token})
	if !ok {
		panic(stopped{})
	}
	if s.kind == replied && s.val == 0 {
		return ErrRefused
	}
	return s.err("write")
}

// serve is the resource's side. The answer is the version for a read, and 1 or
// 0 (accepted, refused) for a write.
func (r *resourceState) serve(o op, guard history.Guard, e *history.Event) (answer int64) {
	e.Token = o.token
	accepted := true
	switch guard {
	case history.Fenced:
		accepted = o.token >= r.highest
	case history.CompareAndSet:
		accepted = o.base == r.version
	}
	r.highest = max(r.highest, o.token)
	if o.kind == opRead {
		e.Kind, e.Version = history.Read, int(r.version)
		return int64(r.version)
	}
	if accepted {
		r.version++
		answer = 1
	}
	e.Kind, e.OK, e.Version, e.Base = history.Write, accepted, int(r.version), int(o.base)
	return answer
}
