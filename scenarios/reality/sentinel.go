package reality

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"locklab/algorithms/lock"
	"locklab/simulator/history"
	"locklab/simulator/i18n"
	"locklab/simulator/realserver"
	"locklab/simulator/record"
	"locklab/simulator/verdict"
)

// Sentinel's defaults.
const (
	DownAfter       = 30 * time.Second
	FailoverTimeout = 3 * time.Minute
)

// What happens to the master.
const (
	Partitioned = "partition" // with the first client it is cut off from the Sentinels, the replica and the second client, until that one has the lock
	Paused      = "pause"     // SIGSTOP, and SIGCONT when the second client has the lock
	Killed      = "kill"      // SIGKILL
)

// SentinelFaults are these.
func SentinelFaults() []string { return []string{Partitioned, Paused, Killed} }

// A SentinelDemo is one master with a replica and three Sentinels, two of which must agree. The first client
// works on the master, which it knows by its address: it takes the lock, works for a quarter of the
// lease, and releases it, again and again. While it is inside the master gets into trouble. From then on the
// second client, a FailoverClient of go-redis, does the same.
type SentinelDemo struct {
	Lock      lock.Entry // on one Redis without replicas
	Fault     string
	DownAfter time.Duration // down-after-milliseconds, in whole milliseconds
	TTL       time.Duration
	// Periods is the interval at which Sentinel asks the servers and publishes to the others; 0: as it does by default, every second
	// to every ten seconds. Else the failover timeout is twenty of them: Sentinels that have each voted for
	// themselves try again after twice that time.
	Periods time.Duration
	Record  *record.Recorder // of what the clients see; nil: it is not recorded
}

func (d SentinelDemo) failoverTimeout() time.Duration {
	if d.Periods == 0 {
		return FailoverTimeout
	}
	return 20 * d.Periods
}

// A SentinelRun is what came of it. Times count from the fault.
type SentinelRun struct {
	Version string // of redis-server
	Moments []Moment
	Waited  time.Duration // until the client that follows the Sentinels had the lock
	Two     time.Duration // while both clients were inside
	// Demoted is the time at which the old master had become a replica, after it was back; 0: it was killed.
	Demoted  time.Duration
	Verdicts []verdict.Word // of the safety of the clients' entries and exits: judges see no keys
}

// A Moment is what a client or a server did or said.
type Moment struct {
	At   time.Duration `json:"at_ns"` // since the fault
	Who  string        `json:"who"`   // "c1", "c2", "sentinel", "master"
	What string        `json:"what"`  // of a Sentinel its own word, as "+odown"; else a key of the catalogues of texts, without its prefix "sentinel.moment."
	Note string        `json:"note,omitempty"`
}

// An AwaitedError is that something did not happen in time.
type AwaitedError struct{ error }

func (e AwaitedError) Unwrap() error { return e.error }

// masterName is the name that the Sentinels have for the master.
const masterName = "locklab"

// pollEvery is the interval at which is asked for what is awaited.
const pollEvery = 10 * time.Millisecond

// Play makes the demonstration. progress, if it is not nil, gets the time for which it has run. The error is ctx's, about
// the machine, or that something did not happen in time.
func (d SentinelDemo) Play(ctx context.Context, progress func(ran time.Duration)) (run *SentinelRun, err error) {
	folder, err := realserver.NewFolder()
	if err != nil {
		return nil, err
	}
	defer folder.Close()
	s := &sentinelSetup{SentinelDemo: d, folder: folder.Path, run: &SentinelRun{}, began: time.Now(), progress: progress}
	defer s.close()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := s.start(ctx); err != nil {
		return nil, err
	}
	return s.run, s.play(ctx)
}

// A sentinelSetup is the servers of a demonstration.
type sentinelSetup struct {
	SentinelDemo
	folder   string
	began    time.Time
	progress func(ran time.Duration)
	run      *SentinelRun

	master    *realserver.Redis
	gate      *realserver.Gate // in front of the master, for all who are not on its side
	others    []*realserver.Process
	sentinels []string

	mu      sync.Mutex
	fault   time.Time // zero: not yet
	events  []history.Event
	aborted string           // why the Sentinel has given up its last attempt, in its own word
	inside  [2]chan struct{} // one comes when a client enters for the first time
}

func (s *sentinelSetup) close() {
	for _, p := range s.others {
		p.Kill()
	}
	if s.master != nil {
		s.master.Kill()
	}
	if s.gate != nil {
		s.gate.Close()
	}
}

// start runs all servers, and waits until the Sentinels know them and each other.
func (s *sentinelSetup) start(ctx context.Context) (err error) {
	if s.master, err = realserver.NewRedis(ctx, s.folder, nil, "--repl-diskless-sync-delay", "0"); err != nil {
		return err
	}
	if s.run.Version, err = s.master.Version(); err != nil {
		return err
	}
	if s.gate, err = realserver.NewGate(s.master.Address.String()); err != nil {
		return err
	}
	host, port, _ := net.SplitHostPort(s.gate.Addr())
	replica, err := realserver.StartRedis(ctx, s.folder, nil, "--replicaof", host+" "+port, "--dbfilename", "replica.rdb")
	if err != nil {
		return err
	}
	s.others = append(s.others, replica)
	for range 3 {
		p, err := realserver.StartSentinel(ctx, s.folder, masterName, s.gate.Addr(), 2)
		if err != nil {
			return err
		}
		s.others, s.sentinels = append(s.others, p), append(s.sentinels, p.Addr)
	}
	for _, addr := range s.sentinels {
		if err := s.set(ctx, addr); err != nil {
			return err
		}
	}
	for _, addr := range s.sentinels {
		if err := s.ready(ctx, addr); err != nil {
			return err
		}
	}
	return nil
}

// set gives a Sentinel what is not its default.
func (s *sentinelSetup) set(ctx context.Context, addr string) error {
	c := redis.NewSentinelClient(&redis.Options{Addr: addr})
	defer c.Close()
	if s.DownAfter != DownAfter {
		if err := c.Set(ctx, masterName, "down-after-milliseconds", strconv.FormatInt(s.DownAfter.Milliseconds(), 10)).Err(); err != nil {
			return err
		}
	}
	if s.Periods == 0 {
		return nil
	}
	if err := c.Set(ctx, masterName, "failover-timeout", strconv.FormatInt(s.failoverTimeout().Milliseconds(), 10)).Err(); err != nil {
		return err
	}
	w, err := realserver.AddressOf(addr).Dial()
	if err != nil {
		return err
	}
	defer w.Close()
	// A replica whose INFO is older than five ping periods is not promoted, and it is asked once a second: that one stays.
	for _, name := range []string{"info-period", "ask-period", "publish-period", "slave-reconf-timeout", "election-timeout"} {
		d := s.Periods
		if strings.HasSuffix(name, "-timeout") {
			d *= 10
		}
		if _, err := w.Do("SENTINEL", "DEBUG", name, strconv.FormatInt(d.Milliseconds(), 10)); err != nil {
			return err
		}
	}
	return nil
}

// ready waits until a Sentinel knows the other two, and a replica that it could promote.
func (s *sentinelSetup) ready(ctx context.Context, addr string) error {
	c := redis.NewSentinelClient(&redis.Options{Addr: addr})
	defer c.Close()
	return s.await(ctx, time.Minute, "sentinel.awaited.ready", func() (bool, error) {
		master, err := c.Master(ctx, masterName).Result()
		if err != nil || master["flags"] != "master" || master["num-other-sentinels"] != "2" || master["num-slaves"] != "1" {
			return false, err
		}
		replicas, err := c.Replicas(ctx, masterName).Result()
		return err == nil && len(replicas) == 1 && replicas[0]["flags"] == "slave" && replicas[0]["master-link-status"] == "ok", err
	})
}

// await waits until something is so, which it asks again and again.
func (s *sentinelSetup) await(ctx context.Context, most time.Duration, what string, is func() (bool, error)) error {
	tick := time.NewTicker(pollEvery)
	defer tick.Stop()
	for limit := time.Now().Add(most); ; {
		if ok, err := is(); ok || err != nil {
			return err
		}
		if s.progress != nil {
			s.progress(time.Since(s.began))
		}
		if time.Now().After(limit) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.aborted != "" {
				return AwaitedError{i18n.Errorf("error.sentinel.aborted", "what", i18n.New(what), "most", most, "word", s.aborted, "again", 2*s.failoverTimeout())}
			}
			return AwaitedError{i18n.Errorf("error.sentinel.late", "what", i18n.New(what), "most", most)}
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
		}
	}
}

// note records a moment.
func (s *sentinelSetup) note(who, what, note string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if strings.HasPrefix(what, "-failover-abort") {
		s.aborted = what
	}
	if !s.fault.IsZero() {
		s.run.Moments = append(s.run.Moments, Moment{time.Since(s.fault), who, what, note})
	}
}

// happened records an action of a client.
func (s *sentinelSetup) happened(e history.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e.At = time.Since(s.began)
	s.events = append(s.events, e)
}

// timeout returns the time that a client waits for an answer: as go-redis does by default, but less than a lease.
func (s *sentinelSetup) timeout() time.Duration { return min(3*time.Second, s.TTL/3) }

// listen notes what the first Sentinel publishes, until stop is called.
func (s *sentinelSetup) listen(ctx context.Context) (stop func(), err error) {
	listener := redis.NewSentinelClient(&redis.Options{Addr: s.sentinels[0]})
	news := listener.PSubscribe(ctx, "*")
	var receiver sync.WaitGroup
	stop = func() { news.Close(); receiver.Wait(); listener.Close() }
	if _, err := news.Receive(ctx); err != nil {
		stop()
		return nil, err
	}
	receiver.Go(func() {
		for m := range news.Channel() {
			kind, rest, _ := strings.Cut(m.Payload, " ")
			if m.Channel == "+switch-master" {
				kind, rest = "master", strings.Join(strings.Fields(rest)[2:], ":")
			} else {
				rest = ""
			}
			s.note("sentinel", m.Channel, strings.TrimSpace(kind+" "+rest))
		}
	})
	return stop, nil
}

// play makes the demonstration on servers that are ready.
func (s *sentinelSetup) play(ctx context.Context) error {
	unlisten, err := s.listen(ctx)
	if err != nil {
		return err
	}
	defer unlisten()
	first := redis.NewClient(&redis.Options{Addr: s.master.Address.String(), MaxRetries: -1, ReadTimeout: s.timeout(), WriteTimeout: s.timeout(), DialTimeout: s.timeout(),
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled}})
	defer first.Close()
	second := redis.NewFailoverClient(&redis.FailoverOptions{MasterName: masterName, SentinelAddrs: s.sentinels,
		MaxRetries: -1, ReadTimeout: s.timeout(), WriteTimeout: s.timeout(), DialTimeout: s.timeout()})
	defer second.Close()
	var clients sync.WaitGroup
	stop := make(chan struct{})
	s.inside = [2]chan struct{}{make(chan struct{}), make(chan struct{})}
	clients.Go(func() { s.client(ctx, 1, first, stop) })
	end := sync.OnceFunc(func() { close(stop); clients.Wait() })
	defer end()
	if err := s.await(ctx, time.Minute, "sentinel.awaited.c1", s.entered(1)); err != nil {
		return err
	}
	undo, err := s.inject()
	if err != nil {
		return err
	}
	clients.Go(func() { s.client(ctx, 2, second, stop) })
	err = s.await(ctx, s.DownAfter+time.Minute, "sentinel.awaited.c2", s.entered(2))
	if undone := undo(); err == nil {
		err = undone
	}
	if err == nil && s.Fault != Killed {
		err = s.await(ctx, time.Minute, "sentinel.awaited.demoted", func() (bool, error) {
			info, err := s.master.Info("replication")
			if err != nil {
				err = s.master.Reconnect() // Sentinel ends the connections of the master that it demotes
			}
			return info["role"] == "slave", err
		})
	}
	if err != nil {
		return err
	}
	if s.Fault != Killed {
		s.run.Demoted = time.Since(s.fault)
		s.note("master", "demoted", "")
	}
	end()
	s.judge()
	return ctx.Err()
}

// entered reports whether a client has been inside.
func (s *sentinelSetup) entered(client int) func() (bool, error) {
	return func() (bool, error) {
		select {
		case <-s.inside[client-1]:
			return true, nil
		default:
			return false, nil
		}
	}
}

// inject brings the master into trouble. undo ends it.
func (s *sentinelSetup) inject() (undo func() error, err error) {
	info, err := s.master.Info("server")
	if err != nil {
		return nil, err
	}
	pid, err := strconv.Atoi(info["process_id"])
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	s.fault = time.Now()
	s.mu.Unlock()
	s.note("master", s.Fault, "")
	switch s.Fault {
	case Partitioned:
		s.gate.Cut()
		return func() error { s.note("master", "healed", ""); s.gate.Open(); return nil }, nil
	case Paused:
		return func() error { s.note("master", "resumed", ""); return syscall.Kill(pid, syscall.SIGCONT) }, syscall.Kill(pid, syscall.SIGSTOP)
	}
	s.master.Kill()
	s.master = nil
	s.gate.Close() // connections to it are refused
	return func() error { return nil }, nil
}

// client takes the lock, works and releases it, until it is stopped.
func (s *sentinelSetup) client(ctx context.Context, i int, conn *redis.Client, stop <-chan struct{}) {
	clock := machineClock{clockwork.NewRealClock(), ctx}
	env := lock.Production(s.TTL, conn)
	env.Clock = clock
	who, refusal := fmt.Sprintf("c%d", i), ""
	strategy := record.Wrap(s.Lock.New(env), s.Record, who)
	for attempt := 1; ctx.Err() == nil; attempt++ {
		select {
		case <-stop:
			return
		default:
		}
		happened := func(k history.EventKind, note string) {
			s.happened(history.Event{Kind: k, Client: i, Lease: 1 + (attempt-1)%255, Note: note})
		}
		happened(history.Acquire, "")
		lease, err := strategy.Acquire(ctx, "lock")
		if err != nil {
			happened(history.Refuse, err.Error())
			if refused := errors.Is(err, lock.ErrNotAcquired); refusal != fmt.Sprint(refused) {
				refusal = fmt.Sprint(refused)
				s.note(who, map[bool]string{true: "refused", false: "fails"}[refused], err.Error())
			}
			clock.Sleep(pollEvery)
			continue
		}
		happened(history.Enter, "")
		if refusal != "in" {
			refusal = "in"
			s.note(who, "enters", "")
		}
		select {
		case <-s.inside[i-1]:
		default:
			close(s.inside[i-1])
		}
		clock.Sleep(s.TTL / 4)
		happened(history.Leave, "")
		happened(history.Release, "")
		note := ""
		if err := lease.Release(ctx); err != nil {
			note = err.Error()
			s.note(who, "release", note)
		}
		happened(history.Released, note)
	}
}

// judge measures, and asks the judges.
func (s *sentinelSetup) judge() {
	s.mu.Lock()
	defer s.mu.Unlock()
	fault := s.fault.Sub(s.began)
	var in [2]time.Duration // since when; 0: outside
	for _, e := range s.events {
		switch i := e.Client - 1; e.Kind {
		case history.Enter:
			if in[i] = e.At; i == 1 && s.run.Waited == 0 {
				s.run.Waited = e.At - fault
			}
		case history.Leave:
			if both := max(in[0], in[1]); in[0] > 0 && in[1] > 0 {
				s.run.Two += e.At - both
			}
			in[i] = 0
		}
	}
	s.run.Verdicts = verdict.Judge(&history.History{
		Strategy: s.Lock.ID, Scenario: "sentinel", Clients: 2, Nodes: 1, Key: "lock", TTL: s.TTL, Open: true,
		End: time.Since(s.began), Horizon: true, Events: s.events,
	}).Safety()
	if len(s.run.Verdicts) == 0 {
		s.run.Verdicts = []verdict.Word{verdict.Holds}
	}
}
