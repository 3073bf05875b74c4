package explore_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locklab/simulator/effort"
	"locklab/simulator/explore"
)

// TestViewsClosed: views are closed. Without one of them they are not, nor do they prove what they come to.
func TestViewsClosed(t *testing.T) {
	effort.Unwatched(t, "one goroutine searches")
	locks, budgets := []string{"setnx", "token", "watch-multi"}, []string{"crash=1"}
	if hunting() {
		locks = append(locks, "setnx-expire", "watchdog", "lock-delay", "watch-del", "thread-id", "set-ifeq")
		budgets = viewBudgets
	}
	for _, id := range locks {
		for _, budget := range budgets {
			wrong, missed, err := explore.Closed(t.Context(), viewModel(t, id, budget), budget != "", 1_500, 6)
			if err != nil || missed != nil || wrong != "" && !(hunting() && wrong == "there is none") {
				t.Errorf("%s, %s: %q, and missed are %q: %v", id, budget, wrong, missed, err)
			}
		}
	}
}

// hunting reports whether "make hunt" runs the tests: to check all that is proved takes minutes.
func hunting() bool { return os.Getenv("LOCKLAB_HUNT") != "" }

// TestViewsUnsound: each mistake that proves too much, planted into the prover, leaves clients of few without a view. The compiler gets
// the changed file as an overlay.
func TestViewsUnsound(t *testing.T) {
	if !hunting() {
		t.Skip("make hunt runs it: it compiles the prover once for each mistake")
	}
	for _, m := range []struct{ mistake, file, right, wrong string }{
		{"an owner that is dead counts as another client", "worlds.go",
			"of[i] = nobody", "of[i] = other"},
		{"what the dead have sent is forgotten", "worlds.go",
			"a.isActing = !a.ended || p.restTab.keys[a.orphans].Orphaned()", "a.isActing = !a.ended"},
		{"what the dead have sent is in nobody's name", "worlds.go",
			"case name == c:", "case name == c && c == 1:"},
		{"what was read stays new when another client writes", "worlds.go",
			"p.bases[c] = outdated", "p.bases[c] = newest"},
		{"time waits for clients outside", "worlds.go",
			"if m.client > 0 ||", "if m.client > 0 || m.pass > 0 && func() (urgent bool) {\n\t\t\tfor f := range g.byFace {\n\t\t\t\turgent = urgent || f.ready\n\t\t\t}\n\t\t\treturn urgent\n\t\t}() ||"},
		{"a fault that one client has met is left to none", "worlds.go",
			"common[p.restAt] = p.restTab.image(&p.calmed,", "common[p.restAt] = p.calm; _ = p.restTab.image(&p.calmed,"},
		{"replies on connections are nobody's", "worlds.go",
			"v.conns, v.orphans, v.judge = is.conns, is.orphans, is.judge", "v.orphans, v.judge = is.orphans, is.judge"},
		{"what others do is not done to views that come later", "naming.go",
			"for i := range own.changes {", "for i := range own.changes[:0] {"},
		{"a view's face has no owner", "naming.go",
			"f.ready = n.listClient(0, false)", "f.ready, f.names = n.listClient(0, false), [Outsiders]status{}"},
		{"a view's face has nothing of what judges know", "naming.go",
			"f.ready = n.listClient(0, false)", "f.ready, f.judge = n.listClient(0, false), 0"},
		{"a move that changes others is made with one of them", "worlds.go",
			"return made.quiet || made.seen == 0 && same, nil", "return true, nil"},
	} {
		t.Run(m.mistake, func(t *testing.T) {
			right, err := os.ReadFile(m.file)
			if err != nil {
				t.Fatal(err)
			}
			wrong := strings.Replace(string(right), m.right, m.wrong, 1)
			if wrong == string(right) {
				t.Fatalf("%s has no %q: plant the mistake elsewhere", m.file, m.right)
			}
			dir := t.TempDir()
			at, err := filepath.Abs(m.file)
			if err != nil {
				t.Fatal(err)
			}
			list, err := json.Marshal(map[string]any{"Replace": map[string]string{at: filepath.Join(dir, m.file)}})
			if err != nil {
				t.Fatal(err)
			}
			for name, text := range map[string]string{m.file: wrong, "overlay.json": string(list)} {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			c := exec.CommandContext(t.Context(), "go", "test", "-vet=off", "-ldflags=-w", "-overlay", filepath.Join(dir, "overlay.json"), "-run", "^TestViewsCover$", ".")
			c.Env = append(os.Environ(), "LOCKLAB_EXHAUSTIVE=1", "LOCKLAB_HUNT=") // a few locks do
			out, err := c.CombinedOutput()
			if err == nil || !strings.Contains(string(out), "views are not known") {
				t.Errorf("it is not noticed: %v\n%s", err, out)
			}
		})
	}
}
