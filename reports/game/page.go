package game

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/faults"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// firstShown is the level whose shortest way a page shows while its engine loads: the token and a pause.
const firstShown = 8

// budgets are those that a page offers for a lock of one's own choice.
var budgets = []faults.Budget{
	"crash=1,pause=1", "crash=1", "pause=1", "lose-reply=1", "lose-request=1", "delay=1@9s", "restart=1", "failover=1",
	"split=1", "client-clock=1@11s", "node-clock=1@11s", "delete=1", "expire-session=1", "crash=1,failover=1",
	"pause=2", "",
}

// PageData returns the JSON that a page shows before its engine is ready: its texts, the course, the locks and a run.
func PageData() ([]byte, error) {
	var t Table
	defer t.Close()
	ctx, course := context.Background(), Levels()
	start, err := t.do(ctx, Request{Do: "level", Number: firstShown})
	if err != nil {
		return nil, err
	}
	shown, err := t.do(ctx, Request{Do: "way", Link: start.(*Position).Link, Harm: course[firstShown-1].Harm})
	if err != nil {
		return nil, err
	}
	offered := lists.Each(budgets, func(b faults.Budget) any { return []any{b, orNone(b)} })
	texts := map[string]map[string]string{}
	for _, lang := range text.Languages() {
		texts[lang] = text.Texts(lang, "play.", "board.", "quiz.", "meaning.", "motion.", "term.timeline.",
			"list.faults", "word.", "explain.source", "label.race.mends")
	}
	return json.Marshal(map[string]any{
		"version": Format, "texts": texts, "levels": course, "locks": locks(), "races": races(), "shown": shown,
		"budgets": offered,
	})
}

// A Level is a level of the course. Whether it can be solved is not said.
type Level struct {
	Number   int          `json:"number"`
	ID       string       `json:"id"`
	Lock     string       `json:"lock"`
	Budget   string       `json:"budget"`
	Harm     verdict.Word `json:"harm"`
	Said     Words        `json:"said"` // what to bring about
	Title    Words        `json:"title"`
	Learn    Words        `json:"learn"`
	Question Words        `json:"question"`
	Topic    string       `json:"topic"`
	Code     Words        `json:"code"`           // the lock in a few lines
	More     bool         `json:"more,omitempty"` // it stands behind the course
}

// Levels is the course.
func Levels() (all []Level) {
	for i, l := range play.Levels() {
		all = append(all, Level{
			Number: i + 1, ID: l.ID, Lock: l.Lock, Budget: l.Budget, Harm: l.Harm, Said: aim(l.Harm),
			Title: levelText(&l, "title"), Learn: levelText(&l, "learn"), Question: levelText(&l, "question"),
			Topic: l.Topic, Code: codeOf(&l), More: i >= play.Course,
		})
	}
	return all
}

// A Named is a lock or a race that can be played.
type Named struct {
	ID     string `json:"id"`
	Short  string `json:"short,omitempty"` // of a race: its number
	Title  Words  `json:"title"`
	Family Words  `json:"family,omitempty"` // of locks or of races: its title
	Start  bool   `json:"start,omitempty"`  // the path of lessons tells of it
	Next   string `json:"next,omitempty"`   // the lock that was meant to mend it

	Never []string `json:"never,omitempty"` // the faults that can never strike it
}

// never are the faults of budgets that cannot strike a lock on its servers.
func never(e lock.Entry) (all []string) {
	server, session := e.Local() || e.OnZooKeeper(), e.Sessions() && e.Guard == ""
	for fault, never := range map[*simulator.Fault]bool{
		faults.Restart: server, faults.Failover: server, faults.NodeClock: server, faults.ExpireSession: !session,
		faults.Split: server || e.Database != "", faults.Delete: server || session || e.Guard != "",
	} {
		if never {
			all = append(all, fault.Name)
		}
	}
	slices.Sort(all)
	return all
}

func locks() (all []Named) {
	for _, e := range algorithms.All() {
		next, _ := race.Successor(e)
		title, family := titled(text.LockTitle, e.ID), titled(text.FamilyTitle, string(e.Family))
		all = append(all, Named{e.ID, "", title, family, onPath(e.ID), next.ID, never(e)})
	}
	return all
}

func races() (all []Named) {
	for _, sc := range scenarios.All() {
		title, family := titled(text.RaceTitle, sc.ID), words("list.races."+sc.Group)
		all = append(all, Named{sc.ID, sc.Code, title, family, onPath(sc.ID), "", nil})
	}
	return all
}

// onPath reports whether a screen of the path tells of a lock or a race.
func onPath(id string) bool {
	return slices.Contains(slices.Collect(maps.Values(text.Texts("en", "path."))), id)
}

// A RaceRun is the run of a lock in a race, under the title of the race, with the lines of the lock's code.
type RaceRun struct {
	Run
	Race          string    `json:"race"`                     // "search": none
	Price         Words     `json:"price,omitempty"`          // of surviving the race
	Vacuous       Words     `json:"vacuous,omitempty"`        // why nothing was tested
	NotApplicable Words     `json:"not_applicable,omitempty"` // why there is no run
	NotInjected   []Words   `json:"not_injected,omitempty"`
	Settings      []Setting `json:"settings"`
}

// A Setting is one of a race that can be changed.
type Setting struct {
	Name  string        `json:"name"`
	Value time.Duration `json:"value_ns"`
	Usual time.Duration `json:"usual_ns"` // the race's own
}

// playRace plays a lock in a race.
func playRace(lock, raceID, settings string) (*RaceRun, error) {
	entry, err := race.Lock(lock)
	sc, absent := scenarios.ByName(raceID)
	s, wrong := sc.Settings.With(settings)
	if err := cmp.Or(err, absent, wrong); err != nil {
		return nil, err
	}
	return raceRunOf((&race.Runner{Lines: true}).Play(entry, sc, s))
}

// replay plays a trace again, or its attack on another lock.
func replay(t simulator.Trace, lock string) (*RaceRun, error) {
	play := search.Against
	if lock == "" || lock == t.Lock {
		lock, play = t.Lock, search.ReplayWithCodeOn
	}
	entry, err := race.Lock(lock)
	if err != nil {
		return nil, err
	}
	return raceRunOf(play(entry, t))
}

// harmless says why nothing was tested: the lease outlived a pause, or it did not come to what the race is about.
func harmless(h *history.History) Words {
	for n, e := range h.Events {
		if past := *h; e.Kind == history.Resume && h.Nodes == 1 {
			past.Events = h.Events[:n]
			at := stateOf(&past)
			until := at.lease(e.Client)
			if at.stage(e.Client) == verdict.Inside && at.owner(1) == e.Client && until < history.Forever {
				return words("board.vacuous.pause", "client", clientName(e.Client), "left", seconds(until-e.At))
			}
		}
	}
	return words("board.vacuous")
}

func raceRunOf(o *race.Outcome, err error) (*RaceRun, error) {
	if err != nil {
		return nil, err
	}
	r := &RaceRun{Run: runOf(o, true), Race: o.Race.ID, Settings: []Setting{}}
	r.Link = o.Trace.Link()
	usual, _ := scenarios.ByName(o.Race.ID) // none for what a search has found
	for _, s := range o.Settings.Lengths() {
		sameName := func(u race.Setting) bool { return u.Name == s.Name }
		for _, was := range lists.Pick(usual.Settings.Lengths(), sameName) {
			r.Settings = append(r.Settings, Setting{s.Name, s.Length, was.Length})
		}
	}
	if r.Title = OwnTitle(o); o.Verdicts[0] == verdict.Vacuous {
		r.Vacuous = harmless(o.History)
	}
	for _, why := range o.NotInjected {
		r.NotInjected = append(r.NotInjected, errorWords(why))
	}
	if o.NotApplicable != "" {
		r.Moving, r.Listings = nil, nil
		r.NotApplicable = sayAll(func(lang string) string { return text.Reason(lang, "na", string(o.NotApplicable)) })
		return r, nil
	}
	if o.Forever() {
		r.Price = sayAll(reports.Forever)
	}
	r.Moving.Replay = "locklab run " + r.Link
	return r, nil
}
