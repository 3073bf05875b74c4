package lessons

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports/text"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// stage keeps what all tests play.
var stage = NewStage()

func slidesOf(t *testing.T, names string, o DeckOptions) []*Slide {
	t.Helper()
	s, err := ParseSubject(strings.Fields(names))
	if err != nil {
		t.Fatal(err)
	}
	o.Lang = "en"
	deck, err := s.Deck(stage, o)
	if err != nil {
		t.Fatal(err)
	}
	return deck
}

// kinds are those of slides, one for all that follow each other.
func kinds(slides []*Slide) string {
	var all []string
	for _, s := range slides {
		all = append(all, s.Kind)
	}
	return strings.Join(slices.Compact(all), " ")
}

// A lesson tells how a lock works, in which races it fails, and what the next lock does about one of them. The debate
// belongs to Redlock.
func TestLessonIsInOrder(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine plays")
	for names, want := range map[string]string{
		"setnx-expire redlock":              "hook how race how next race debate quiz end",
		"token":                             "hook how race next quiz end",
		"token gc-pause R24":                "hook how race next quiz end",
		"path 3":                            "hook race quiz end",
		"path":                              "hook race quiz end",
		"gc-pause failover":                 "hook race next race next quiz end",
		"debate":                            "hook debate quiz end",
		"path 3 R18":                        "hook race next quiz end",
		"stamps":                            "hook race quiz end",
		"mutex":                             "hook how end", // no lock follows it
		"setnx setnx-expire constant token": "hook how race how next race how next race how next race next quiz end",
	} {
		if got := kinds(slidesOf(t, names, DeckOptions{Questions: 3, Seed: 1})); got != want {
			t.Errorf("%s: %s, want %s", names, got, want)
		}
	}
}

// The runs of a lesson fail, but for those that show a lock without faults, the next lock, or the debate. The race
// that is played with the next lock is one that it survives, if there is any. A question does not tell how its run
// ends.
func TestLessonShowsFailures(t *testing.T) {
	for _, s := range slidesOf(t, "setnx-expire redlock", DeckOptions{}) {
		kind, heading, asked := s.Kind, s.Heading, strings.Join(s.Lines(Asked), " ")
		switch o := s.Run; {
		case kind == Race && !verdict.Fails(o.Verdicts), kind == Next && o.Verdicts[0] != verdict.Holds:
			t.Errorf("%s: %v", heading, o.Verdicts)
		case kind == Race && strings.Contains(heading+asked, string(o.Verdicts[0])):
			t.Errorf("%q or %q tells how the run ends", heading, asked)
		case kind == Race && strings.Contains(heading+asked, RunTitle("en", o)), // which a worksheet has, too
			kind == Race && !strings.Contains(s.Listed("en"), RunTitle("en", o)):
			t.Errorf("%q or %q tells what happens", heading, asked)
		}
		if kind != Hook && kind != End && (asked == "" || kind != How && s.Lines(Answer) == nil && s.Choices == nil) {
			t.Errorf("%s: no question, or no answer", heading)
		}
	}
}

// inLanguages calls a check with the slides about many locks in each language.
func inLanguages(t *testing.T, check func(lang string, deck []*Slide)) {
	for _, lang := range text.Languages() {
		s, err := ParseSubject(strings.Fields("setnx setnx-expire getset token watchdog redlock debate"))
		if err != nil {
			t.Fatal(err)
		}
		deck, err := s.Deck(stage, DeckOptions{Lang: lang, Questions: 8})
		if err != nil {
			t.Fatal(err)
		}
		check(lang, deck)
	}
}

// TestAnswersAreShort: an answer on a slide has at most two short sentences beside the name of the race, without codes
// of races, and its second sentence is not the verdict again. A question has sentences of at most twenty words, and
// gives times in seconds, as its picture does.
func TestAnswersAreShort(t *testing.T) {
	code, millis := regexp.MustCompile(`R\d\d`), regexp.MustCompile(`\d{4,} ms`)
	inLanguages(t, func(lang string, deck []*Slide) {
		for _, s := range deck {
			for i, line := range s.Lines(Answer) {
				words := len(strings.Fields(line))
				if i > 2 || words > 40 || lang == "zh" && len([]rune(line)) > 90 || code.MatchString(line) ||
					lang == "en" && i == 2 && words < 3 {
					t.Errorf("%s %s: %d words: %s", lang, s.Heading, words, line)
				}
			}
			said := strings.Join(s.Lines(Asked), " ")
			for _, sentence := range strings.FieldsFunc(said,
				func(r rune) bool { return strings.ContainsRune(".?!", r) }) {
				if len(strings.Fields(sentence)) > 20 {
					t.Errorf("%s %s: a long question: %s", lang, s.Heading, sentence)
				}
			}
			for _, c := range s.Choices {
				said += " " + c.Said[lang] + " " + c.Why[lang]
			}
			if late := millis.FindString(said); late != "" {
				t.Errorf("%s %s: %s", lang, s.Heading, late)
			}
		}
	})
}

// The key has for each question more than its answer: why, and what prevents it, or, in the debate, the runs. What a
// reply means is told once, where it comes first.
func TestKeysAreFull(t *testing.T) {
	inLanguages(t, func(lang string, deck []*Slide) {
		prevents, _, _ := strings.Cut(text.Say(lang, "lesson.prevents"), "{")
		replies := ""
		for _, s := range deck {
			replies += strings.Join(s.Lines(Read), " ")
			full := strings.Join(s.Lines(Full), " ")
			if s.Run != nil && (len(s.Lines(Full)) < 2 || s.Kind != Debate && !strings.Contains(full, prevents)) {
				t.Errorf("%s %s: the key has only %q", lang, s.Heading, full)
			}
		}
		for _, reply := range []string{"SETNX", "SET-NX-PX", "EVAL-lock", "EVAL-renew", "EVAL-obtain", "DEL"} {
			if strings.Count(replies, text.Say(lang, "lesson.reply."+reply, "call", "")) != 1 {
				t.Errorf("%s: what %s returns is not told once: %s", lang, reply, replies)
			}
		}
	})
}

// What a slide says of a lock fits it: no cure is what the lock does already, and no DEL is blamed that it does not
// send. What does not prevent a race is said before what does, each after its name.
func TestTextsFitTheLock(t *testing.T) {
	for _, lang := range text.Languages() {
		for id, sentences := range map[string]int{"token": 1, "delifeq": 1, "constant": 2, "setnx-expire": 2} {
			e, _ := algorithms.ByName(id)
			lines, err := stage.linesAbout(e, lang, "race.slow-work.mends")
			if err != nil || len(lines) != sentences {
				t.Errorf("%s: %v, %q", id, err, lines)
			}
		}
	}
	for _, s := range slidesOf(t, "setnx-expire token watchdog redlock debate", DeckOptions{Slides: 10}) {
		notes := s.Lines(Notes)
		not := slices.Index(notes, text.Say("en", "label.race.not"))
		mends := slices.Index(notes, text.Say("en", "label.race.mends"))
		if s.Kind == Race && (not < 0 || mends < not+2 || mends+1 == len(notes)) {
			t.Errorf("%s: %q", s.Heading, notes)
		}
	}
}

// The key has for an open question more answers than those of the slides that follow, and the end what to read: about
// Redlock what was written about it, and about ZooKeeper its recipes.
func TestMoreAnswersAndSources(t *testing.T) {
	for names, want := range map[string]string{"setnx-expire redlock": "kleppmann redis sanfilippo", "token": "redis",
		"debate": "kleppmann redis sanfilippo", "zk-recheck": "zookeeper", "mutex": ""} {
		slides := slidesOf(t, names, DeckOptions{})
		var got []string
		for _, key := range []string{"kleppmann", "redis", "sanfilippo", "zookeeper"} {
			if slices.Contains(slides[len(slides)-1].Lines(Sources), "- "+text.Say("en", "lesson.source."+key)) {
				got = append(got, key)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %q", names, got, want)
		}
		full := strings.Join(slides[1].Lines(Full), " ")
		if names == "setnx-expire redlock" && !strings.Contains(full, text.Say("en", "lesson.also")) {
			t.Errorf("one answer only: %s", full)
		}
	}
}

// A deck has as many slides as are asked for, the hook and the end among them, or says how many there are.
func TestSlidesAsAsked(t *testing.T) {
	for n := 3; n <= 18; n++ {
		got := slidesOf(t, "setnx-expire redlock", DeckOptions{Slides: n})
		if len(got) != n || got[0].Kind != Hook || got[n-1].Kind != End {
			t.Errorf("%d slides: %s", n, kinds(got))
		}
	}
	s, err := ParseSubject([]string{"crash-before-expire"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Deck(stage, DeckOptions{Lang: "en", Slides: 55}); err == nil ||
		!strings.Contains(text.SayError("en", err), "--slides 55") {
		t.Errorf("55 slides about one race: %v", err)
	}
}

// However short a deck about two milestones is: each lock has a run in which it fails, first the one that tells it from
// most others, no picture before the debate has what only that explains, and what comes again with the next lock was
// shown before. So it is where the race that is named says nothing of one lock. A late write that is refused has beside
// it the pause of which it is the cure, and a lock that hands out fencing tokens keeps a run in which one is checked.
func TestEachLockKeepsItsFailure(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine plays")
	all := lists.Each(algorithms.Milestones(), func(e lock.Entry) string { return e.ID })
	for i, first := range all {
		for _, second := range all[i+1:] {
			for _, n := range []int{4, 7, 9, 10, 0} {
				keepsFailures(t, slidesOf(t, first+" "+second, DeckOptions{Questions: 1, Slides: n}), first, second)
			}
		}
	}
	for _, n := range []int{4, 7, 9, 10} {
		l := slidesOf(t, "setnx-expire crash-before-expire redlock", DeckOptions{Slides: n})
		keepsFailures(t, l, "setnx-expire", "redlock")
	}
	said := text.Say("en", "lesson.unchecked", "found", "")
	for _, n := range []int{6, 7, 10, 18, 0} {
		l := slidesOf(t, "token watchdog redislock-fence", DeckOptions{Slides: n})
		keepsFailures(t, l, "token", "watchdog")
		checked := func(s *Slide) bool { return s.Kind == Race && numbered(s.Run) && refuses(s.Run) }
		if !slices.ContainsFunc(l, checked) {
			t.Errorf("%d slides: no fencing token is checked", n)
		}
		for _, s := range l {
			stale := s.Kind != How && s.Run != nil && slices.Contains(s.Run.Verdicts, verdict.StaleWrite)
			told := strings.Contains(strings.Join(s.Lines(Answer), " "), said)
			if told != (stale && s.Run.Lock.ID == "redislock-fence" && s.Kind != Quiz) {
				t.Errorf("%d slides: %s: that no token is checked is told: %t", n, s.Listed("en"), told)
			}
		}
	}
}

func keepsFailures(t *testing.T, slides []*Slide, locks ...string) {
	t.Helper()
	for _, id := range locks {
		least := 0 // of the milestones fail in a race in which this one does
		e, _ := algorithms.ByName(id)
		for _, sc := range telling() {
			if o, err := stage.Play(e, sc); err == nil && fails(o) && !debated(o) && least == 0 {
				least = common(sc)
			}
		}
		fallen := lists.Pick(slides, func(s *Slide) bool {
			return (s.Kind == Race || s.Kind == Next) && s.Run.Lock.ID == id && fails(s.Run)
		})
		if !slices.ContainsFunc(fallen, func(s *Slide) bool { return common(s.Run.Race) == least }) {
			t.Errorf("%v, %d slides: of %s not the race that %d fail in", locks, len(slides), id, least)
		}
	}
	for i, s := range slides {
		again := func(o *Slide) bool { return o.Kind == Race && o.Run.Race.ID == s.Run.Race.ID }
		alone := s.Kind == Next && s.Run.Lock.ID == locks[1] && !slices.ContainsFunc(slides[:i], again)
		paused := func(o *Slide) bool {
			return o.Kind == Race && !refuses(o.Run) && strings.HasPrefix(s.Run.Race.ID, o.Run.Race.ID)
		}
		ill := s.Kind == Quiz || !refuses(s.Run) || slices.ContainsFunc(slides, paused)
		if alone || !ill || s.Kind == Race && s.Run.Race.Guard != history.Naive && !numbered(s.Run) {
			t.Errorf("%v, %d slides: %s", locks, len(slides), s.Listed("en"))
		}
	}
}

// A lesson has one wrong delete, if it is about a lock that has any, before the other races of its lock go. Its title
// and its end are about the locks that have slides, and it says which have none. Notes have no codes.
func TestShortLessons(t *testing.T) {
	l := slidesOf(t, "setnx-expire token watchdog redlock debate", DeckOptions{Slides: 10})
	wrong := slices.DeleteFunc(slices.Clone(l), func(s *Slide) bool { return s.Kind != Race || !deletes(s.Run) })
	if len(wrong) != 1 || Minutes(l) < 20 {
		t.Errorf("%d wrong deletes in %d minutes", len(wrong), Minutes(l))
	}
	code := regexp.MustCompile(`\b(OVERLAP|STALE-WRITE|WRONG-DEL|HOLDS|DEADLOCK)\b`)
	if said := spoken("zh", "它在 OVERLAP 双持有、HOLDS（R18）和 OVERLAP 之后"); said != "它在双持有、没有出错和双持有之后" {
		t.Error(said)
	}
	for _, s := range l {
		if said := strings.Join(s.Lines(Notes), " "); s.Kind != Debate && code.MatchString(said) {
			t.Errorf("%s: the notes cannot be said: %s", s.Heading, said)
		}
	}
	// As the help says.
	for _, of := range []string{"setnx-expire token watchdog redlock debate", "setnx-expire redlock"} {
		if l := slidesOf(t, of, DeckOptions{Slides: 17}); Minutes(l) < 43 || Minutes(l) > 47 {
			t.Errorf("%s: 17 slides take %d minutes", of, Minutes(l))
		}
	}
	l = slidesOf(t, "setnx-expire redlock", DeckOptions{Slides: 3})
	said := strings.Join(append(l[2].Lines(""), l[0].Heading), " ")
	if strings.Contains(said, "Redlock") || !strings.Contains(strings.Join(l[0].Lines(Left), " "), "Redlock") {
		t.Errorf("three slides: %q, left out: %q", said, l[0].Lines(Left))
	}
}

// The quiz asks about locks and races of the lesson in runs that it does not show, each question once, and the same for
// the same seed. One answer is right, and it stands in no place more than once more than in another that it could have.
func TestQuizIsNotWhatWasShown(t *testing.T) {
	for _, names := range []string{"setnx-expire redlock", "path 3", "debate", "gc-pause failover"} {
		for seed := range uint64(2) {
			o := DeckOptions{Questions: 6, Seed: seed}
			l, again := slidesOf(t, names, o), slidesOf(t, names, o)
			runs, locks, races, asked, places := map[string]bool{}, map[string]bool{}, map[string]bool{},
				map[string]bool{}, [4]int{}
			for _, s := range l {
				if o := s.Run; o != nil && s.Kind != Quiz {
					runs[o.Lock.ID+" "+o.Race.ID], locks[o.Lock.ID], races[o.Race.ID] = true, true, true
				}
			}
			for i, s := range l {
				if s.Kind != Quiz {
					continue
				}
				o, question := s.Run, strings.Join(s.Lines(Asked), " ")
				name, right := o.Lock.ID+" "+o.Race.ID, 0
				for at, c := range s.Choices {
					if c.Right {
						right++
						places[at]++
					}
				}
				key := fmt.Sprint(name, question, len(s.Asks.History.Events))
				if runs[name] || !locks[o.Lock.ID] && !races[o.Race.ID] || right != 1 || asked[key] ||
					strings.Join(again[i].Lines(Asked), " ") != question ||
					!again[i].Choices[0].Right != !s.Choices[0].Right {
					t.Errorf("%s: %q about %s: %d right, asked before: %t, shown: %t",
						names, question, name, right, asked[key], runs[name])
				}
				asked[key] = true
			}
			if len(asked) < 4 || slices.Max(places[:2]) > 1+len(asked)/2 || places[2]+places[3] == 0 {
				t.Errorf("%s, seed %d: %d questions, right answers in %v", names, seed, len(asked), places)
			}
		}
	}
}

// Names are those of locks, races, families and lessons. Another offers the nearest.
func TestSubject(t *testing.T) {
	s, err := ParseSubject([]string{"token", "002-E", "R18", "gc-pause", "stamps", "path", "3", "debate"})
	if err != nil || len(s.Locks) < 5 || s.Locks[1].ID != "redlock" || len(s.Races) != 2 ||
		!slices.Equal(s.Screens, []int{3}) || !s.Debate {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := ParseSubject([]string{"path"}); err != nil || len(s.Screens) != PathScreens {
		t.Errorf("%+v, %v", s, err)
	}
	if s, err := ParseSubject([]string{"看门狗"}); err != nil || s.Locks[0].ID != "watchdog" { // as its slides call it
		t.Errorf("%+v, %v", s, err)
	}
	for name, near := range map[string]string{"tokn": "token", "gcpause": "gc-pause", "path 11": "11", "path 0": "0",
		"path 99999999999999999999": "999", "nonsense-of-a-name": "nonsense"} {
		_, err := ParseSubject(strings.Fields(name))
		if err == nil || !strings.Contains(text.SayError("en", err), near) {
			t.Errorf("%s: %v", name, err)
		}
	}
	all := []string{}
	for _, name := range SubjectNames() {
		if _, err := ParseSubject([]string{name}); err != nil && name != "" {
			t.Errorf("%s is offered: %v", name, err)
		}
		all = append(all, name)
	}
	tooMany, err := ParseSubject(all)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tooMany.Deck(stage, DeckOptions{Lang: "en"}); err == nil ||
		!strings.Contains(text.SayError("en", err), "60") {
		t.Errorf("all names at once: %v", err)
	}
}

// How a lock works is told in full: no text on a slide leaves out what another lock does.
func TestWorksInFull(t *testing.T) {
	refers := regexp.MustCompile(`^(As|同) [a-z0-9-]+`)
	for _, lang := range text.Languages() {
		d := &deckMaker{DeckOptions: DeckOptions{Lang: lang}, m: &maker{stage: stage, p: &text.Printer{Lang: lang}}}
		for _, e := range algorithms.All() {
			lines := d.works(e.ID)
			if len(lines) == 0 || slices.ContainsFunc(lines, refers.MatchString) {
				t.Errorf("%s %s: %q", lang, e.ID, lines)
			}
		}
	}
}
