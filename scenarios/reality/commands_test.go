package reality_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"locklab/algorithms"
	"locklab/scenarios/internal/racetest"
	"locklab/scenarios/search"
	"locklab/simulator/effort"
	"locklab/simulator/redisnode"
)

var update = flag.Bool("update", false, "write the list of commands anew")

// commandsFile is the forms of all requests that a lock of the list sends to a Redis: package
// redisnode makes random programs of them.
var commandsFile = filepath.Join("..", "..", "simulator", "redisnode", "testdata", "commands.json")

// A recorder notes the form of what reaches a server, as JSON, and answers as the lab does.
type recorder map[string]bool

var (
	aToken  = regexp.MustCompile(`^c\d+[.:].*|^\d{9,}$|^\d{1,2}$`)
	aNumber = regexp.MustCompile(`^\d{3,8}$`)
)

// form has in place of values and lengths of time what kind they are.
func form(commands [][]string) (out [][]string) {
	for _, c := range commands {
		c = slices.Clone(c)
		for i, arg := range c {
			switch {
			case i == 0 || len(arg) > 40 && !aToken.MatchString(arg): // a script, or its hash
			case aToken.MatchString(arg) && (len(arg) > 2 || i > 2):
				c[i] = "<value>"
			case aNumber.MatchString(arg):
				c[i] = "<ms>"
			}
		}
		out = append(out, c)
	}
	return out
}

func (r recorder) Execute(q redisnode.Request, lab string) string {
	if q.Commands != nil {
		b, _ := json.Marshal(form(q.Commands))
		r[string(b)] = true
	}
	return lab
}

func (r recorder) Wait(q redisnode.Request)               { r.Execute(q, "") }
func (r recorder) Waited(_ uint32, lab string) (a string) { return lab }

// TestCommands: the list has every request that a lock sends in these races.
func TestCommands(t *testing.T) {
	effort.Unwatched(t, "one goroutine compares")
	all := recorder{}
	for _, e := range algorithms.All() {
		if e.OnZooKeeper() || e.Database != "" {
			continue
		}
		for _, race := range []string{"calm", "failed-renewal", "gc-pause-fenced", "herd"} {
			_, sc := racetest.Cell(t, e.ID, race)
			o := racetest.PlayListed(t, e, sc, sc.Settings)
			if o.NotApplicable != "" {
				continue
			}
			opened, err := search.Open(e, o.Trace)
			if err != nil {
				t.Fatal(err)
			}
			opened.Simulator.Kind().(*redisnode.Kind).Real = all
			w := opened.Simulator.NewWorld()
			for _, c := range o.Trace.Choices {
				if _, err := opened.Simulator.Step(&w, c); err != nil {
					t.Fatal(err)
				}
			}
			opened.Close()
		}
	}
	got := "[\n" + strings.Join(slices.Sorted(maps.Keys(all)), ",\n") + "\n]\n"
	if *update {
		if err := os.WriteFile(commandsFile, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(commandsFile); err != nil || string(want) != got {
		t.Errorf("%v: locks send other requests than %s says: go test ./scenarios/reality -run TestCommands -update, "+
			"and read the diff", err, commandsFile)
	}
}
