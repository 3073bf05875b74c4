package chart

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locklab/reports/text"
	"locklab/scenarios/study"
)

// A title is what its pattern finds in it: numbers and names.
type title []string

func (m title) number(i int) float64 {
	x, err := strconv.ParseFloat(strings.ReplaceAll(m[i], ",", ""), 64)
	if err != nil {
		return math.NaN()
	}
	return x
}

// names are those of a list in a sentence.
func (m title) names(i int) []string { return strings.Split(m[i], ", ") }

// TestTitlesAreTrue: what the title of each chart claims, its table has.
func TestTitlesAreTrue(t *testing.T) {
	all := charts(t, "")
	of := func(c *Chart, pairs ...string) []record {
		return slices.DeleteFunc(c.Table.records(), func(r record) bool {
			for i := 0; i < len(pairs); i += 2 {
				if r.text(pairs[i]) != pairs[i+1] {
					return true
				}
			}
			return false
		})
	}
	for name, claim := range map[string]struct {
		pattern string
		holds   func(c *Chart, m title) bool
	}{
		"grid": {`^(\d+) of (\d+) locks fail when (.*?); (\S+) when (.*)$`, func(c *Chart, m title) bool {
			fail, asked := 0.0, 0.0
			for _, r := range c.Table.records() {
				words := strings.Fields(r.text("verdicts"))
				failed := slices.ContainsFunc(words,
					func(w string) bool { return strings.Contains("OVERLAP STALE-WRITE WRONG-DEL LIE DEADLOCK STARVED", w) }) &&
					!slices.Contains(words, "FENCED")
				switch race := text.RaceTitle(r.text("race"), "en"); {
				case race == m[3] && r.text("lock") == m[4] && failed, race == m[5] && r.text("lock") == m[4] && !failed:
					return false
				case race == m[3] && words[0] != "N/A":
					asked++
					if failed {
						fail++
					}
				}
			}
			return fail == m.number(1) && asked == m.number(2)
		}},
		"par": {`^One (.*) is enough to let two clients in with (.*)$`, func(c *Chart, m title) bool {
			for _, fault := range strings.Split(m[1], " or ") {
				for _, lock := range m.names(2) {
					if rows := of(c, "lock", lock, "budget", fault+"=1", "verdict",
						"OVERLAP"); len(rows) != 1 || !rows[0].is("found") {
						return false
					}
				}
			}
			return true
		}},
		"tolerance": {`^A majority \(redlock\) tolerates more pause than one server \(([\d.]+)-([\d.]+) and ([\d.]+) leases\)$`, func(c *Chart, m title) bool {
			many, one := of(c, "lock", "redlock", "fault", "pause")[0], of(c, "lock", "token", "fault", "pause")[0]
			return many.number("holds_up_to") == m.number(1) && many.number("falls_at") == m.number(2) &&
				one.number("falls_at") == m.number(3)
		}},
		"sweep": {`^Half of the runs end in OVERLAP at pause/ttl (.*), never with (\S+) \(0 of 1,000: < ([\d.]+) %\)$`,
			func(c *Chart, m title) bool {
				for _, part := range regexp.MustCompile(`([\d.]+) \(([^)]*)\)`).FindAllStringSubmatch(m[1], -1) {
					for _, lock := range title(part).names(2) {
						below, above := -1.0, 2.0
						for _, r := range of(c, "lock", lock) {
							if x := r.number("pause/ttl"); x <= title(part).number(1) {
								below = r.number("share")
							} else if above > 1 {
								above = r.number("share")
							}
						}
						if below > 0.5 || above < 0.5 {
							return false
						}
					}
				}
				return !slices.ContainsFunc(of(c, "lock", m[2]),
					func(r record) bool { return r.number("k") > 0 || 100*r.number("wilson_hi") > m.number(3) })
			}},
		"recovery": {`^A crash closes (.*) for ever, others for at most (\d+)s, whatever the work$`,
			func(c *Chart, m title) bool {
				most := 0.0
				for _, r := range c.Table.records() {
					longest := r.number("blocked_longest_ns") / 1e9
					if math.IsInf(longest, 1) != slices.Contains(m.names(1), r.text("lock")) {
						return false
					}
					if longest > most && !math.IsInf(longest, 1) {
						most = longest
					}
				}
				return most == m.number(2)
			}},
		"rate": {`^At most about ([\d,.]+) overlaps a year at a TTL of (\d+)s, with pauses of (.*?): (.*)$`, func(c *Chart,
			m title) bool {
			for _, r := range of(c, "ttl_ns", m[2]+"000000000") {
				n := r.number("overlaps_a_year_at_most")
				worst := r.text("source") == m[3] && slices.Contains(m.names(4), r.text("lock"))
				if n > m.number(1) || worst && n < 0.9*m.number(1) || !worst && n > 0.99*m.number(1) {
					return false
				}
			}
			return true
		}},
		"waiting": {`^With (\d+) clients a released lock stays free for ([\d.]+)ms \((.*)\) or ([\d.]+)ms \((.*)\), on average$`,
			func(c *Chart, m title) bool {
				for _, r := range of(c, "clients", m[1]) {
					way, is := wayOf("en", r.text("policy")), r.number("handover_mean_ns")/1e6
					if is > m.number(2)+0.05 || is < m.number(4)-0.05 || way == m[3] && is < m.number(2)-0.05 || way == m[5] &&
						is > m.number(4)+0.05 {
						return false
					}
				}
				return true
			}},
		"theorems": {`^With (.+), (\w+) of (\w+) locks proved safe for any number of clients$`, func(c *Chart, m title) bool {
			safe, budget := map[string]bool{}, ""
			for _, b := range values("budget", c.Table.records()) {
				if m[1] == say("en", "theorems.with."+strings.ReplaceAll(b, "=", ".")) {
					budget = b
				}
			}
			rows := of(c, "budget", budget)
			for _, r := range rows {
				before, seen := safe[r.text("lock")]
				safe[r.text("lock")] = (before || !seen) && slices.Contains([]string{"any", "once"}, r.text("extent"))
			}
			n := 0
			for _, is := range safe {
				if is {
					n++
				}
			}
			numbers := strings.Split(say("en", "chart.numbers"), "/")
			chinese := []rune("零一两三四五六七八九十") // the same title in the other language
			same := strings.Contains(c.Said["zh"].Title, fmt.Sprintf("%c把锁中有%c把", chinese[len(safe)], chinese[n]))
			return same && numbers[n] == m[2] && numbers[len(safe)] == m[3] && len(rows) == len(safe)*len(study.TheoremWords())
		}},
	} {
		c := Of(all[name], "")
		said := c.Said["en"].Title
		m := regexp.MustCompile(claim.pattern).FindStringSubmatch(said)
		if m == nil || !claim.holds(c, m) {
			t.Errorf("%s: its table has something else than %q", name, said)
		}
	}
	if len(all) != len(specs)+1 { // the overview is a grid
		t.Errorf("%d charts, %d specs", len(all), len(specs))
	}
}

// TestDrawnAgain: a chart that is read from its JSON has the same numbers and the same pictures, in each language.
func TestDrawnAgain(t *testing.T) {
	for name, r := range charts(t, "") {
		c := Of(r, "locklab (devel), locklab chart "+name)
		var kept, again, first, second strings.Builder
		if err := c.JSON(&kept); err != nil {
			t.Fatal(err)
		}
		read, err := Read([]byte(kept.String()))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var before, after any
		err = errors.Join(read.JSON(&again), json.Unmarshal([]byte(kept.String()), &before),
			json.Unmarshal([]byte(again.String()), &after))
		if err != nil || !reflect.DeepEqual(before, after) {
			t.Errorf("%s: other JSON: %v", name, err)
		}
		for _, ending := range []string{".csv", ".svg"} {
			for _, lang := range text.Languages() {
				first.Reset()
				second.Reset()
				if err := fmt.Sprint(Formats[ending](&first, c, Format{Lang: lang}), Formats[ending](&second, read,
					Format{Lang: lang})); err != "<nil> <nil>" || first.String() != second.String() {
					t.Errorf("%s%s in %s: drawn again it differs: %s", name, ending, lang, err)
				}
			}
		}
	}
	for _, wrong := range []string{`{"version": 2, "chart": "pie"}`, `{"version": 2, "chart": "par"}`, `[]`,
		`{"version": 2, "chart": "sweep", "table": {"columns": [{"name": "lock"}], "rows": [{"lock": "token"}]}}`} {
		if _, err := Read([]byte(wrong)); err == nil {
			t.Errorf("%s is no chart", wrong)
		}
	}
}
