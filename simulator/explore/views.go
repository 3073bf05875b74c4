package explore

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/hypothesis"
	"locklab/simulator/i18n"
	"locklab/simulator/intern"
	"locklab/simulator/verdict"
)

// View abstraction (Abdulla, Haziza and Holik, "All for the price of few", VMCAI 2013) proves for any number of clients
// what a search shows for a few. A view is one client, and what it shares with all others: the servers and the faults
// that are left. The set of views begins with a client at rest. Any two views of it that agree about what is shared
// make a world of two clients; each of its moves is made by the simulator's own Step; and both clients of the world
// that follows are views of the set, until nothing is new. Then every client of every run, with however many others, is
// in one of the views, and a harm that no world of two shows does not exist. (Which of these worlds need not be made:
// interfaces.go.) That holds since a move reaches one client and the shared part, or time passes for all: a client that
// does not move is in a world with the one that does, and keeps its part. What else happens in worlds of two is too
// much and not too little: deadlines of the clients that are left out do not keep time from passing.
//
// Of a lock that admits n clients a world has n + 1, since fewer cannot show an OVERLAP: any n + 1 views of which each
// two agree. What each knows of the others by no name is not kept, as how many have raised a counter: such a semaphore
// is not proved, but one that names its holders is.
//
// A client has everything that bears its name: its process, its requests under way, also when it has given up or died
// (an ended client with requests under way), what the only server keeps of its connections (which keys they watch, and
// what replicas lack of them), and what the judges know of it. In what is shared it is named: the owner of a key is the
// client of the view, another one, or none that can still act. These are never mixed up: of the clients of a world one
// at most is the owner, and a key without an owner stays so. A client that has come to its end begins anew as another
// one, of which there are always more at rest; its former name has no owner, or is that of an ended client. So does a
// process that rests after an attempt: if nothing of it goes on, it remembers nothing and draws its tokens anew, it is
// a new client to code and servers, and the views are those of any number of attempts. The id of its thread would be an
// old name: [simulator.Parts.Lasting]. Whether that is so is tried: with code in the second to fourth attempt of one
// process (simulator.Symmetry, CheckRests), and with servers at the tokens of later attempts (hypothesis.Peers). To
// the judges its attempts then are clients of their own. Else each client takes the lock once (Proof.Once).
//
// What a client learns of others by name, as the owner of a key, is not renamed with them: code is to do the same
// whichever other client an answer names, and whether two answers name the same one. That is a hypothesis, held against
// the code in all of its histories (hypothesis.Peers); of code that compares others there is no proof.
//
// Of what a client has read of the resource, its view keeps whether another client has written since. A write that was
// stale makes what others have read old as well: then STALE-WRITE is among the harms already. An ORPHAN is a refusal
// while no client of the world has the lock. If a client outside it has, that is no ORPHAN: views may show too
// many of them, never too few. A DEADLOCK is found by the probe from a shared part whose clients have all come to their
// ends, or where all clients of a world wait without end (see deadlock.go).
//
// Time stamps in data grow older without end. From some age on code and servers are to do the same however old they
// are: see [hypothesis.Ages], which begin small and are doubled where a step, or a check of the code, refutes them.
//
// Counters that servers keep, as for fencing tokens, count without end. From 1 on, or from 3, they stand still, and
// code and servers are to do the same however far one has counted: hypothesis.Counted.
//
// Not looked for are FENCED, BLOCKED and STARVED.

// Provable are the verdicts that views are asked about.
var Provable = []verdict.Word{
	verdict.Overlap, verdict.StaleWrite, verdict.WrongDel, verdict.Lie, verdict.Orphan, verdict.Deadlock,
}

// Outsiders is the largest number of clients that a shared part can name beside those of a world.
const Outsiders = 4

// MostHolders is the largest number that a lock may admit: a world has one client more.
const MostHolders = 3

const mostWorld = MostHolders + 1

// A Proof is what the set of views has shown.
type Proof struct {
	Views, Worlds, Transitions int
	// Harms are the verdicts that some world has come to. It may be that no run does.
	Harms      []verdict.Word
	Violations []Violation // of each harm, but for a DEADLOCK that no move comes to
	Closed     bool        // nothing is new: what is not among the harms is impossible
	// Covered has the hypotheses, lengths, histories, traits and faults, as the result of a search.
	Covered Result
	Refused error // why there is no proof; nil: there is one
	// Summaries are those of all views, in the order in which they were found, if nothing is new.
	Summaries []Summary
	// Once gives the reason for which each client takes the lock once; zero: any number of times.
	Once i18n.Message
}

// A Violation is the first world that has come to a verdict: its views, and the move, of which c1 is the client of the
// first view, c2 that of the second, and so on.
type Violation struct {
	Verdict verdict.Word
	Views   []Summary
	Move    string
}

// A Summary has the stage of the client of a view, and what is left of the key.
type Summary struct {
	Stage string // idle, acquiring, inside, leaving, releasing, or gone: it has ended, and requests of it are under way
	Owner string // of the key: self, other, nobody, unmade (no client has made it), or free: there is no key
	// Left is the rest of the key's time to live, on the first server; simulator.Never: it has none.
	Left time.Duration
}

// leasesToAncient is the number of leases after which a time stamp is ancient at the latest: see hypothesis.Ages.
// Without them time stamps would grow older without end.
const leasesToAncient = 4

// worldsPerView bounds the worlds: so many times as many as there may be views.
const worldsPerView = 100

// mostCounting bounds the views where the number of a counter makes a difference: they may be without end.
const mostCounting = 50_000

// mostHistories bounds the histories of all clients together, through each of which code runs, in up to half a minute.
const mostHistories = 50_000

// ProveFor computes the views of m, most at most, which has a probe, and two attempts or more, of which only the first
// is made; the number of its clients makes no difference. With endless, no fault is ever used up. The error is about
// code that the simulator cannot run, or ctx's.
func ProveFor(ctx context.Context, m *Model, endless bool, most int) (*Proof, error) {
	return proveAnd(ctx, m, endless, most, func(*prover) error { return nil })
}

// proveAnd is ProveFor, and calls then once the views are closed; its error takes the place of a proof.
func proveAnd(ctx context.Context, m *Model, endless bool, most int, then func(*prover) error) (*Proof, error) {
	m = m.ofViews()
	sim, err := m.Simulator()
	if err != nil {
		return nil, err
	}
	defer sim.Close()
	defer sim.Assume(hypothesis.Usual)
	opt := m.Options()
	if room := client.Room(m.Entry); room < 1 || room > MostHolders {
		return &Proof{Refused: &NotProvableError{i18n.New("prove.holders")}}, nil
	}
	opt.assumed = opt.assumptions(sim)
	opt.assumed.Peers, opt.assumed.Counters = true, hypothesis.CountedFrom
	counts := false // the number of a counter makes a difference
	for {
		sim.Assume(opt.assumed.Set)
		p, err := newProver(sim, m, opt, endless, most)
		if err != nil {
			return nil, err
		}
		if err = p.close(ctx); err == nil {
			err = then(p)
		}
		switch weaker, refuted := opt.assumed.refine(err, sim.Traits()); {
		case refuted && weaker.Symmetric == 0:
			return p.proof(&NotProvableError{i18n.New("prove.names", "why", weaker.asymmetry.Error())}), nil
		case errors.Is(err, errNewTrait) && sim.Traits().Grain > 0 && !sim.Traits().ReadsClock:
			opt.assumed = weaker
			opt.assumed.Ages = hypothesis.Ages{Ancient: m.TTL / 6, Span: m.TTL * 5 / 2, Most: leasesToAncient * m.TTL}
			continue
		case refuted && weaker.Ages != opt.assumed.Ages:
			opt.assumed = weaker
			continue
		case refuted && opt.assumed.Rests && !weaker.Rests:
			return p.proof(&NotProvableError{i18n.New("prove.rest")}), nil
		case refuted && (sim.Traits().ReadsClock || sim.Traits().Grain > 0):
			return p.proof(&NotProvableError{i18n.New("prove.clock", "leases", fmt.Sprint(leasesToAncient))}), nil
		case refuted:
			if weaker.Counters == 0 && sim.Parts().Counts() { // there is an end only if it counts down again
				counts, most = true, min(most, mostCounting)
			}
			opt.assumed = weaker
			continue
		}
		var why *NotProvableError
		if what := limit(err); !what.IsZero() {
			why, err = &NotProvableError{what}, nil
		} else if errors.As(err, &why) {
			err = nil
		}
		if counts && why != nil && why.Why.Key == TooManyViews {
			why.Why = i18n.New("prove.counter", "most", fmt.Sprint(most))
		}
		if err == nil && m.Afterwards != nil {
			err = m.Afterwards(sim)
		}
		return p.proof(why), err
	}
}

// TooManyViews is the key of the reason that there are more views than a proof may have.
const TooManyViews = "prove.views"

// A NotProvableError is the reason why views do not do for a lock.
type NotProvableError struct{ Why i18n.Message }

func (e *NotProvableError) Error() string { return fmt.Sprint(e.Why) }

// shared holds the parts that all clients share, with the clients that it names as the first outsiders.
type shared struct {
	nodes       [simulator.MaxNodes]uint32
	rest, judge uint32
	present     uint32 // where in a whole grain of time stamps the present is, if that makes a difference
	names       uint8  // how many it names
}

// A status is the relation of a name of the shared part to a view.
type status uint8

const (
	other  status = iota + 1 // another client, or one that has ended with requests under way
	self                     // the client of the view
	nobody                   // none that can still act
)

// A freshness is that of what a client has read of the resource, and may write on.
type freshness uint8

const (
	unread   freshness = iota // it has read nothing, or will not write any more
	newest                    // no other client has written since
	outdated                  // another one has
)

// A viewOf is one client, as client 1, of some shared part.
type viewOf struct {
	part  uint32
	own   [divisions]uint32 // what it has of each division
	read  freshness
	names [Outsiders]status
}

// A prover computes the set of views.
type prover struct {
	*tables
	rests
	search  *search
	size    int // the clients of a world
	endless bool
	most    int
	full    simulator.RestPart // with all faults
	idle    viewOf             // a client at rest without a name
	cut     [divisions]func(cut) (uint32, error)
	words   [divisions]int // of a state, by the division of which they are
	namings map[shared][]naming
	renewed intern.Column // the rest with all faults

	groups     groups
	queue      []queued
	moves      []move                          // of the present world
	cur        []uint32                        // the present world
	reads      [simulator.MaxClients]freshness // of its clients
	views      []viewOf                        // memory of world
	chosen     []*neighbours                   // memory of expand
	shared     []uint32                        // memory of project
	after      []projection                    // likewise
	found      verdict.Set
	violations []violation
	struck     map[simulator.Verb]bool // the faults that were injected
	proved     Proof
}

// A group is the views of one shared part.
type group struct {
	shared
	views       []viewOf       // as they were found
	known       map[viewOf]int // where each is
	byInterface map[interfaceOf]*neighbours
	neighbours  []*neighbours // as they were found
	// alone are the choices of a view's client that change nothing but its own part and that no judge sees: what they
	// lead to was entered once, with whomever it shares a world. (A command that a server executes is seen by judges.)
	// The same goes for time that passes.
	alone [][]uint16 // by the place of the view
}

// A queued view is at a place of its group.
type queued struct {
	of *group
	at int
}

func newProver(sim *simulator.Simulator, m *Model, opt Options, endless bool, most int) (p *prover, err error) {
	p = &prover{search: newSearch(sim, opt), size: client.Room(m.Entry) + 1, endless: endless, most: most,
		groups: groups{}, namings: map[shared][]naming{},
		struck: map[simulator.Verb]bool{}, chosen: make([]*neighbours, 0, mostWorld)}
	p.tables = p.search.tables
	w := sim.NewWorld()
	p.full, p.cut, p.words = sim.Parts().Rest(&w), p.cuts(), [divisions]int{p.clients, p.restAt, p.judgeAt}
	p.idle.own = [divisions]uint32{
		requests: p.restTab.ID(simulator.RestPart{}), judged: p.judgeTab.ID(verdict.Safety{}),
	}
	if p.idle.own[connections], err = p.cut[connections](cut{p.node(0, &w), 0, ownOf, 1}); err != nil {
		return nil, err
	}
	p.rests, err = newRests(p.search)
	p.idle.part = p.fresh
	if p.drawn {
		p.proved.Once = i18n.New("prove.once.token")
	}
	return p, err
}

// restAfter is that of client c, from 0, after its attempt; zero: it does not rest, or has not made the attempt.
func restAfter(t *tables, c int, id uint32) simulator.Rest {
	if r := t.sim.Parts().RestOf(c+1, &t.clientTab[c].Keys[id]); r.Stage > 1 {
		return r
	}
	return simulator.Rest{}
}

// ended reports whether client c, from 0, has come to its end, or rests after its attempt and nothing of it goes on.
func (p *prover) ended(c int, id uint32) bool {
	r := restAfter(p.tables, c, id)
	switch {
	case r.Stage == 0:
		return p.clientTab[c].Keys[id].Ended()
	case r.Busy:
		p.proved.Once = i18n.New("prove.once.busy")
	case r.Kept:
		p.proved.Once = i18n.New("prove.once.memory")
	}
	return !r.Busy
}

// beginsAgain reports whether a move begins a second attempt.
func beginsAgain(t *tables, state []uint32, m *move) bool {
	return m.client >= 0 && t.choices[m.choice].Verb == simulator.Start &&
		restAfter(t, int(m.client), state[m.client]).Stage > 1
}

// atStart returns the shared part of the start.
func atStart(p *prover) shared {
	w := p.sim.NewWorld()
	s := shared{rest: p.restTab.ID(p.full.WithoutOrphans()), judge: p.idle.own[judged]}
	for n := range p.nodes {
		s.nodes[n] = p.node(n, &w)
	}
	if p.stride() > p.timeAt {
		s.present = p.times.ID(p.sim.Stamps().Recent(w.Now()))
	}
	return s
}

// close computes all views.
func (p *prover) close(ctx context.Context) error {
	seen := p.sim.Traits()
	p.add(p.groups.of(atStart(p)), p.idle)
	for i := 0; i < len(p.queue); i++ {
		if err := p.expand(p.queue[i]); err != nil {
			return err
		}
		if show := p.search.opt.Progress; show != nil && i%256 == 0 { // a view counts as a state
			show(&Result{States: p.proved.Views, Transitions: p.proved.Transitions, Open: p.proved.Views - i})
		}
		if err := p.search.checkSoon(); err != nil {
			return err
		}
		switch {
		case p.sim.Traits() != seen:
			return errNewTrait
		case ctx.Err() != nil:
			return ctx.Err()
		case p.proved.Views > p.most:
			return &NotProvableError{i18n.New(TooManyViews, "most", fmt.Sprint(p.most))}
		case p.proved.Worlds > worldsPerView*p.most:
			return &NotProvableError{i18n.New("prove.worlds", "most", fmt.Sprint(worldsPerView*p.most))}
		case p.sim.Histories() > mostHistories:
			return &NotProvableError{i18n.New("prove.histories", "most", fmt.Sprint(mostHistories))}
		case p.numbers.Exceeded != nil:
			return p.numbers.Exceeded
		}
	}
	if err := p.deadlock(); err != nil {
		return err
	}
	if err := p.sim.Symmetry().CheckPeers(); err != nil {
		return err
	}
	if err := p.sim.Symmetry().CheckRests(); err != nil {
		return err
	}
	p.proved.Closed = true
	if p.sim.Parts().Lasting() {
		p.proved.Once = i18n.New("prove.once.thread")
	}
	if err := p.search.checkCode(); err != nil {
		return err
	}
	for _, q := range p.queue {
		p.proved.Summaries = append(p.proved.Summaries, p.summary(q.of, q.at))
	}
	for _, v := range p.violations {
		shown := Violation{Verdict: v.verdict, Move: p.sim.Describe(v.move)}
		for _, at := range v.views[:p.size] {
			shown.Views = append(shown.Views, p.summary(v.of, at))
		}
		p.proved.Violations = append(p.proved.Violations, shown)
	}
	return nil
}

// summary is that of the view at a place of its group.
func (p *prover) summary(g *group, at int) Summary {
	v := &g.views[at]
	shared, own := &p.judgeTab.Keys[g.judge], &p.judgeTab.Keys[v.own[judged]]
	is := Summary{Stage: "gone", Owner: "free"}
	if v.part != p.absent[0] {
		is.Stage = stageNames[own.Reading().Stage(1)]
	}
	switch owner, held := shared.Reading().Owner(1); {
	case !held:
		return is
	case owner == 0:
		is.Owner = "unmade"
	default:
		is.Owner = statusNames[v.names[int(owner)-p.size-1]]
	}
	is.Left = p.sim.Parts().KeyLeft(&p.nodeTab.Keys[g.nodes[0]], client.Key)
	return is
}

var (
	stageNames = []string{
		verdict.Idle: "idle", verdict.Acquiring: "acquiring", verdict.Inside: "inside", verdict.Leaving: "leaving",
		verdict.Releasing: "releasing",
	}
	statusNames = []string{other: "other", self: "self", nobody: "nobody"}
)

// groups are all views, by their shared parts.
type groups map[shared]*group

// of returns the group of a shared part, which may be new.
func (all groups) of(s shared) *group {
	g := all[s]
	if g == nil {
		g = &group{shared: s, known: map[viewOf]int{}, byInterface: map[interfaceOf]*neighbours{}}
		all[s] = g
	}
	return g
}

// add enters a view of a shared part.
func (p *prover) add(g *group, v viewOf) {
	if _, known := g.known[v]; known {
		return
	}
	g.known[v] = len(g.views)
	p.queue = append(p.queue, queued{g, len(g.views)})
	g.views, g.alone = append(g.views, v), append(g.alone, nil)
	p.proved.Views++
}

// proof returns what the views have shown.
func (p *prover) proof(why *NotProvableError) *Proof {
	r := &p.proved
	if why != nil {
		r.Refused, r.Closed = why, false
	}
	p.search.learn()
	r.Covered = Result{
		Complete: r.Closed, Repeated: r.Closed, Symmetry: true, Histories: p.sim.Histories(),
		Lengths: p.search.lengths.List, Assumed: p.search.opt.assumed.held(p.sim), Measures: p.sim.Traits().Measured,
		Grain: p.sim.Stamps().Grain(), Triggered: slices.Sorted(maps.Keys(p.struck)),
	}
	r.Harms = slices.DeleteFunc(p.found.Words(), func(w verdict.Word) bool { return !slices.Contains(Provable, w) })
	return r
}
