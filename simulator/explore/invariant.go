package explore

import (
	"fmt"
	"slices"

	"locklab/simulator"
)

// An Invariant is a closed set of views in texts, from which they can be rebuilt: an inductive invariant of any number of
// clients, which [CheckInvariant] checks. A shared part calls the clients that it names c3 to c6; a view's client is c1.
type Invariant struct {
	Shared  []WrittenShared           `json:"shared"`
	Clients []simulator.WrittenClient `json:"clients"`
	Views   []WrittenView             `json:"views"`

	connected bool // views have connections, which are not written
	stamped   bool // time stamps count from the present
	counted   bool // a counter stands still
	kept      bool // processes keep something from one attempt to the next
}

// A WrittenShared is what all clients share.
type WrittenShared struct {
	Servers []simulator.Texts `json:"servers"`
	Rest    simulator.Texts   `json:"rest"` // the faults that are left, and the resource
	Judges  simulator.Texts   `json:"judges"`
	Names   int               `json:"names"` // how many clients it names
}

// A WrittenView is one client of some shared part. The numbers are places of the lists of the Invariant.
type WrittenView struct {
	Shared  int               `json:"shared"`
	Client  int               `json:"client"` // below 0: it has come to its end, and requests of it are under way
	Orphans []simulator.Texts `json:"orphans,omitempty"`
	Judges  simulator.Texts   `json:"judges,omitempty"`
	Base    string            `json:"base"`            // newest, outdated, or unread: how new what it has read is
	Names   []string          `json:"names,omitempty"` // whom c3 to c6 are: self, other, or nobody
}

var (
	baseNames   = []string{unread: "unread", newest: "newest", outdated: "outdated"}
	statusNames = []string{other: "other", self: "self", nobody: "nobody"}
)

// invariant writes the views, in the order in which they were found.
func (p *prover) invariant() (*Invariant, error) {
	v := &Invariant{stamped: p.sim.Stamps().Grain() > 0, counted: p.sim.Parts().Counts(), kept: p.proved.Once.Key == "prove.once.memory"}
	parts, clients := map[shared]int{}, map[uint32]int{p.absent[0]: -1}
	for _, c := range p.culprits {
		p.proved.Culprits = append(p.proved.Culprits, Culprit{Verdict: c.verdict, Move: p.sim.Describe(c.move)})
	}
	judges, orphans := map[uint32]simulator.Texts{}, map[uint32][]simulator.Texts{}
	for _, q := range p.queue {
		at, known := parts[q.of]
		if !known {
			s, err := p.writeShared(&q.of)
			if err != nil {
				return nil, err
			}
			at = len(v.Shared)
			parts[q.of], v.Shared = at, append(v.Shared, s)
		}
		one := p.groups[q.of].views[q.at]
		client, known := clients[one.part]
		if !known {
			client = len(v.Clients)
			clients[one.part], v.Clients = client, append(v.Clients, p.sim.Writing().WriteClient(1, &p.clientTab[0].keys[one.part]))
		}
		v.connected = v.connected || one.conns != p.unbound
		if _, known := judges[one.judge]; !known {
			judges[one.judge] = p.judgeTab.keys[one.judge].Write()
		}
		if _, known := orphans[one.orphans]; !known {
			orphans[one.orphans] = p.sim.Writing().WriteRest(&p.restTab.keys[one.orphans]).Orphans
		}
		w := WrittenView{Shared: at, Client: client, Base: baseNames[one.base], Judges: judges[one.judge], Orphans: orphans[one.orphans]}
		for _, name := range one.names[:q.of.names] {
			w.Names = append(w.Names, statusNames[name])
		}
		v.Views = append(v.Views, w)
		for i := range p.culprits {
			for k, at := range p.culprits[i].views {
				if p.culprits[i].of == q.of && at == q.at {
					p.proved.Culprits[i].Views[k] = len(v.Views) - 1
				}
			}
		}
	}
	return v, nil
}

func (p *prover) writeShared(s *shared) (w WrittenShared, err error) {
	w = WrittenShared{Rest: p.sim.Writing().WriteRest(&p.restTab.keys[s.rest]).Left, Judges: p.judgeTab.keys[s.judge].Write(), Names: int(s.names)}
	for n := range p.nodes {
		node, err := p.sim.Writing().WriteNode(&p.nodeTab.keys[s.nodes[n]])
		if err != nil {
			return w, err
		}
		w.Servers = append(w.Servers, node)
	}
	return w, nil
}

// Without returns the invariant without one of its views.
func (v *Invariant) Without(view int) *Invariant {
	less := *v
	less.Views = slices.Delete(slices.Clone(v.Views), view, view+1)
	return &less
}

// Unchecked is the key of why the checker cannot check the invariant, if it was computed here; "": it can. It knows nothing of what
// servers keep of connections, nor of what processes keep from one attempt to the next, simulator.Ages and Assumptions.Counters.
func (v *Invariant) Unchecked() string {
	switch {
	case v.connected:
		return "error.prove.connected"
	case v.stamped:
		return "error.prove.stamped"
	case v.kept:
		return "error.prove.kept"
	case v.counted:
		return "error.prove.counted"
	case v.namesClients():
		return "error.prove.named"
	}
	return ""
}

// namesClients reports whether code has observed an answer that names a client: the checker
// knows nothing of simulator.Assumptions.Strangers.
func (v *Invariant) namesClients() bool {
	for i := range v.Clients {
		for j := range v.Clients[i].Seen {
			if clientNames.MatchString(fmt.Sprint(v.Clients[i].Seen[j].Answer)) {
				return true
			}
		}
	}
	return false
}
