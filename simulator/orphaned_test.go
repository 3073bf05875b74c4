package simulator

import (
	"context"
	"reflect"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"

	"locklab/simulator/history"
	"locklab/simulator/node"
	"locklab/simulator/redisnode"
)

// Requests that differ in anything have an order. The exceptions say how a thread waits for the answer: none waits for
// that of an orphaned request, and Orphan clears them.
func TestOrphansHaveAnOrder(t *testing.T) {
	cleared := map[string]bool{"Op.D": true, "Op.Open": true}
	var visit func(v reflect.Value, name string, of *node.Orphan)
	visit = func(v reflect.Value, name string, of *node.Orphan) {
		for i := range v.NumField() {
			f, name := v.Field(i), name+v.Type().Field(i).Name
			switch f.Kind() {
			case reflect.Struct:
				visit(f, name+".", of)
				continue
			case reflect.Bool:
				f.SetBool(true)
			case reflect.Uint8, reflect.Uint32, reflect.Uint64:
				f.SetUint(1)
			default:
				f.SetInt(1)
			}
			if equal := compareOrphans(*of, node.Orphan{}) == 0; equal != (cleared[name] || name == "Msg") {
				t.Errorf("%s is in the order of requests: %v", name, !equal)
			}
			f.SetZero()
		}
	}
	var o node.Orphan
	visit(reflect.ValueOf(&o).Elem(), "", &o)
}

// TestUnwoundWatchers: code that is unwound while a connection watches does not return it
// to the pool, and a pool has only a few connections.
func TestUnwoundWatchers(t *testing.T) {
	l := mustLab(t, Config{Nodes: []NodeConfig{{}}, Clients: []ClientConfig{{Program: func(c *Client) {
		ctx := context.Background()
		_ = c.Redis(1).Watch(ctx, func(tx *redis.Tx) error {
			for range 20 {
				c.Clock().Sleep(time.Second)
			}
			return nil
		}, "k")
	}}}})
	NoMemo(l) // runs it anew for every observation
	w := l.NewWorld()
	for !l.Quiet(&w) {
		if _, err := l.Step(&w, l.Enabled(&w, nil)[0]); err != nil {
			t.Fatal(err)
		}
		if p := l.clients.procs[0].Code().Library().(*redisnode.Connections).Client(1); p.PoolStats().TotalConns > 1 {
			t.Fatalf("after %d runs of the code its pool has %d connections", l.Executions(1), p.PoolStats().TotalConns)
		}
	}
	if l.Executions(1) < 20 {
		t.Errorf("the code was run only %d times", l.Executions(1))
	}
}

// TestOldBases: a simulator notices a write on the basis of a version that its client has not
// read since it is inside.
func TestOldBases(t *testing.T) {
	enter := func(c *Client) { c.Record(history.Event{Kind: history.Enter}) }
	leave := func(c *Client) { c.Record(history.Event{Kind: history.Leave}) }
	for name, test := range map[string]struct {
		program func(c *Client)
		old     bool
	}{
		"read inside": {func(c *Client) { enter(c); base, _ := c.Read(0); _ = c.Write(base, 0) }, false},
		"read long before": {func(c *Client) {
			base, _ := c.Read(0)
			c.Clock().Sleep(time.Second)
			enter(c)
			_ = c.Write(base, 0)
		}, true},
		"read when it was inside last": {func(c *Client) {
			enter(c)
			base, _ := c.Read(0)
			leave(c)
			c.Clock().Sleep(time.Second)
			enter(c)
			_ = c.Write(base, 0)
		}, true},
		"not inside":   {func(c *Client) { base, _ := c.Read(0); _ = c.Write(base, 0) }, true},
		"without read": {func(c *Client) { enter(c); _ = c.Write(0, 0) }, true},
	} {
		s := mustLab(t, Config{Nodes: make([]NodeConfig, 1), Clients: []ClientConfig{{Program: test.program}}})
		w := s.NewWorld()
		for all := s.Enabled(&w, nil); len(all) > 0; all = s.Enabled(&w, nil) {
			if _, err := s.Step(&w, all[0]); err != nil {
				t.Fatal(err)
			}
			part := s.Parts().Client(&w, 1)
			if inside := s.clients.procs[0].At(w.procs[0].At).Inside; inside && !s.Parts().OnVersion(1, &part) {
				t.Errorf("%s: a client that is inside has read nothing that it may write on", name)
			}
		}
		if s.Traits().OldBases != test.old {
			t.Errorf("%s: %v", name, s.Traits().OldBases)
		}
	}
}
