package lessons

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/algorithms/lock"
	"locklab/reports"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/simulator/effort"
	"locklab/simulator/lists"
)

// ours returns the keys of the texts that belong to this package.
func ours(b *text.Catalogue) []string {
	return slices.DeleteFunc(b.Keys(""), func(key string) bool {
		kind, _, _ := strings.Cut(key, ".")
		return !slices.Contains([]string{"label", "lock", "race", "path", "interview", "term", "debate"}, kind)
	})
}

// Both languages have the same places in each text. Package text compares the keys.
func TestSamePlaces(t *testing.T) {
	en, zh := text.In("en"), text.In("zh")
	for _, key := range ours(en) {
		a, b := placesOf(en, key), placesOf(zh, key)
		if zh.Has(key) && !slices.Equal(a, b) {
			t.Errorf("%s has other places in Chinese: %v, %v", key, a, b)
		}
	}
}

// A report has rows of the page about whether one needs a lock as they stand there, under the answer that they belong
// to: one of each answer at least, and five.
func TestNeeds(t *testing.T) {
	for _, lang := range []string{"en", "zh"} {
		blocks, err := fixed["need"].Blocks(t.Context(), NewStage(), lang)
		rows, wrong := Needs(&text.Printer{Lang: lang}, algorithms.All())
		if err != nil || wrong != nil || len(rows) != 6 {
			t.Fatalf("%q, %v, %v", rows, err, wrong)
		}
		answers, heading := map[string]bool{}, ""
		for _, b := range blocks {
			if b.Kind == Heading {
				heading = b.Text
			}
			for i, row := range rows {
				same := func(r []string) bool { return slices.Equal(r, row[1:]) }
				if row[0] == heading && slices.ContainsFunc(b.Rows, same) {
					answers[heading], rows[i] = true, []string{""}
				}
			}
		}
		left := lists.Pick(rows[1:], func(row []string) bool { return row[0] != "" })
		if len(answers) != len(needs) || len(left) > 0 {
			t.Errorf("rows of %d answers; not on the page: %q", len(answers), left)
		}
	}
	some := lists.Pick(algorithms.All(), func(e lock.Entry) bool { return e.ID == "watchdog" || e.ID == "redlock" })
	rows, err := Needs(&text.Printer{Lang: "en"}, some)
	if err != nil || len(rows) != 5 || rows[2][1] != "watchdog" || rows[3][1] != "redlock" ||
		rows[1][1] != "no-lock-version" || !strings.HasSuffix(rows[1][0], "(none of these locks)") {
		t.Errorf("of watchdog and redlock: %q, %v", rows, err)
	}
}

func placesOf(b *text.Catalogue, key string) []string {
	var all []string
	for _, m := range place.FindAllStringSubmatch(b.Get(key), -1) {
		if !strings.HasPrefix(m[1], "quoted ") { // a unit may be written otherwise
			verdict := regexp.MustCompile(`^verdict-(in|of) `) // a bracket names more in one language
			all = append(all, verdict.ReplaceAllString(strings.Join(strings.Fields(m[1]), " "), "verdict "))
		}
	}
	slices.Sort(all)
	return all
}

// A lock, a screen, a question and a term are told whole.
func TestComplete(t *testing.T) {
	parts := map[string][]string{
		"lock":      {"words", "origin", "how", "mends", "choose", "beside"},
		"race":      {"why", "mends", "not"},           // and cases, where there are any
		"path":      {"title", "idea", "lock", "race"}, // and choose for the last one, next for others
		"interview": {"question", "short", "answer", "trace"},
		"term":      {"name", "text"},
		"debate":    {"title", "kleppmann", "kleppmann-at", "antirez", "antirez-at", "says", "trace", "runs"},
	}
	b := text.In("en")
	wanted := map[string][]string{}
	for _, e := range algorithms.All() {
		wanted["lock"] = append(wanted["lock"], e.ID)
	}
	for _, sc := range scenarios.All() {
		wanted["race"] = append(wanted["race"], sc.ID)
	}
	for n := range PathScreens {
		wanted["path"] = append(wanted["path"], fmt.Sprint(n+1))
	}
	for n := range DebatePoints {
		wanted["debate"] = append(wanted["debate"], fmt.Sprint(n+1))
	}
	for _, key := range ours(b) {
		words := strings.Split(key, ".")
		if len(words) == 3 && !slices.Contains(wanted[words[0]], words[1]) {
			if slices.Contains([]string{"lock", "race", "path", "debate"}, words[0]) {
				t.Errorf("%s tells of something that is not there", key)
			}
			wanted[words[0]] = append(wanted[words[0]], words[1])
		}
	}
	for kind, names := range wanted {
		for _, name := range names {
			for _, part := range parts[kind] {
				if key := kind + "." + name + "." + part; !b.Has(key) {
					t.Errorf("%s is not written: write the line %q in reports/text/en, beside its like, and in zh",
						key, key+" = …")
				}
			}
			if n := len(strings.Split(b.Get(kind+"."+name+".how"), "//")); kind == "lock" && n > 5 {
				t.Errorf("lock.%s.how has %d lines, more than 5", name, n)
			}
		}
	}
	single := []string{"interview.short", "interview.long", screen(PathScreens) + ".choose"}
	for n := range PathScreens - 1 {
		single = append(single, screen(n+1)+".next")
	}
	for _, key := range single {
		if !b.Has(key) {
			t.Errorf("%s is not written: write the line %q in reports/text/en, beside its like, and in zh",
				key, key+" = …")
		}
	}
	for _, key := range ours(b) {
		kind, rest, _ := strings.Cut(key, ".")
		words := strings.Split(rest, ".")
		part := words[len(words)-1]
		known := kind == "label" || slices.Contains(parts[kind], part) || kind == "race" && part == "cases" ||
			kind == "term" && part == "also" || slices.Contains(single, key) ||
			kind == "debate" && (rest == "title" || rest == "intro" || rest == "end") ||
			kind == "interview" && (rest == "long-runs" || part == "runs")
		if !known {
			t.Errorf("%s: nobody prints this", key)
		}
	}
}

// The texts that the code of a page names are written, and so are their labels: one that is not would be left out.
func TestNamedTextsAreWritten(t *testing.T) {
	call, found := regexp.MustCompile(`m\.texts\("(\w+)", "([^)]*)"\)`), 0
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range files {
		code, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range call.FindAllStringSubmatch(string(code), -1) {
			for _, name := range strings.Split(m[2], `", "`) {
				for _, key := range []string{m[1] + "." + name, "label." + m[1] + "." + name} {
					if found++; !text.In("en").Has(key) {
						t.Errorf("%s: write the line %q in reports/text/en, and in zh", file, key+" = …")
					}
				}
			}
		}
	}
	if found < 20 {
		t.Errorf("%d texts are named: are they found?", found)
	}
}

// names hold digits that no run could give: c1, R18F, n2, daemon-20-owned, 002-C,
// Redis 7.
var names = regexp.MustCompile(`[A-Za-z][A-Za-z-]*[0-9]+[A-Za-z0-9-]*|\b00[0-4]-[A-Z0-9]+\b|Redis [0-9]\b`)

var digits = regexp.MustCompile(`[0-9]+`)

// literals are figures that were typed.
func literals(text string) []string {
	return digits.FindAllString(names.ReplaceAllString(place.ReplaceAllString(text, " "), " "), -1)
}

// Figures and verdicts come from runs, or are quoted: the words of a verdict stand in a text only where the glossary
// says what they mean, and figures in labels, as "in 30 seconds", the name of an exercise.
func TestNothingIsTyped(t *testing.T) {
	word := regexp.MustCompile(`\b(OVERLAP|STALE-WRITE|WRONG-DEL|ORPHAN|DEADLOCK|LIE|STARVED|BLOCKED|HOLDS)\b`)
	for _, lang := range []string{"en", "zh"} {
		b := text.In(lang)
		for _, key := range ours(b) {
			p, _ := b.Entry(key)
			found := word.FindAllString(place.ReplaceAllString(p.Text, ""), -1)
			if strings.HasPrefix(key, "term.") {
				found = nil
			}
			if !strings.HasPrefix(key, "label.") {
				found = append(found, literals(p.Text)...)
			}
			if found != nil {
				t.Errorf("%s: %s has what a run should give: %v", p.Position, key, found)
			}
		}
	}
}

// A verdict in a bracket comes with the run that it is from, by the name of its race. And no
// other text has a verdict in a bracket, where nothing would say whose it is.
func TestBracketsNameTheirRun(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine explains")
	bracket := regexp.MustCompile(`[(（][^()（）]*\b(OVERLAP|STALE-WRITE|FENCED|WRONG-DEL|` +
		`ORPHAN|DEADLOCK|LIE|STARVED|BLOCKED|HOLDS)\b[^()（）]*[)）]`)
	names := []string{}
	for _, sc := range scenarios.All() {
		names = append(names, regexp.QuoteMeta(sc.ID), regexp.QuoteMeta(sc.Code))
	}
	source := regexp.MustCompile(`(^|[^\w-])(` + strings.Join(names, "|") + `)($|[^\w-])`)
	found := 0
	for _, lang := range text.Languages() {
		b := text.In(lang)
		for _, key := range b.Keys("") {
			said := []string{b.Get(key)}
			if slices.Contains(ours(b), key) {
				var err error
				if said, err = lines(lang, key, bracketed(lang)); err != nil {
					t.Error(err)
				}
			}
			for _, line := range said {
				for _, verdict := range bracket.FindAllString(line, -1) {
					found++
					if !source.MatchString(verdict) {
						p, _ := b.Entry(key)
						t.Errorf("%s: %s does not say which run it is from: %s", p.Position, key, verdict)
					}
				}
			}
		}
	}
	if found < 300 {
		t.Errorf("only %d verdicts stand in brackets: are they found?", found)
	}
}

// bracketed fills verdicts with one of them, as a run would, and anything else with a mark.
func bracketed(lang string) func(kind string, args []string) (string, error) {
	return func(kind string, args []string) (string, error) {
		if kind == "verdict" {
			return "OVERLAP", nil
		}
		if strings.HasPrefix(kind, "verdict-") {
			sc, err := scenarios.ByName(args[1])
			key := map[string]string{"verdict-in": "explain.source.named", "verdict-of": "explain.source"}[kind]
			return text.Say(lang, key, "verdict", "OVERLAP", "lock", args[0], "race", sc.Code), err
		}
		return "?", nil
	}
}

// What is said in 30 seconds has 60 words at most, in Chinese 110 characters, of which a word in Latin letters is one.
func TestHalfAMinute(t *testing.T) {
	for lang, most := range map[string]int{"en": 60, "zh": 110} {
		unit := regexp.MustCompile(map[string]string{"en": `\S+`, "zh": `\p{Han}|[\w.]+`}[lang])
		keys := lists.Each(Topics(), func(topic string) string { return topic + ".short" })
		for _, key := range append(keys, "short") {
			said, err := NewStage().Lines(lang, "interview."+key)
			if n := len(unit.FindAllString(strings.Join(said, " "), -1)); n > most || n < most/2 || err != nil {
				t.Errorf("%s: interview.%s has %d, at most %d: %v", lang, key, n, most, err)
			}
		}
	}
}

func TestLines(t *testing.T) {
	got, err := lines("zh", "term.token.text", func(kind string, args []string) (string, error) {
		return kind + "!" + args[0], nil
	})
	if err != nil || len(got) != 1 || !strings.Contains(got[0], "verdict-of!thread-id-lua") ||
		!strings.Contains(got[0], "term!fencing-token") {
		t.Errorf("%q, %v", got, err)
	}
	got, err = NewStage().Lines("zh", "path.2.idea")
	if err != nil || len(got) != 2 || !strings.Contains(got[1], text.Say("zh", "term.lease.name")) {
		t.Errorf("%q, %v", got, err)
	}
	_, err = lines("zh", "term.token.text", func(string, []string) (string, error) {
		return "", errors.New("never played")
	})
	if err == nil ||
		!strings.Contains(err.Error(), "term.token.text: {verdict-of thread-id-lua same-thread}: never played") {
		t.Errorf("a place that nobody can fill: %v", err)
	}
	if got, err := lines("zh", "none", nil); got != nil || err != nil {
		t.Errorf("a text that is not there: %q, %v", got, err)
	}
}

// A verdict is a predicate in Chinese: no text says that a race "is nothing has failed".
func TestVerdictsReadWell(t *testing.T) {
	effort.OnlyExhaustive(t, "it takes seconds; one goroutine plays")
	for _, prefix := range []string{"lock.", "race.", "term.", "interview.", "debate.", "path.", "need."} {
		all, err := stage.Texts("zh", prefix)
		if err != nil {
			t.Fatal(err)
		}
		for key, lines := range all["zh"] {
			if line := strings.Join(lines, " "); regexp.MustCompile(`[^还]是没有出错`).MatchString(line) {
				t.Errorf("%s: %s", key, line)
			}
		}
	}
}

// Attempts that are folded into one have the first and the last of their replies, in pictures and in lanes, unless all
// are the same.
func TestFoldedAttemptsHaveTheirReplies(t *testing.T) {
	for lock, want := range map[string]string{"watchdog": "9500..8830", "token": "nil"} {
		o, err := stage.Named(lock, "calm")
		if err != nil {
			t.Fatal(err)
		}
		run, _ := reports.RunOf(o.History, o.Judgement, o.Verdicts, []string{"en"}, false)
		folded := slices.DeleteFunc(run.Messages, func(m reports.Message) bool { return m.Times == 0 })
		told := slices.DeleteFunc(run.Rows,
			func(r reports.Row) bool { return !strings.Contains(r.Lanes[1]["en"], " x5") })
		if len(folded) != 1 || folded[0].Reply != want || len(told) != 1 ||
			!strings.Contains(told[0].Lanes[1]["en"], "-> "+want+",") {
			t.Errorf("%s: %+v, %+v", lock, folded, told)
		}
	}
}
