package simulator

import (
	"testing"
	"time"

	"locklab/simulator/history"
)

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
		"again, after one's own write": {func(c *Client) {
			for range 2 {
				enter(c)
				base, _ := c.Read(0)
				c.Clock().Sleep(time.Second)
				_ = c.Write(base, 0)
				leave(c)
			}
		}, false},
		"read before it enters, at once": {func(c *Client) { base, _ := c.Read(0); enter(c); _ = c.Write(base, 0) }, false},
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
		"another one":  {func(c *Client) { enter(c); base, _ := c.Read(0); _ = c.Write(base+1, 0) }, true},
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
