package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"locklab/reports/game"
	"locklab/reports/lessons"
	"locklab/simulator/effort"
)

// What a game looks like. The lines that were typed stand after the prompts.
func TestGames(t *testing.T) {
	effort.Unwatched(t, "one goroutine plays")
	for name, c := range map[string]struct {
		lines string
		args  []string
	}{
		"play": {"1\n1\n1\nu\nh\n99\nno\nm redlok\ng\nm\n?\nq\n", []string{"play", "token", "--budget", "pause=1"}},
		// lost, and won; ends with the input
		"play.level": {"b\nn\n2\n2\nno\nb\n1\n", []string{"play", "--level", "1"}},
		// what another lock cannot come to
		"play.zh": {"g\nm setnx\nl\nq\n", []string{"play", "--level", "3", "--lang", "zh"}},
		// nothing goes wrong
		"play.holds": {"1\nh\nno\nh\nq\n", []string{"play", "token", "--budget", "crash=1", "--attempts", "1"}},
		"play.any": {"1\nh\nq\n", []string{"play", "token", "--timing", "any", "--fenced", "--budget", "pause=1",
			"--attempts", "1"}},
		"play.cannot":  {"1\nh\nno\nq\n", []string{"play", "--level", "5"}},
		"play.forced":  {"1\n3\nu\nu\nq\n", []string{"play", "--level", "2"}},
		"play.next":    {"1\n2\n\nhint\nq\n", []string{"play", "--level", "1"}},
		"play.given":   {"g\nq\n", []string{"play", "--level", "12", "--lang", "both"}}, // up
		"play.servers": {"g\nq\n", []string{"play", "--level", "13", "--width", "100"}},
		"play.levels":  {"", []string{"play"}},
		"quiz":         {"a\n2\nx\nl\nc\n1\nq\n", []string{"play", "quiz", "--seed", "7"}},
		"quiz.lesson": {"a\nb\n", []string{"play", "quiz", "--seed", "1", "--lesson", "6", "--difficulty", "easy",
			"--questions", "2"}},
		"quiz.zh": {"a\n", []string{"play", "quiz", "--seed", "3", "--questions", "2", "--lang", "zh"}},
	} {
		t.Run(name, func(t *testing.T) {
			code, out, errs := callWith(t.Context(), c.lines, c.args...)
			if code != 0 || errs != "" {
				t.Errorf("exit status %d, standard error %q", code, errs)
			}
			golden(t, name+".txt", out)
		})
	}
}

// stopsAtEnd is an input that ends with Ctrl-C.
type stopsAtEnd struct {
	typed io.Reader
	stop  func()
}

func (s stopsAtEnd) Read(b []byte) (int, error) {
	n, err := s.typed.Read(b)
	if err != nil {
		s.stop()
	}
	return n, err
}

// Ctrl-C ends a game as it ends other commands, and leaves its link.
func TestGameStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	var out, errs bytes.Buffer
	typed := stopsAtEnd{strings.NewReader("1\n1\n"), stop}
	code := run(ctx, strings.Fields("play --level 2"), typed, &out, &errs, func(string) string { return "" })
	linked := strings.Contains(out.String(), "\n  locklab play locklab2-")
	if code != exitNoAnswer || !linked || !strings.Contains(errs.String(), "stopped") {
		t.Errorf("exit status %d: %s%s", code, errs.String(), out.String())
	}
}

// A link is the saved game: it opens the same position, as text and as JSON, and replay
// plays it.
func TestSavedGame(t *testing.T) {
	_, out, _ := callWith(t.Context(), "1\n1\nq\n", "play", "setnx", "--budget", "crash=1")
	link := strings.TrimSpace(out[strings.LastIndex(out, "locklab play ")+len("locklab play "):])
	_, shown, _ := strings.Cut(out[strings.LastIndex(out, "> 1\n"):], "\n")
	shown, did, _ := strings.Cut(shown, "\nc1 sends SETNX")
	if _, again, _ := callWith(t.Context(), "", "play", link); !strings.Contains(again, shown) ||
		!strings.Contains(did, "pick>") {
		t.Errorf("the link opens\n%s\nand was taken from\n%s", again, shown)
	}
	code, out, errs := callWith(t.Context(), "", "play", link, "--json")
	p := dataOf[game.Position](t, out, "position")
	if code != 0 || p.Link != link || p.Steps != 5 || len(p.Moves) == 0 {
		t.Errorf("exit status %d, %+v %s", code, p, errs)
	}
	if code, out, errs := call(t, "run", link); code != 0 || !strings.Contains(out, "setnx (003-A)") {
		t.Errorf("exit status %d: %s%s", code, out, errs)
	}
}

// TestOnPage: with the address of the page a run and a level name theirs on it.
func TestOnPage(t *testing.T) {
	const page = "https://example.org/lab/"
	for address, args := range map[string][]string{
		"level.3\n": {"play", "--level", "3"}, "locklab2-": {"run", "token", "gc-pause"},
		"lesson.token\n": {"explain", "token"}, "lesson.interview.etcd\n": {"explain", "etcd"},
		"lesson.interview.ttl\n": {"explain", "interview", "ttl"},
		"lesson.recovery\n":      {"chart", "recovery", "--locks", "setnx"},
	} {
		var out, errs strings.Builder
		code := run(t.Context(), args, strings.NewReader("q\n"), &out, &errs, func(name string) string {
			return map[string]string{"LOCKLAB_PAGE": page}[name]
		})
		if code != exitOK || !strings.Contains(out.String(), "  "+page+"#"+address) {
			t.Errorf("%v: exit status %d, %s%s", args, code, &errs, &out)
		}
	}
	for _, d := range figures(&chartFiles{}) {
		name, _, _ := strings.Cut(d.command.use, " ")
		if _, known, err := lessons.Find(name, ""); !known || err != nil {
			t.Errorf("chart %s: there is no page of that name: %v", name, err)
		}
	}
}

// TestInit: the template is copied, as a module of its own or into another one, and no file is overwritten.
func TestInit(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "my-lock")
	code, out, errs := call(t, "init", own)
	if code != exitOK || !strings.Contains(out, "go.mod, go.sum, mylock_test.go") {
		t.Fatalf("exit status %d, %s%s", code, out, errs)
	}
	module := contentOf(t, own, "go.mod")
	for _, want := range []string{"module example.com/mylock\n\ngo 1.", "godebug randseednop=0", "\nreplace " +
		modulePath() + " => \"/"} {
		if !strings.Contains(module, want) {
			t.Errorf("%q is missing in\n%s", want, module)
		}
	}
	if is, want := contentOf(t, own, "mylock_test.go"), contentOf(t, template, "mylock_test.go"); is != want {
		t.Error("the test is not that of the template")
	}
	if err := os.Remove(filepath.Join(own, "go.mod")); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, "init", own); code != exitUsage || !strings.Contains(errs, "go.sum is there already") {
		t.Errorf("exit status %d, %s", code, errs)
	}
	if _, err := os.Stat(filepath.Join(own, "go.mod")); err == nil {
		t.Error("it wrote go.mod, although it refused")
	}

	const shop = "// a shop\nmodule \"example.com/shop\" // sells\n\nrequire github.com/redis/go-redis/v9 v9.7.0\n"
	for name, text := range map[string]string{"go.mod": shop, "cart/cart.go": "package basket\n"} {
		fileWith(t, text, dir, name)
	}
	if code, _, errs = call(t, "init", filepath.Join(dir, "cart")); code != exitUsage ||
		!strings.Contains(errs, "cart/locktest") {
		t.Errorf("exit status %d, %s", code, errs)
	}
	code, out, errs = call(t, "init", filepath.Join(dir, "cart", "locktest"))
	if code != exitOK || !strings.Contains(out, "The module around it is unchanged") {
		t.Errorf("exit status %d, %s%s", code, out, errs)
	}
	module = contentOf(t, dir, "cart/locktest/go.mod")
	if !strings.Contains(module, "\nmodule example.com/shop/cart/locktest\n") ||
		!strings.HasSuffix(module, "\nrequire example.com/shop v0.0.0\n\nreplace example.com/shop => \"../..\"\n") {
		t.Errorf("of a module inside another one:\n%s", module)
	}
	if is := contentOf(t, dir, "go.mod"); is != shop {
		t.Errorf("the module around it is now %q", is)
	}
	name, finds := moduleAround(filepath.Join(template, "my lock"))
	if name != "module example.com/mylock/my-lock" ||
		!strings.HasSuffix(finds, "\nreplace example.com/mylock => \"..\"\n") {
		t.Errorf("around the template is %q, %q", name, finds)
	}
	if around, _ := moduleAround(filepath.Dir(template)); around != "" {
		t.Errorf("in the lab's own module it writes %q", around)
	}
	if code, _, errs := call(t, "init", filepath.Join(dir, "x"), "--lab", dir); code != exitUsage ||
		!strings.Contains(errs, "with --lab") {
		t.Errorf("exit status %d, %s", code, errs)
	}
}
