// Package deck makes a lesson of locks and races, and writes it as one file: slides with runs to play, the
// presenter's notes, a handout, a worksheet and its key.
//
// The file is a page that can be read without its script: all slides are HTML, with a picture of each run. The
// script shows one slide at a time and plays the runs. So a file that is damaged still has its texts.
package deck

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/game"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A Lesson is what a class does in an hour.
type Lesson struct {
	Title string
	Steps []Step
}

// A Step is one slide, and one question to the class.
type Step struct {
	Kind     Kind
	Heading  string
	Points   []string // what the class is told first
	Question string
	Run      *race.Outcome // nil: none
	Answer   []string
	Choices  []game.Answer // of a question of the quiz
	Notes    []string      // for the presenter
}

// A Kind is what a step is for.
type Kind string

// The kinds of steps.
const (
	Plan   Kind = "plan"   // of the lesson
	How    Kind = "how"    // how a lock works
	Race   Kind = "race"   // a race that a lock is played in
	Next   Kind = "next"   // the same race with another lock
	Debate Kind = "debate" // a point of the debate about Redlock
	Quiz   Kind = "quiz"   // a question with answers to choose from
	End    Kind = "end"    // what to remember
)

// A Subject is what a lesson is about.
type Subject struct {
	Locks   []lock.Entry
	Races   []race.Scenario // nil: those in which the locks fail
	Screens []int           // of the guided tour, from 1
	Debate  bool
}

// Parse reads the names of a subject: locks, races, families of locks, "path" with or without the number of a
// screen, and "debate".
func Parse(names []string) (s Subject, err error) {
	for i := 0; i < len(names); i++ {
		switch name := names[i]; {
		case name == "debate":
			s.Debate = true
		case name == "path" && i+1 < len(names) && names[i+1] != "" && strings.Trim(names[i+1], "0123456789") == "":
			i++
			if _, _, err := lessons.Find("path", names[i]); err != nil {
				return s, err
			}
			n, _ := strconv.Atoi(names[i]) // a page has this number
			s.Screens = append(s.Screens, n)
		case name == "path":
			s.Screens = append(s.Screens, numbers(lessons.PathScreens)...)
		case !s.add(name):
			return s, text.Errorf("error.lesson", "name", name, "near", text.Near(name, Names()))
		}
	}
	return s, nil
}

// numbers returns the numbers from 1 to n.
func numbers(n int) (all []int) {
	for i := range n {
		all = append(all, i+1)
	}
	return all
}

// add adds what a name means; false: it means nothing.
func (s *Subject) add(name string) bool {
	if e, ok := algorithms.ByName(name); ok {
		s.Locks = append(s.Locks, e)
		return true
	}
	if sc, err := scenarios.ByName(name); err == nil {
		s.Races = append(s.Races, sc)
		return true
	}
	family := lists.Pick(algorithms.All(), func(e lock.Entry) bool { return string(e.Family) == name })
	s.Locks = append(s.Locks, family...)
	return family != nil
}

// Names returns all names that Parse reads.
func Names() []string {
	names := []string{"path", "debate"}
	for _, f := range lock.Families() {
		names = append(names, string(f))
	}
	for _, e := range algorithms.All() {
		names = append(names, e.Names()...)
	}
	for _, sc := range scenarios.All() {
		names = append(names, sc.ID, sc.Race)
	}
	return names
}

// Options hold the choices of a lesson.
type Options struct {
	Lang      string
	Questions int // of the quiz, at most
	Seed      uint64
}

// mostSteps is more than one lesson can hold.
const mostSteps = 60

// mostWithHow is the number of locks of which it is shown how each works. Of more, such as a family, there is only
// a race each.
const mostWithHow = 6

// A maker makes a lesson, part by part. The first error ends that.
type maker struct {
	Options
	stage  *lessons.Stage
	lesson *Lesson
	asked  []*race.Outcome // what the quiz asks about
	err    error
}

// failed keeps the first error, and reports whether there is one.
func (m *maker) failed(err error) bool {
	m.err = cmp.Or(m.err, err)
	return m.err != nil
}

// Make makes a lesson about a subject.
func Make(stage *lessons.Stage, s Subject, o Options) (*Lesson, error) {
	if len(s.Screens)+max(len(s.Locks), 1)*max(len(s.Races), 1) > mostSteps { // before they are played
		return nil, text.Errorf("error.lesson.large", "most", mostSteps)
	}
	m := &maker{Options: o, stage: stage, lesson: &Lesson{}}
	m.lesson.Title = m.title(s)
	m.step(Step{Kind: Plan, Heading: m.lesson.Title})
	for _, build := range []func(Subject){m.screens, m.races, m.locks, m.debate, m.quiz, m.end} {
		if build(s); m.err != nil {
			return nil, m.err
		}
		if n := len(m.lesson.Steps); n > mostSteps {
			return nil, text.Errorf("error.lesson.large", "most", mostSteps)
		}
	}
	m.plan()
	return m.lesson, nil
}

func (m *maker) step(s Step) { m.lesson.Steps = append(m.lesson.Steps, s) }

func (m *maker) say(key string, pairs ...string) string { return text.Say(m.Lang, key, pairs...) }

// lines returns the texts of keys that exist, filled in.
func (m *maker) lines(keys ...string) (all []string) {
	for _, key := range keys {
		lines, err := m.stage.Lines(m.Lang, key)
		m.failed(err)
		all = append(all, lines...)
	}
	return all
}

func (m *maker) title(s Subject) string {
	switch {
	case len(s.Locks) == 1:
		return m.lockTitle(s.Locks[0])
	case len(s.Locks) > 1:
		return m.say("lesson.from", "first", s.Locks[0].ID, "last", s.Locks[len(s.Locks)-1].ID)
	case len(s.Races) > 0:
		return m.titled(s.Races[0].ID, lessons.Story(m.Lang, s.Races[0], "title"))
	case len(s.Screens) == 1:
		return m.say(fmt.Sprintf("path.%d.title", s.Screens[0]))
	case len(s.Screens) > 1:
		return m.say("lesson.path")
	}
	return m.say("debate.title")
}

// titled is a name with what it means.
func (m *maker) titled(name, title string) string {
	return text.Label(m.say("explain.head", "text", name)) + title
}

func (m *maker) lockTitle(e lock.Entry) string {
	title := lessons.LockTitle(m.Lang, e)
	if strings.HasPrefix(strings.ToLower(title), e.ID) { // as in "Redlock: a majority of servers"
		return title
	}
	return m.titled(e.ID, title)
}

// screens adds screens of the guided tour.
func (m *maker) screens(s Subject) {
	for _, n := range s.Screens {
		key := "path." + strconv.Itoa(n)
		step := m.raceStep(m.play(m.say(key+".lock"), m.say(key+".race")))
		step.Heading = m.say(key + ".title")
		step.Answer = append(step.Answer[:1], m.lines(key+".idea")...)
		step.Notes = append(step.Notes, m.lines(key+".next")...)
		m.step(step)
	}
}

// races adds races, if no locks are named: each with the lock that explains it, and with one that survives it.
func (m *maker) races(s Subject) {
	if len(s.Locks) > 0 {
		return
	}
	for _, sc := range s.Races {
		example, played, err := m.stage.Example(sc)
		if m.failed(err) {
			return
		}
		m.step(m.raceStep(example))
		if i := slices.IndexFunc(played, holds); i >= 0 {
			m.next(played[i])
		}
	}
}

// locks adds locks: how each works, in which races it fails, and what becomes of one of them with the next lock.
func (m *maker) locks(s Subject) {
	few, most := len(s.Locks) <= mostWithHow, 2 // races of each
	if len(s.Locks) > 3 {
		most = 1
	}
	for i, e := range s.Locks {
		if few {
			m.how(e)
		}
		after, _ := race.Successor(e)
		if i+1 < len(s.Locks) {
			after = s.Locks[i+1]
		}
		played, mended := m.telling(e, after, s.Races, most)
		for _, o := range played {
			m.step(m.raceStep(o))
		}
		if few && mended != nil && mended.History != nil {
			m.next(mended)
		}
	}
}

// holds reports whether a lock survives a race that applies to it.
func holds(o *race.Outcome) bool { return o.History != nil && o.Verdicts[0] == verdict.Holds }

// tellingRaces are races in the order in which they are chosen for a lock that fails in them.
var tellingRaces = []string{
	"crash-before-expire", "crash-holding", "client-skew", "late-release", "restart", "clock-jump", "failover", "slow-work",
	"gc-pause",
}

// telling returns runs of a lock in the races that are named. If none is, it returns runs that fail: those of the
// guided tour, and one that the lock after it survives. mended is that run of the lock after it, if there is one, or
// else its run in the first race.
func (m *maker) telling(
	e, after lock.Entry, named []race.Scenario, most int,
) (all []*race.Outcome, mended *race.Outcome) {
	ids := lists.Each(named, func(sc race.Scenario) string { return sc.ID })
	if named == nil {
		for _, n := range numbers(lessons.PathScreens) {
			if key := fmt.Sprintf("path.%d", n); m.say(key+".lock") == e.ID {
				ids = append(ids, m.say(key+".race"))
			}
		}
		ids = append(ids, tellingRaces...)
	}
	for i, id := range ids {
		o := m.play(e.ID, id)
		tells := named != nil || verdict.Fails(o.Verdicts) && !slices.Contains(m.asked, o)
		if o.History != nil && tells && !slices.Contains(ids[:i], id) {
			all = append(all, o)
		}
	}
	survived := slices.IndexFunc(all, func(o *race.Outcome) bool { return holds(m.play(after.ID, o.Scenario.ID)) })
	if named == nil && len(all) > most {
		if survived >= most {
			all[most-1], survived = all[survived], most-1
		}
		all = all[:most]
	}
	if all != nil {
		mended = m.play(after.ID, all[max(survived, 0)].Scenario.ID)
	}
	return all, mended
}

// play plays a lock in a race. Of no lock, and after an error, the outcome is that of no run.
func (m *maker) play(id, raceID string) *race.Outcome {
	none := &race.Outcome{Verdicts: []verdict.Word{verdict.NA}}
	if id == "" {
		return none
	}
	o, err := m.stage.Named(id, raceID)
	if m.failed(err) {
		return none
	}
	return o
}

func (m *maker) how(e lock.Entry) {
	calm := m.play(e.ID, "calm")
	if calm.History == nil {
		calm = nil
	}
	key := "lock." + e.ID
	m.step(Step{
		Kind: How, Heading: m.lockTitle(e), Points: m.lines(key + ".how"), Question: m.say("lesson.how"), Run: calm,
		Answer: m.lines(key + ".mends"), Notes: m.lines(key+".origin", key+".beside"),
	})
}

// raceStep is a step about a run.
func (m *maker) raceStep(o *race.Outcome) Step {
	sc, key := o.Scenario, "race."+o.Scenario.ID
	notes := []string{lessons.Story(m.Lang, sc, "story"), lessons.Story(m.Lang, sc, "numbers")}
	for _, line := range m.lines(key + ".not") {
		notes = append(notes, text.Label(m.say("label.race.not"))+line)
	}
	notes = slices.DeleteFunc(notes, func(s string) bool { return s == "" })
	m.asked = append(m.asked, o)
	return Step{
		Kind: Race, Heading: m.say("page.run", "lock", o.Strategy.ID, "race", strings.TrimSpace(sc.Race+" "+sc.ID)),
		Question: m.say("lesson.ask", "race", lessons.Story(m.Lang, sc, "title"), "lock", o.Strategy.ID), Run: o,
		Answer: append([]string{m.result(o)}, m.lines(key+".why", key+".mends")...), Notes: notes,
	}
}

// result is the verdicts of a run, and why.
func (m *maker) result(o *race.Outcome) string {
	said := reports.Words(o.Verdicts)
	if why := lessons.Why(m.Lang, o.Strategy, o.Scenario); why != "" {
		said = m.say("explain.because", "result", said, "why", why)
	}
	return said
}

// next adds the same race with another lock.
func (m *maker) next(o *race.Outcome) {
	m.asked = append(m.asked, o)
	m.step(Step{
		Kind: Next, Heading: m.say("lesson.next", "race", o.Scenario.ID, "lock", o.Strategy.ID),
		Question: m.say("lesson.next.ask", "lock", o.Strategy.ID),
		Run:      o, Answer: append([]string{m.result(o)}, m.lines("race."+o.Scenario.ID+".mends")...),
		Notes: m.lines("lock." + o.Strategy.ID + ".mends"),
	})
}

// debatePoints are the points of the debate that a lesson about Redlock has.
var debatePoints = []int{2, 3, 4, 5}

func (m *maker) debate(s Subject) {
	points := debatePoints
	if s.Debate {
		points = numbers(lessons.DebatePoints)
	} else if !slices.ContainsFunc(s.Locks, func(e lock.Entry) bool { return strings.HasPrefix(e.ID, "redlock") }) {
		return
	}
	for _, n := range points {
		key := fmt.Sprintf("debate.%d", n)
		heading := m.say("lesson.debate", "title", m.say(key+".title"))
		step := Step{Kind: Debate, Heading: heading, Question: m.say("lesson.debate.ask")}
		for _, who := range []string{"kleppmann", "antirez"} {
			said := strings.Join(m.lines(key+"."+who), " ")
			step.Points = append(step.Points, text.Label(lessons.ArguedAt(m.Lang, n, who))+said)
		}
		first, err := m.stage.Backing(key + ".trace")
		more, wrong := m.stage.Backing(key + ".runs")
		if m.failed(errors.Join(err, wrong)) {
			return
		}
		runs := append(first, more...)
		step.Run, m.asked = runs[0], append(m.asked, runs...)
		step.Answer = append(m.lines(key+".says"), lists.Each(runs, func(o *race.Outcome) string {
			return "locklab run " + o.Strategy.ID + " " + o.Scenario.ID + " = " + m.result(o)
		})...)
		m.step(step)
	}
}

func (m *maker) quiz(Subject) {
	var scope game.Scope
	for _, o := range m.asked {
		if c := (game.Cell{Lock: o.Strategy.ID, Race: o.Scenario.ID}); o.History != nil && !slices.Contains(scope.Cells, c) {
			scope.Cells = append(scope.Cells, c)
		}
	}
	for quiz, n := game.NewQuiz(m.Seed, scope), 1; n <= m.Questions && scope.Cells != nil; {
		q, err := quiz.Next()
		if errors.As(err, new(*game.NoQuestionError)) || m.failed(err) {
			return
		}
		if q.Outcome.History == nil { // it is about other locks
			continue
		}
		o := q.Outcome
		heading := m.say("lesson.quiz", "n", strconv.Itoa(n), "lock", o.Strategy.ID, "race", o.Scenario.ID)
		m.step(Step{Kind: Quiz, Heading: heading, Question: q.Ask[m.Lang], Run: o, Choices: q.Answers})
		n++
	}
}

func (m *maker) end(s Subject) {
	points := lists.Each(s.Locks, func(e lock.Entry) string {
		return m.titled(e.ID, strings.Join(m.lines("lock."+e.ID+".choose"), " "))
	})
	keys := []string{}
	if slices.ContainsFunc(m.lesson.Steps, func(s Step) bool { return s.Kind == Debate }) {
		keys = append(keys, "debate.end")
	}
	if len(s.Screens) > 0 {
		keys = append(keys, fmt.Sprintf("path.%d.next", lessons.PathScreens))
	}
	if len(s.Locks) == 0 {
		for _, sc := range s.Races {
			keys = append(keys, "race."+sc.ID+".mends")
		}
	}
	m.step(Step{Kind: End, Heading: m.say("lesson.end"), Points: append(points, m.lines(keys...)...)})
}

// plan lists what follows on the first slide, the questions of the quiz as one.
func (m *maker) plan() {
	first, questions := &m.lesson.Steps[0], 0
	for _, step := range m.lesson.Steps[1:] {
		if step.Kind == Quiz {
			questions++
			continue
		}
		if questions > 0 {
			first.Points, questions = append(first.Points, m.say("lesson.quizzes", "n", strconv.Itoa(questions))), 0
		}
		first.Points = append(first.Points, step.Heading)
	}
	first.Notes = []string{m.say("lesson.keys")}
}
