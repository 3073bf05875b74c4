package search

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/client"
	"locklab/simulator/explore"
	"locklab/simulator/i18n"
)

// Bounds limit an exhaustive search, as they are written: explore.Scope, of which some may be
// left open, and what the rest of explore.Model is derived from. Clients are 1 to 6. Attempts are 1 to 9,
// for Explore also AutoAttempts and AnyAttempts. Nodes 0 are as many as the lock wants. Uses may be
// AutoUses. ClientRetries are 0 to MaxClientRetries.
type Bounds struct {
	explore.Scope
	// Retries is the number of times that a refused client asks again within one attempt, 0 to
	// explore.MaxRetries, at the times of explore.RetrySleeps; AutoRetries: as the
	// faults and the skew want it.
	Retries int
	Budget  faults.Budget // faults that may be injected
	Endless bool          // with AnyAttempts: each fault of the budget strikes any number of times
	Timing  Mode          // how time passes
	// Work is the time that a client works inside, at any timing at most; 0: two fifths of a lease,
	// a third at any timing.
	Work time.Duration
	// Latency is the time that a message to or from a server takes, and Lateness how late a timer
	// fires or a client goes on that was paused: at any timing, at most, in whole steps of Step;
	// AtOnce: not at all; 0: a step, and for messages to and from several servers AtOnce.
	Latency, Lateness time.Duration
	// Skew is by how much the clock of each client may be off from the start, either way: a
	// whole number of steps of Step, or 0.
	Skew time.Duration
	// Idle bounds, with AnyTiming, how long a client waits before it wants the lock.
	// Explore sets it where code reads a clock: without a bound time has no end.
	Idle  bool
	Epoch simulator.Date // when clocks begin
}

// MaxClientRetries is the most that Bounds.ClientRetries may be; go-redis's default is 3.
const MaxClientRetries = 5

// AutoRetries in place of a number of retries: none, or one where a clock may jump or be off.
const AutoRetries = -1

// DefaultBounds are those of a small search that finds most of what there is to
// find.
func DefaultBounds() Bounds {
	return Bounds{Scope: explore.Scope{Clients: 2, Attempts: usualAttempts, TTL: 9 * time.Second}, Retries: AutoRetries, Budget: "crash=1,pause=1"}
}

// Leases and faults are as long as this, at least and at most: servers count in
// milliseconds, and a search's longest wait must be far from the end of time.
const (
	minTTL  = 2 * time.Millisecond
	longest = 365 * 24 * time.Hour
)

// mostNoisy is the most that Bounds.Noisy may be: requests of one client a second.
const mostNoisy = 10_000

// Check says what is wrong with the bounds for this lock, and what would be right.
func (b Bounds) Check(entry lock.Entry) error {
	always := b.Timing == AnyTiming
	switch {
	case b.Clients < 1 || b.Clients > simulator.MaxClients-2:
		return i18n.Errorf("error.check.clients", "value", b.Clients, "most", simulator.MaxClients-2)
	case b.Attempts < 1 || b.Attempts > 9:
		return i18n.Errorf("error.bound.attempts", "value", b.Attempts)
	case b.Retries < AutoRetries || b.Retries > explore.MaxRetries:
		return i18n.Errorf("error.bound.retries", "value", b.Retries, "most", explore.MaxRetries)
	case b.Nodes < 0 || b.Nodes > simulator.MaxNodes:
		return i18n.Errorf("error.bound.nodes", "value", b.Nodes, "most", simulator.MaxNodes)
	case b.Nodes > 1 && entry.Servers() == 1:
		return i18n.Errorf("error.bound.nodes.one", "value", b.Nodes, "lock", entry.ID)
	case b.TTL <= 0 && entry.Sessions():
		return i18n.Errorf("error.bound.session", "value", b.TTL, "lock", entry.ID)
	case b.TTL < minTTL || b.TTL > longest:
		return i18n.Errorf("error.bound.ttl", "value", b.TTL, "least", minTTL, "most", longest)
	case always && b.TTL < minAnyTTL:
		return i18n.Errorf("error.bound.ttl.any", "value", b.TTL, "least", minAnyTTL)
	case always && b.Retries > 0:
		return i18n.Errorf("error.bound.retries.any", "value", b.Retries)
	case b.Timing == Lockstep && b.Uses == client.GiveUp:
		return i18n.Errorf("error.bound.uses.lockstep")
	case b.Work < 0 || b.Work > longest:
		return i18n.Errorf("error.bound.work", "value", b.Work, "most", longest)
	case b.ClientRetries < 0 || b.ClientRetries > MaxClientRetries:
		return i18n.Errorf("error.bound.client-retries", "value", b.ClientRetries, "most", MaxClientRetries)
	case b.ClientRetries > 0 && (entry.Sessions() || entry.Database != ""):
		return i18n.Errorf("error.bound.client-retries.zookeeper", "lock", entry.ID)
	case b.Fenced && !entry.Fences() && (entry.Database != "" || b.Settled(entry).Nodes != 1): // see lock.Fence
		return unfenced(entry, b)
	case (b.Latency != 0 || b.Lateness != 0) && b.Timing == Lockstep:
		return i18n.Errorf("error.bound.late.lockstep", "latency", FormatLate(b.Latency), "lateness", FormatLate(b.Lateness))
	case !b.isLate(b.Latency):
		return i18n.Errorf("error.bound.late", "name", "latency", "value", b.Latency, "step", b.Step(), "most", stepsPerLease*b.Step())
	case !b.isLate(b.Lateness):
		return i18n.Errorf("error.bound.late", "name", "lateness", "value", b.Lateness, "step", b.Step(), "most", stepsPerLease*b.Step())
	case b.Skew < 0 || b.Skew > maxSkewSteps*b.Step() || b.Skew%b.Step() != 0:
		return i18n.Errorf("error.bound.skew", "value", b.Skew, "step", b.Step(), "most", maxSkewSteps*b.Step())
	case b.MaxStates < 0:
		return i18n.Errorf("error.bound.states", "value", b.MaxStates)
	}
	if err := cmp.Or(canJudge(b), b.canInject(entry)); err != nil {
		return err
	}
	if (entry.Sessions() || entry.Database != "") && b.Allows(faults.Return) {
		return i18n.Errorf("error.bound.return", "budget", b.Budget, "lock", entry.ID, "clients", b.Clients+1)
	}
	if err := b.canUse(entry); err != nil {
		return err
	}
	if err := b.canTake(entry); err != nil {
		return err
	}
	env := race.StubEnv(entry, b.TTL)
	if b.Nodes > 0 {
		env.Nodes = env.Nodes[:min(b.Nodes, len(env.Nodes))]
	}
	return race.CheckEnv(entry, env)
}

// unfenced is the error of fencing tokens for a lock without a counter.
func unfenced(entry lock.Entry, b Bounds) error {
	if entry.Database != "" {
		return i18n.Errorf("error.bound.fenced.database", "lock", entry.ID)
	}
	return i18n.Errorf("error.bound.fenced", "lock", entry.ID, "nodes", b.Settled(entry).Nodes)
}

// canJudge refuses bounds of verdicts that are none, and to count requests at any timing: two that are less than a step apart may be
// in one second or in two.
func canJudge(b Bounds) error {
	switch {
	case b.Slow < 0 || b.Slow > longest:
		return i18n.Errorf("error.bound.slow", "value", b.Slow, "most", longest)
	case b.Noisy < 0 || b.Noisy > mostNoisy:
		return i18n.Errorf("error.bound.noisy", "value", b.Noisy, "most", mostNoisy)
	case b.Noisy > 0 && b.Timing == AnyTiming:
		return i18n.Errorf("error.bound.noisy.any", "value", b.Noisy)
	}
	return nil
}

// canInject refuses a budget with a clock that jumps by nothing, or with lists of servers that may
// change where no client has one: a proof against that would prove nothing.
func (b Bounds) canInject(entry lock.Entry) error {
	budget, err := b.Budget.Parse()
	total := time.Duration(0)
	for _, a := range budget {
		if a.Max > longest {
			return i18n.Errorf("error.bound.fault", "budget", b.Budget, "fault", a.Fault.Name, "value", a.Max, "most", longest)
		}
		if total += time.Duration(a.Times) * a.Max; total > 10*longest {
			return i18n.Errorf("error.bound.faults", "budget", b.Budget, "most", 10*longest)
		}
		if a.Fault == faults.ServerList && a.Times > 0 && entry.Shards == 0 {
			return i18n.Errorf("error.bound.list", "budget", b.Budget, "lock", entry.ID)
		}
		if jumps(a) && a.Times > 0 && a.Max == 0 {
			return i18n.Errorf("error.bound.jump", "budget", b.Budget, "fault", a.Fault.Name, "times", a.Times)
		}
	}
	return err
}

// Allows reports whether the budget has a fault.
func (b Bounds) Allows(fault *simulator.Fault) bool { return b.Budget.Allows(fault) }

// jumps reports whether a fault makes a clock jump.
func jumps(a simulator.FaultBudget) bool {
	return a.Fault == faults.ClientClock || a.Fault == faults.NodeClock
}

// Settled fills in what was left open. A clock that jumps or is off ends a lease early,
// which shows only if a client asks early.
func (b Bounds) Settled(entry lock.Entry) Bounds {
	b = b.as(entry.Search, entry)
	if b.Nodes == 0 {
		b.Nodes = entry.Servers()
	}
	if b.Retries == AutoRetries {
		b.Retries = 0
		if b.Timing != AnyTiming && clockJumps(b.Budget.Faults())+b.Skew > 0 {
			b.Retries = 1
		}
	}
	b.Uses = b.settledUses(entry)
	b.Budget = b.Budget.Canonical()
	return b
}

// clockJumps is by how much a budget can set clocks wrong in all.
func clockJumps(budget []simulator.FaultBudget) (d time.Duration) {
	for _, a := range budget {
		if jumps(a) {
			d += time.Duration(a.Times) * a.Max
		}
	}
	return d
}

// FewServers returns the number of servers that a lock gets where many are searched: as many as it wants, but
// no more than three, the least number that makes a majority of more than one.
func FewServers(entry lock.Entry) int { return min(entry.Servers(), 3) }

// replicas returns the number of replicas that the faults of a budget need.
func replicas(budget []simulator.FaultBudget) int {
	for _, a := range budget {
		if a.Fault == faults.Failover || a.Fault == faults.Split {
			return 1
		}
	}
	return 0
}

// String writes the bounds as ParseBounds reads them.
func (b Bounds) String() string {
	text := fmt.Sprintf("clients=%d,attempts=%s,retries=%s,nodes=%d,ttl=%v,fenced=%t,budget=%s",
		b.Clients, FormatAttempts(b.Attempts), FormatRetries(b.Retries), b.Nodes, b.TTL, b.Fenced, inLink(writtenBudget(b)))
	for _, u := range slices.Concat(b.Unlike(Bounds{}, "timing"), b.Unusual(), b.Unlike(Bounds{}, "idle", simulator.EpochSetting)) {
		text += "," + u.Name + "=" + inLink(u.Value)
	}
	return text
}

// A Bound is one of the Bounds, by the name that ParseBounds and locklab explore have for it.
type Bound struct{ Name, Value string }

// Unlike are the bounds of these names that are not as in usual.
func (b Bounds) Unlike(usual Bounds, names ...string) (list []Bound) {
	for _, name := range names {
		i := indexOf(name)
		if value := bounds[i].write(b); value != bounds[i].write(usual) {
			list = append(list, Bound{name, value})
		}
	}
	return list
}

// Unusual are the bounds that were set of those that are usually not.
func (b Bounds) Unusual() []Bound {
	return b.Unlike(Bounds{}, "work", "latency", "lateness", "uses", "client-retries", "skew", "tokens", "slow", "noisy")
}

// Flags are those of locklab explore that give these bounds.
func (b Bounds) Flags() string {
	line := fmt.Sprintf("--timing %s --clients %d --attempts %s", b.Timing, b.Clients, FormatAttempts(b.Attempts))
	for _, u := range append(b.Unlike(DefaultBounds(), "retries", "nodes", "ttl", "fenced"), b.Unusual()...) {
		line += " --" + u.Name
		if u.Name != "fenced" {
			line += " " + u.Value
		}
	}
	if b.Uses == 0 { // where it is left out it is auto
		line += " --uses none"
	}
	return line + fmt.Sprintf(" --budget '%s' --max-states %d", writtenBudget(b), b.MaxStates)
}

// FormatRetries writes Bounds.Retries: "auto" or a number.
func FormatRetries(n int) string {
	if n == AutoRetries {
		return "auto"
	}
	return strconv.Itoa(n)
}

// FormatAttempts writes Bounds.Attempts: a number, or "any".
func FormatAttempts(n int) string {
	if n == AnyAttempts {
		return AnyTimes
	}
	return strconv.Itoa(n)
}

// ParseAttempts reads Bounds.Attempts: a number, "auto" or "any".
func ParseAttempts(written string) (int, error) {
	if written == AnyTimes {
		return AnyAttempts, nil
	}
	n, ok := autoOr(written)
	if !ok || n == 0 {
		return 0, i18n.Errorf("error.attempts", "value", written)
	}
	return n, nil
}

// ParseRetries reads what FormatRetries wrote.
func ParseRetries(written string) (int, error) {
	n, ok := autoOr(written)
	if !ok {
		return 0, i18n.Errorf("error.bound.retries", "value", written, "most", explore.MaxRetries)
	}
	return n, nil
}

// autoOr reads a number, or "auto" as -1.
func autoOr(written string) (n int, ok bool) {
	if written == "auto" {
		return -1, true
	}
	u, err := strconv.ParseUint(written, 10, 8)
	return int(u), err == nil
}

// A bound is how one of the Bounds is read and written.
type bound struct {
	name  string
	want  i18n.Message // what a value must be; zero: the error of read says it
	read  func(b *Bounds, value string) error
	write func(b Bounds) string
}

// boundOf is the bound that a field is.
func boundOf[T any](
	name string, want i18n.Message, field func(b *Bounds) *T, read func(string) (T, error), write func(T) string,
) bound {
	return bound{
		name, want,
		func(b *Bounds, value string) (err error) {
			*field(b), err = read(value)
			return err
		},
		func(b Bounds) string { return write(*field(&b)) },
	}
}

func integer(name string, field func(b *Bounds) *int) bound {
	return boundOf(name, i18n.New("error.want.integer"), field, strconv.Atoi, strconv.Itoa)
}

func length(name string, field func(b *Bounds) *time.Duration) bound {
	return boundOf(name, i18n.New("error.want.length"), field, time.ParseDuration, time.Duration.String)
}

func late(name string, field func(b *Bounds) *time.Duration) bound {
	return boundOf(name, i18n.Message{}, field, ParseLate, FormatLate)
}

func switched(name string, field func(b *Bounds) *bool) bound {
	return boundOf(name, i18n.New("error.want.bool"), field, strconv.ParseBool, strconv.FormatBool)
}

// bounds are all that String writes, in the order of help texts.
var bounds = []bound{
	integer("clients", func(b *Bounds) *int { return &b.Clients }),
	integer("attempts", func(b *Bounds) *int { return &b.Attempts }),
	boundOf("retries", i18n.New("error.bound.want.retries", "most", explore.MaxRetries),
		func(b *Bounds) *int { return &b.Retries }, ParseRetries, FormatRetries),
	integer("nodes", func(b *Bounds) *int { return &b.Nodes }),
	length("ttl", func(b *Bounds) *time.Duration { return &b.TTL }),
	switched("fenced", func(b *Bounds) *bool { return &b.Fenced }),
	boundOf("timing", i18n.New("error.want.timing"), func(b *Bounds) *Mode { return &b.Timing }, ParseMode, Mode.String),
	length("work", func(b *Bounds) *time.Duration { return &b.Work }),
	late("latency", func(b *Bounds) *time.Duration { return &b.Latency }),
	late("lateness", func(b *Bounds) *time.Duration { return &b.Lateness }),
	boundOf("uses", i18n.Message{}, func(b *Bounds) *client.Uses { return &b.Uses }, usesInLink, FormatUses),
	integer("client-retries", func(b *Bounds) *int { return &b.ClientRetries }),
	length("skew", func(b *Bounds) *time.Duration { return &b.Skew }),
	boundOf("tokens", i18n.Message{},
		func(b *Bounds) *client.Tokens { return &b.Tokens }, ParseTokens, client.Tokens.String),
	length("slow", func(b *Bounds) *time.Duration { return &b.Slow }),
	integer("noisy", func(b *Bounds) *int { return &b.Noisy }),
	switched("idle", func(b *Bounds) *bool { return &b.Idle }),
	boundOf(simulator.EpochSetting, i18n.Message{}, func(b *Bounds) *simulator.Date { return &b.Epoch }, simulator.ParseDate, simulator.Date.String),
	boundOf("budget", i18n.Message{}, func(b *Bounds) *faults.Budget { return &b.Budget }, budgetInLink, func(b faults.Budget) string { return string(b) }),
}

// inLink writes a list as a part of String, which separates bounds by commas.
func inLink(list string) string { return strings.ReplaceAll(list, ",", "+") }

func usesInLink(value string) (client.Uses, error) {
	return ParseUses(strings.ReplaceAll(value, "+", ","))
}

func budgetInLink(value string) (faults.Budget, error) { // Check reads it
	return faults.Budget(strings.ReplaceAll(value, "+", ",")).Canonical(), nil
}

// indexOf is that of a bound in bounds; below 0: there is none of the name.
func indexOf(name string) int {
	return slices.IndexFunc(bounds, func(one bound) bool { return one.name == name })
}

// BoundNames are the names of the bounds that Set sets, but for the date, which only links have.
func BoundNames() (names []string) {
	for _, one := range bounds {
		if one.name != simulator.EpochSetting {
			names = append(names, one.name)
		}
	}
	return names
}

// ParseBounds reads what String wrote; what is missing is zero, and Retries auto. The error names the item.
func ParseBounds(written string) (b Bounds, err error) {
	b.Retries = AutoRetries
	for _, item := range strings.Split(written, ",") {
		name, value, _ := strings.Cut(item, "=")
		if err := setBound(&b, item, name, value); err != nil {
			return b, err
		}
	}
	return b, nil
}

// Set sets one bound. The error names it and its value.
func (b *Bounds) Set(name, value string) error { return setBound(b, name+"="+value, name, value) }

func setBound(b *Bounds, item, name, value string) error {
	wrong := func(cause any) error { return i18n.Errorf("error.bound", "item", item, "cause", cause) }
	i := indexOf(name)
	switch {
	case name == "asks": // as it was once called
		return wrong(i18n.Errorf("error.bound.asks"))
	case i < 0:
		return wrong(i18n.Errorf("error.bound.unknown"))
	}
	switch err := bounds[i].read(b, value); {
	case err == nil:
		return nil
	case bounds[i].want.IsZero():
		return wrong(err)
	}
	return wrong(bounds[i].want)
}

// Model returns what is searched of one lock, with what was left open filled in. The
// error is about the budget.
func (b Bounds) Model(entry lock.Entry) (*explore.Model, error) {
	b = b.Settled(entry)
	budget, err := b.Budget.Parse()
	if err != nil {
		return nil, err
	}
	return &explore.Model{
		Scope: b.Scope, Entry: entry, Timing: b.timing(entry), Inside: b.Work, Retries: explore.RetrySleeps(b.TTL, b.Retries),
		Replicas: replicas(budget), Faults: budget, Epoch: b.Epoch, ClockJumps: clockJumps(budget) + b.Skew, Skews: b.skews(),
	}, nil
}

// Race stands in place of a race in an outcome.
func (b Bounds) Race() race.Race { return race.Race{ID: SearchID} }

// Faults is the budget, for texts; "none" if it is empty.
func (b Bounds) Faults() string { return FormatBudget(b.Budget, b.Endless) }

// writtenBudget writes the budget of b as EndlessBudget reads it; "" if it is empty.
func writtenBudget(b Bounds) string {
	if b.Endless {
		return string(inTimes(b.Budget, AnyTimes))
	}
	return string(b.Budget)
}
