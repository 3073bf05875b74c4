//go:build !js

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"locklab/algorithms"
	"locklab/reports/board"
	"locklab/reports/chart"
	"locklab/reports/game"
	"locklab/reports/lessons"
	"locklab/reports/motion"
	"locklab/reports/page"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
)

// installed finds a program. Without it the test is skipped, but not in CI, which installs
// it.
func installed(t *testing.T, names ...string) string {
	t.Helper()
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	effort.Need(t, fmt.Errorf("%v is not installed", names))
	return ""
}

// native is the page with the engine behind the server, as "locklab serve" has it.
func native(t *testing.T) http.Handler {
	t.Helper()
	data, err := game.PageData()
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if err := board.Write(&content, board.Page{Data: data}); err != nil {
		t.Fatal(err)
	}
	var mu sync.Mutex
	stage := lessons.NewSmallStage()
	table := game.Table{Lesson: func(ctx context.Context, lang, name string) (string, error) {
		return lessons.Read(ctx, stage, lang, name)
	}}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content.Bytes()) })
	mux.HandleFunc("POST /answer", func(w http.ResponseWriter, r *http.Request) {
		request, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		_, _ = w.Write(table.Answer(r.Context(), request))
	})
	return mux
}

// The page in a browser, from a file, from a host and with a native engine: a level played to its end by
// keyboard, one by clicks, a quiz, the language and the theme, a damaged link. No error on
// the console, and no request that leaves the page.
func TestPageInBrowser(t *testing.T) {
	effort.OnlyExhaustive(t, "it builds the page, and drives a browser")
	chromium := installed(t, "chromium", "chromium-browser", "google-chrome")
	dir := t.TempDir()
	if err := write(dir); err != nil {
		t.Fatal(err)
	}
	host := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "site"))))
	defer host.Close()
	served := httptest.NewServer(native(t))
	defer served.Close()
	b := startBrowser(t, chromium)
	t.Run("report", func(t *testing.T) { b.report(t, dir) })
	for name, url := range map[string]string{"file": "file://" + filepath.Join(dir, pageFile), "hosted": host.URL + "/", "served": served.URL + "/"} {
		t.Run(name, func(t *testing.T) {
			b.t, b.requests, b.errors = t, nil, nil
			b.open(url, 1280, 900)
			b.wait(`state.ready`)
			b.look(name + "-levels")
			b.do(`playLevel(2)`)
			b.wait(`!state.busy && state.view === "game"`)
			b.key("h")
			b.wait(`!state.busy && state.hinted >= 0`)
			b.wait(`document.querySelector("p.hint").textContent === state.why && /first|wait/.test(state.why)`) // above the moves
			b.look(name + "-level")
			b.do(`playLevel(11)`)
			b.wait(`!state.busy && state.level.number === 11 && !/impossible|cannot be done:/.test(document.getElementById("main").textContent)`)
			b.key("h") // asks, and does not tell
			b.wait(`!state.busy && state.hinted < 0 && /at all/.test(document.getElementById("message").textContent)`)
			b.key("c")
			b.wait(`!state.busy && state.proved.right && best(DATA.levels[10]).proved && document.querySelector(".end")`)
			b.do(`playLevel(2)`)
			b.wait(`!state.busy && state.level.number === 2`)
			b.key("c") // wrong: it can be done
			b.wait(`!state.busy && !state.proved && /can be done/.test(document.getElementById("message").textContent)`)
			for range 60 { // each hint is followed, by keyboard
				if b.is(`state.at.verdicts.includes(state.harm)`) {
					break
				}
				b.key("h")
				b.wait(`!state.busy && state.hinted >= 0`)
				b.do(`window.before = state.at.link`)
				b.key(fmt.Sprint(1 + b.number(`state.hinted`)))
				b.wait(`!state.busy && state.at.link !== before`)
			}
			b.wait(`JSON.stringify(best(DATA.levels[1])) === '{"faults":1,"steps":17}'`)
			b.look(name + "-solved")
			b.click(`Next level`)
			b.wait(`!state.busy && state.level.number === 3`)
			b.click(`Give up`) // by mouse
			b.wait(`!state.busy && state.at.verdicts.includes("ORPHAN")`)
			b.click(`Take back`)
			b.wait(`!state.busy && !state.at.verdicts.includes("ORPHAN")`)
			b.do(`mend("token")`)
			b.wait(`!state.busy && state.mended`)
			b.look(name + "-mended")
			b.key("l")
			b.wait(`document.documentElement.lang === "zh" && state.view === "game"`)
			b.key("t")
			b.look(name + "-zh")
			b.key("l")
			b.do(`startQuiz(7)`)
			b.wait(`!state.busy && state.question`)
			b.key("b") // as in a terminal
			b.wait(`state.chosen === 1`)
			b.look(name + "-quiz")
			b.do(`playFree("token", "pause=1", { timing: "any", fenced: true })`)
			b.wait(`!state.busy && state.view === "game" && /timing=any/.test(state.at.bounds) && /fenced=true/.test(state.at.bounds)`)
			b.look(name + "-any")
			b.key("1")
			b.wait(`!state.busy && state.at.steps === 1`)
			b.click(`From the start`)
			b.wait(`!state.busy && state.at.steps === 0 && /timing=any/.test(state.at.bounds)`)
			b.wait(`location.hash === "#" + state.at.link`)
			if name != "hosted" { // the same engine as in the file
				b.raceAndLessons(name)
			}
			b.do(`open("quiz")`)
			b.do(`openLink("locklab2-damaged")`)
			b.wait(`!state.busy && document.getElementById("message").className === "bad"`)
			b.wait(`state.view === "quiz"`) // nothing is lost
			b.do(`tell("")`)
			b.do(`location.hash = "%"`)
			b.wait(`!state.busy && document.getElementById("message").className === "bad" && state.view === "quiz"`)
			b.narrow(400, 800)
			b.do(`open("game")`)
			b.look(name + "-narrow")
			if w := b.number(`document.documentElement.scrollWidth`); w > 400 {
				t.Errorf("at 400 px the page is %d px wide", w)
			}
			b.check(url)
			b.refuses(url)
		})
	}
}

// raceAndLessons watches a race and reads a lesson: step, scrub and play, a setting, another
// lock, the language without losing the place, a run that a lesson names.
func (b *browser) raceAndLessons(name string) {
	b.t.Helper()
	b.do(`location.hash = "race.token.gc-pause"`)
	b.wait(`!state.busy && state.view === "race" && state.moving`)
	b.look(name + "-race")
	b.key("Home")
	b.wait(`state.moving.where() === 0`)
	b.key("ArrowRight")
	b.wait(`state.moving.where() > 0`)
	b.do(`const bar = document.querySelector(".motion-scrub"); bar.value = 800; bar.oninput()`)
	b.wait(`Math.abs(state.moving.where() - 0.8) < 0.01 && document.querySelector(".motion-card.overlap")`)
	b.wait(`document.querySelector(".motion-code .latest")`) // the lock's own code, where a client is
	b.look(name + "-overlap")
	b.key("l")
	b.wait(`document.documentElement.lang === "zh" && Math.abs(state.moving.where() - 0.8) < 0.01`)
	b.key("t")
	b.look(name + "-race-zh")
	b.key("t")
	b.key("l")
	b.do(`document.querySelector(".motion-controls").children[2].click()`)
	b.wait(`state.moving.where() > 0.81`)
	b.do(`window.small = document.querySelector(".motion-picture").getBoundingClientRect().width`)
	b.key("p") // large type, for a projector: letters and pictures, and it is remembered
	b.wait(`keep.get("large") === "yes" && parseFloat(getComputedStyle(document.body).fontSize) > 20 && document.querySelector(".motion-picture").getBoundingClientRect().width > small`)
	b.look(name + "-race-large")
	b.key("p")
	b.wait(`keep.get("large") === "" && parseFloat(getComputedStyle(document.body).fontSize) < 20`)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	b.wait(`[".motion-controls", "#tools", ".row"].every((s) => getComputedStyle(document.querySelector(s)).display === "none")`)
	b.wait(`document.querySelector(".motion-picture").getBoundingClientRect().right <= document.documentElement.clientWidth + 1`)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
	b.do(`playRace("token", "gc-pause", "pause=2s")`)
	b.wait(`!state.busy && state.race.verdicts[0] === "HOLDS"`)
	b.do(`playRace("redlock", "failover")`)
	b.wait(`!state.busy && state.race.lock === "redlock"`)
	b.look(name + "-redlock")
	b.do(`playRace("mutex", "failover")`)
	b.wait(`!state.busy && state.race.not_applicable && !state.race.run`)
	b.do(`read("path 3")`)
	b.wait(`!state.busy && state.view === "lessons" && document.querySelector("button.inline")`)
	b.look(name + "-lesson")
	b.do(`read("interview")`)
	b.wait(`!state.busy && state.lesson.name === "interview"`)
	b.do(`read("token gc-pause")`)
	b.wait(`!state.busy && state.lesson.name === "token gc-pause"`)
	b.look(name + "-explained")
	b.do(`[...document.querySelectorAll("button.inline")].find((e) => e.textContent.startsWith("▶ run")).click()`)
	b.wait(`!state.busy && state.view === "race"`)
	b.do(`read("nonsense")`)
	b.wait(`!state.busy && document.getElementById("message").className === "bad" && state.view === "race"`)
}

// report opens a cell of a report, moves in the run, and goes to another lock.
func (b *browser) report(t *testing.T, dir string) {
	b.t = t
	sc, err := scenarios.ByName("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	r := page.Report{Lang: "zh", Runs: map[string]*motion.Book{}, Grid: chart.Grid{Scenarios: []chart.Column{{ID: sc.ID, Race: sc.Race}}}}
	for _, e := range algorithms.Milestones() {
		o, err := (&race.Runner{Lines: true}).Play(e, sc, sc.Settings)
		if err != nil {
			t.Fatal(err)
		}
		run, listings := motion.Of(o.History, o.Judgement, o.Verdicts, []string{"zh"}, true)
		r.Runs[e.ID] = &motion.Book{}
		r.Runs[e.ID].Add(sc.ID, run, listings)
		r.Grid.Strategies = append(r.Grid.Strategies, chart.Row{ID: e.ID})
		r.Grid.Cells = append(r.Grid.Cells, []chart.Cell{{Strategy: e.ID, Scenario: sc.ID, Verdicts: o.Verdicts, AsExpected: true, Reached: true}})
	}
	file := filepath.Join(dir, "report.html")
	var content bytes.Buffer
	if err := page.Write(&content, r); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, content.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	url := "file://" + file
	b.narrow(1280, 900)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.wait(`typeof bookOf === "function" && document.querySelector('a[href="#run.token.gc-pause"]')`)
	b.look("report")
	b.do(`document.querySelector('a[href="#run.token.gc-pause"]').click()`)
	b.wait(`viewer.open && moving && document.querySelector(".motion-picture")`)
	b.do(`document.querySelector(".motion-scrub").value = 800; document.querySelector(".motion-scrub").oninput()`)
	b.wait(`document.querySelector(".motion-card.overlap") && document.querySelector(".motion-code .latest")`)
	b.look("report-run")
	b.do(`location.hash = "run.setnx.gc-pause"`)
	b.wait(`viewer.open && document.querySelector("#viewer-title .lock").textContent === "setnx"`)
	b.narrow(400, 800)
	b.look("report-narrow")
	b.wait(`document.documentElement.scrollWidth <= 400`)
	b.do(`location.hash = "run.nobody.nowhere"`)
	b.do(`location.hash = "run.token.nowhere"`)
	b.wait(`viewer.open && !document.querySelector("#viewer-title")`) // a sentence
	for _, damaged := range []string{"%", "run.token.%E4", "run.token.__proto__"} {
		b.do(`location.hash = "run.setnx.gc-pause"`)
		b.wait(`viewer.open && document.querySelector("#viewer-title")`)
		b.do(fmt.Sprintf(`location.hash = %q`, damaged))
		b.wait(fmt.Sprintf(`viewer.open && !document.querySelector("#viewer-title") && viewer.textContent.includes(%q)`, damaged[strings.LastIndex(damaged, ".")+1:]))
	}
	b.do(`viewer.close()`)
	b.wait(`!viewer.open && location.hash === "#grid"`)
	b.check(url)
	b.refuses(url)
}

// refuses checks that the browser keeps the page's policy: it asks no other server, whatever
// the page does.
func (b *browser) refuses(url string) {
	b.t.Helper()
	var asked atomic.Bool
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Store(true) }))
	defer other.Close()
	b.do(`window.refused = []; addEventListener("securitypolicyviolation", (e) => refused.push(e.effectiveDirective))`)
	b.do(fmt.Sprintf(`fetch(%q).catch(() => {}); document.body.append(Object.assign(new Image(), { src: %[1]q }), Object.assign(document.createElement("script"), { src: %[1]q }))`, other.URL+"/x"))
	b.wait(`["connect-src", "img-src", "script-src-elem"].every((d) => refused.includes(d))`)
	if asked.Load() {
		b.t.Errorf("%s has asked another server", url)
	}
}

// A browser is Chromium, driven by its debugging protocol through a pipe.
type browser struct {
	t        *testing.T
	out      io.Writer
	id       atomic.Int64
	replies  chan reply
	session  string
	requests []string
	errors   []string
}

type reply struct {
	ID     int64
	Method string
	Params json.RawMessage
	Result json.RawMessage
	Error  *struct{ Message string }
}

func startBrowser(t *testing.T, path string) *browser {
	t.Helper()
	in, toBrowser, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	fromBrowser, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.Command(path, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
		"--disable-component-update", "--disable-sync", "--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir(), "about:blank")
	c.ExtraFiles = []*os.File{in, out}
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	var said bytes.Buffer // Wait waits until all of the browser's processes have closed it, and so for their ends
	c.Stdout, c.Stderr = &said, &said
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	in.Close()
	out.Close()
	b := &browser{t: t, out: toBrowser, replies: make(chan reply, 10_000)}
	t.Cleanup(func() {
		toBrowser.Close()
		_ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL)
		_ = c.Wait()
		if t.Failed() {
			t.Logf("the browser said: %s", &said)
		}
	})
	go func() {
		defer close(b.replies)
		for r := bufio.NewReader(fromBrowser); ; {
			message, err := r.ReadBytes(0)
			if err != nil {
				return
			}
			var got reply
			if json.Unmarshal(bytes.TrimSuffix(message, []byte{0}), &got) == nil {
				b.replies <- got
			}
		}
	}()
	var made struct{ TargetID string }
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &made)
	var attached struct{ SessionID string }
	b.call("Target.attachToTarget", map[string]any{"targetId": made.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	for _, domain := range []string{"Page", "Runtime", "Network", "Log"} {
		b.call(domain+".enable", nil, nil)
	}
	return b
}

// call waits for the answer to one command, and keeps what is reported meanwhile.
func (b *browser) call(method string, params, result any) {
	b.t.Helper()
	id := b.id.Add(1)
	m := map[string]any{"id": id, "method": method, "params": params}
	if params == nil {
		m["params"] = map[string]any{}
	}
	if b.session != "" {
		m["sessionId"] = b.session
	}
	message, err := json.Marshal(m)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.out.Write(append(message, 0)); err != nil {
		b.t.Fatal(err)
	}
	for r := range b.replies {
		if r.ID != id {
			b.note(&r)
			continue
		}
		if r.Error != nil {
			b.t.Fatalf("%s: %s", method, r.Error.Message)
		}
		if result != nil {
			if err := json.Unmarshal(r.Result, result); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
	b.t.Fatal("the browser has ended")
}

func (b *browser) note(r *reply) {
	switch r.Method {
	case "Network.requestWillBeSent":
		var p struct{ Request struct{ URL string } }
		_ = json.Unmarshal(r.Params, &p)
		b.requests = append(b.requests, p.Request.URL)
	case "Runtime.exceptionThrown", "Log.entryAdded":
		b.errors = append(b.errors, string(r.Params))
	case "Runtime.consoleAPICalled":
		var p struct{ Type string }
		_ = json.Unmarshal(r.Params, &p)
		if p.Type == "error" || p.Type == "warning" {
			b.errors = append(b.errors, string(r.Params))
		}
	}
}

func (b *browser) open(url string, width, height int) {
	b.t.Helper()
	b.narrow(width, height)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.wait(`typeof state === "object"`)
	b.do(`localStorage.clear(); state.lang = "en"; document.documentElement.dataset.theme = "light"; redraw()`)
}

func (b *browser) narrow(width, height int) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false}, nil)
}

// evaluate returns what an expression is, as JSON.
func (b *browser) evaluate(expression string) json.RawMessage {
	b.t.Helper()
	var r struct {
		Result           struct{ Value json.RawMessage }
		ExceptionDetails *struct{ Text string }
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &r)
	if r.ExceptionDetails != nil && !strings.HasPrefix(expression, "typeof") {
		return nil
	}
	return r.Result.Value
}

func (b *browser) do(expression string) { b.t.Helper(); b.evaluate(expression + "; 0") }
func (b *browser) is(expression string) bool {
	return string(b.evaluate("!!("+expression+")")) == "true"
}
func (b *browser) number(expression string) int {
	n := 0
	_ = json.Unmarshal(b.evaluate(expression), &n)
	return n
}

// wait waits until an expression is true: the engine works in another process.
func (b *browser) wait(expression string) {
	b.t.Helper()
	for end := time.Now().Add(2 * time.Minute); time.Now().Before(end); {
		if b.is(expression) {
			return
		}
		b.call("Runtime.evaluate", map[string]any{"expression": "new Promise(requestAnimationFrame)", "awaitPromise": true}, nil)
	}
	b.look("stuck")
	b.t.Fatalf("in vain: %s; the page says %s %v", expression, b.evaluate(`document.getElementById("message").textContent`), b.errors)
}

func (b *browser) key(key string) {
	b.t.Helper()
	for _, kind := range []string{"keyDown", "keyUp"} {
		event := map[string]any{"type": kind, "key": key}
		if len(key) == 1 {
			event["text"] = key
		}
		b.call("Input.dispatchKeyEvent", event, nil)
	}
}

// click clicks with the mouse on the button with a label.
func (b *browser) click(label string) {
	b.t.Helper()
	var at struct{ X, Y float64 }
	found := b.evaluate(fmt.Sprintf(`(() => { const e = [...document.querySelectorAll("button")].find((e) => e.textContent === %q);
		e.scrollIntoView({block: "center"}); const r = e.getBoundingClientRect(); return {X: r.x + r.width / 2, Y: r.y + r.height / 2}; })()`, label))
	if err := json.Unmarshal(found, &at); err != nil {
		b.t.Fatalf("there is no button %q", label)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": at.X, "y": at.Y, "button": "left", "clickCount": 1}, nil)
	}
}

// look saves a picture into the folder that LOCKLAB_SCREENS names, for eyes.
func (b *browser) look(name string) {
	b.t.Helper()
	dir := os.Getenv("LOCKLAB_SCREENS")
	if dir == "" {
		return
	}
	var shot struct{ Data string }
	b.call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &shot)
	picture, err := base64.StdEncoding.DecodeString(shot.Data)
	if err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

// check looks at what the browser has reported: errors, and where requests went.
func (b *browser) check(url string) {
	b.t.Helper()
	for _, e := range b.errors {
		b.t.Errorf("on the console: %s", e)
	}
	for _, r := range b.requests {
		if !strings.HasPrefix(r, url) && !strings.HasPrefix(r, "data:") && !strings.HasPrefix(r, "blob:") && r != "about:blank" {
			b.t.Errorf("a request to %s", r)
		}
	}
}
