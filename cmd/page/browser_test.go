//go:build !js

package main

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"locklab/algorithms"
	"locklab/reports"
	"locklab/reports/chart"
	"locklab/reports/game"
	"locklab/reports/lessons"
	"locklab/reports/page"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/effort"
	"locklab/simulator/history"
	"locklab/simulator/verdict"
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
	if err := page.WriteBoard(&content, page.Board{Data: data}); err != nil {
		t.Fatal(err)
	}
	var mus [2]sync.Mutex
	var tables [2]game.Table
	for i := range tables {
		tables[i].Lesson, tables[i].Cells = lessons.NewStage().Read, lessons.PathCells
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(content.Bytes()) })
	mux.HandleFunc("POST /answer", func(w http.ResponseWriter, r *http.Request) {
		request, _ := io.ReadAll(r.Body)
		i := 0
		if r.URL.Query().Has("aside") {
			i = 1
		}
		mus[i].Lock()
		defer mus[i].Unlock()
		_, _ = w.Write(tables[i].Answer(r.Context(), request))
	})
	return mux
}

// The page in a browser, from a file, from a host and with a native engine: a level played to its end by
// keyboard, one by clicks, a quiz, the language and the theme, a damaged link. No error on
// the console, and no request that leaves the page.
func TestPageInBrowser(t *testing.T) {
	b := startBrowser(t)
	dir := t.TempDir()
	compiled := sync.OnceValue(func() error { return write(dir) })
	host := httptest.NewServer(http.FileServer(http.Dir(filepath.Join(dir, "site"))))
	defer host.Close()
	served := httptest.NewServer(native(t))
	defer served.Close()
	t.Run("report", b.report)
	t.Run("run", b.run)
	for name, url := range map[string]string{"file": "file://" + filepath.Join(dir, pageFile), "hosted": host.URL + "/",
		"served": served.URL + "/"} {
		t.Run(name, func(t *testing.T) {
			if name != "served" {
				if err := compiled(); err != nil {
					t.Fatal(err)
				}
			}
			b.t, b.requests, b.errors = t, nil, nil
			b.open(url, 1280, 900)
			b.wait(`state.ready`)
			b.wait(`/Begin with level 1$/.test(document.querySelector(".hero .main").textContent) &&
				document.querySelectorAll("ol.levels")[0].children.length === 20`)
			b.look(name + "-levels")
			b.do(`playLevel(2)`)
			b.wait(`!state.busy && state.view === "game"`)
			b.key("h") // the idea
			b.wait(`!state.busy && state.hinted < 0 && /\?$/.test(document.querySelector("p.hint").textContent)`)
			b.click(`Show the move`)
			// there
			b.wait(`!state.busy && document.querySelector("p.hint").textContent === state.why && ` +
				`/^Choose/.test(state.why)`)
			b.look(name + "-level")
			b.do(`playLevel(5)`)
			b.wait(`!state.busy && state.level.number === 5 &&
				!/impossible|cannot be done:/.test(document.getElementById("main").textContent)`)
			b.keys("hh") // a hint that leads into no losing move
			b.wait(`!state.busy && state.hinted < 0 && document.querySelector("p.hint").textContent === state.why`)
			b.key("c") // who has not tried cannot know
			b.wait(`!state.busy && !state.proved &&
				document.querySelector(".judged").textContent.includes("one game to its end")`)
			b.keys("13")
			b.wait(`!state.busy && state.at.faults[0].used === 1 && document.querySelector(".end.harmful")`)
			b.key("c")
			b.wait(`!state.busy && state.proved.right && best(DATA.levels[4]).proved && ` +
				`document.querySelector(".end.won")`)
			b.do(`playLevel(2)`)
			b.wait(`!state.busy && state.level.number === 2`)
			b.do(`keep.set("tried.crash", "yes")`)
			b.key("c") // wrong: it can be done
			b.wait(`!state.busy && !state.proved && wrong(state.level) === 1 &&
				/can be done/.test(document.querySelector(".judged").textContent)`)
			for range 60 { // each hint is followed, by keyboard
				if b.is(`state.at.verdicts.includes(state.harm)`) {
					break
				}
				b.keys("hh")
				b.wait(`!state.busy && state.hinted >= 0`)
				b.do(`window.before = state.at.link`)
				b.key(fmt.Sprint(1 + b.number(`state.hinted`)))
				b.wait(`!state.busy && state.at.link !== before`)
			}
			b.wait(`JSON.stringify(best(DATA.levels[1])) === '{"faults":1,"steps":17,"helped":true}'`)
			b.look(name + "-solved")
			b.click(`Next: "EXPIRE mends it"`)
			b.wait(`!state.busy && state.level.number === 3`)
			b.click(`Give up`) // by mouse
			b.click(`Give up and see the answer?`)
			b.wait(`!state.busy && state.at.verdicts.includes("DEADLOCK")`)
			b.click(`Take back`)
			b.wait(`!state.busy && !state.at.verdicts.includes("DEADLOCK")`)
			b.loses()
			b.do(`playLevel(3)`)
			b.keys("1")
			b.keys("3")
			b.do(`mend("token")`)
			b.wait(`!state.busy && state.mended && document.querySelector(".end select").value === "token"`)
			b.look(name + "-mended")
			b.key("l")
			b.wait(`document.documentElement.lang === "zh" && state.view === "game"`)
			b.key("t")
			b.look(name + "-zh")
			b.key("l")
			b.do(`startQuiz(7)`)
			b.wait(`!state.busy && state.question.kind === "inside"`)
			b.wait(`document.querySelector(".motion-card.veiled") &&
				!/inside/.test(document.querySelector(".motion").textContent)`)
			b.key("b") // as in a terminal
			b.wait(`chosen() === 1`)
			b.look(name + "-quiz")
			b.do(`playFree("token", "pause=1", { timing: "any", fenced: true })`)
			b.wait(`!state.busy && state.view === "game" && /timing=any/.test(state.at.bounds) &&
				/fenced=true/.test(state.at.bounds)`)
			b.look(name + "-any")
			b.key("1")
			b.wait(`!state.busy && state.at.steps > 0`)
			b.click(`From the start`)
			b.wait(`!state.busy && state.at.steps === 0 && /timing=any/.test(state.at.bounds)`)
			b.wait(`location.hash === "#" + state.at.link`)
			if name != "hosted" { // the same engine as in the file
				b.raceAndLessons(name)
				b.line(name)
				b.history(name)
				b.touches(name)
				b.clicks()
			}
			if name == "served" {
				b.gallery()
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
			b.do(`window.scrollTo(0, 1e6)`) // the picture stays
			b.wait(`(({ top, bottom }) => scrollY > 100 && top >= 0 &&
				bottom <= innerHeight)(document.querySelector(".motion-box").getBoundingClientRect())`)
			if w := b.number(`document.documentElement.scrollWidth`); w > 400 {
				t.Errorf("at 400 px the page is %d px wide", w)
			}
			b.damaged(url)
			b.check(url)
			b.refuses(url)
		})
	}
}

// On a telephone a question opens at now, its answer is judged in sight, and the picture tells then what it left out;
// after ten answers the page says how many were right and where to learn the rest. What was not known of an interview
// is asked again as such, and the help begins with words.
func TestQuizOnPhone(t *testing.T) {
	b := startBrowser(t)
	served := httptest.NewServer(native(t))
	defer served.Close()
	b.open(served.URL+"/", 375, 812)
	b.wait(`state.ready`)
	b.do(`startQuiz(7)`)
	b.wait(`!state.busy && state.question?.kind === "inside"`)
	b.wait(`(({ right }) => right <= innerWidth)(document.querySelector(".motion-hand").getBoundingClientRect())`)
	inSight := `[...document.querySelectorAll(".quiz .row > *")].length === 3 &&
		[...document.querySelectorAll(".quiz .row > *")]` +
		`.every((e) => (({ top, bottom }) => top >= 0 && bottom <= innerHeight)(e.getBoundingClientRect()))`
	for n := range 10 {
		b.wait(fmt.Sprintf(`!state.busy && state.number === %d && chosen() < 0`, n))
		b.press(`document.querySelector(".answers button")`)
		b.wait(inSight)
		b.wait(`document.querySelector(".quiz .motion-box").getBoundingClientRect().bottom <=
			document.querySelector(".answers").getBoundingClientRect().top`) // the picture stands above
		b.wait(`!state.question.shown || document.querySelector(".motion-inside") && ` +
			`!document.querySelector(".veiled")`)
		b.look(fmt.Sprint("phone-quiz-", n))
		if n < 9 {
			b.wait(`!document.querySelector(".quiz .end")`)
			b.click("Next question")
		}
	}
	b.wait(`/^\d+ of the last 10 right/.test(document.querySelector(".quiz .end").textContent)`)
	b.wait(`Object.values(state.answers).every((a) => a.right) || document.querySelector('.quiz .end a[href^="#l"]')`)
	b.click("Go on")
	b.wait(`!state.busy && state.number === 10`)
	b.do(`playLevel(4)`)
	b.wait(`!state.busy && state.view === "game"`)
	b.wait(`[...document.querySelectorAll("#main button")].find((e) => e.textContent === "Hint")
		.getBoundingClientRect().bottom <` +
		`document.querySelector(".motion-box").getBoundingClientRect().top`)
	b.wait(`document.activeElement === document.querySelector("#main h2")`)
	b.look("phone-level")
	b.narrow(375, 700)
	b.key("1") // what it did is in sight, and so are the times of the game
	b.wait(`!state.busy && state.at.steps > 0 &&
		document.querySelector(".motion-box").getBoundingClientRect().bottom <= 700 &&
		/^The work takes 4 s. The lease lasts 10 s./.test(document.querySelector(".rules .faint").textContent) &&
		document.querySelector(".rules .faint").getBoundingClientRect().height > 10`)
	b.look("phone-moved")
	b.do(`open("quiz")`)
	b.wait(`state.view === "quiz" && document.querySelector("#tabs button").getBoundingClientRect().left >= 0`)
	b.wait(`document.querySelector("header").getBoundingClientRect().height < 60 &&
		!document.querySelector("#tools").clientWidth`)
	b.press(`document.getElementById("more")`)
	b.wait(`document.querySelector("#tools").clientWidth > 0`)
	b.look("phone-tabs")
	b.press(`document.querySelector("#tools button")`) // any lock
	b.wait(`state.view === "free" && !document.querySelector("#tools").clientWidth`)
	b.click("▶ Game")
	b.wait(`state.view === "game" && state.at.steps > 0`)
	b.do(`open("help")`)
	b.wait(`document.querySelector("main dt").textContent === "fault" &&
		document.querySelectorAll("main dl dd").length > 12`)
	b.look("phone-help")
	b.do(`location.hash = "ask.2"`)
	b.wait(`!state.busy && state.asking?.number === 2`)
	b.do(`marked("half")`)
	b.wait(`!state.busy && state.asking.number !== 2`)
	b.do(`location.hash = "ask.2"`)
	b.wait(`!state.busy && state.asking.number === 2 &&
		/last time you said "Half of it"/.test(document.querySelector("main").textContent)`)
	b.key("Enter")
	b.wait(`new Set([...document.querySelectorAll("#main > .row button")]
		.map((e) => getComputedStyle(e).backgroundColor)).size === 1`)
	b.do(`playFree("token", "pause=1")`)
	b.wait(`!state.busy && state.view === "game" && !state.level &&
		/SET lock/.test(document.querySelector("details.board pre").textContent)`)
	b.do(`playRace("token", "gc-pause")`)
	b.wait(`!state.busy && state.view === "race" &&
		document.querySelector("#main select option").value !== state.race.lock`)
	b.look("phone-race")
	b.check(served.URL)
}

// Without its engine the page has lessons, and the first levels up to their end.
func TestWithoutEngine(t *testing.T) {
	b := startBrowser(t)
	known, err := known()
	if err != nil {
		t.Fatal(err)
	}
	data, err := game.PageData()
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if err := page.WriteBoard(&content, page.Board{Data: data, Known: known, EngineFile: "nothing"}); err != nil {
		t.Fatal(err)
	}
	served := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/" {
			http.NotFound(w, r)
			return
		}
		_, _ = w.Write(content.Bytes())
	}))
	defer served.Close()
	b.open(served.URL+"/", 1280, 900)
	b.wait(`document.querySelector("#message.bad")`) // there is none
	b.do(`playLevel(2)`)
	b.wait(`!state.busy && state.level?.number === 2`)
	for range 2 {
		b.keys("hh")
		b.wait(`!state.busy && state.hinted >= 0`)
		b.do(`window.before = state.at.link`)
		b.key(fmt.Sprint(1 + b.number(`state.hinted`)))
		b.wait(`!state.busy && state.at.link !== before`)
	}
	b.wait(`best(state.level).faults === 1 && document.querySelector(".end")`)
	b.key("u")
	b.wait(`!state.busy && !document.querySelector(".end") && state.at.link === before`)
	b.do(`read("token")`)
	b.wait(`!state.busy && state.view === "lessons" && state.lesson.name === "token"`)
	b.do(`location.hash = "ask.19"`)
	b.wait(`!state.busy && state.asking?.number === 19`)
	b.key("Enter")
	b.press(`document.querySelector("main summary")`)
	b.wait(`!state.busy && document.querySelector("main .motion-picture")`)
}

// loses has the fault strike too late in level 3: the page says which move that was, marks it, and goes back to before
// it. Of a move that is clicked on three times at once one is made.
func (b *browser) loses() {
	b.t.Helper()
	b.do(`playLevel(3)`)
	b.wait(`!state.busy && state.at.steps === 0 &&
		/EXPIRE lock/.test(document.querySelector("details[open] pre").textContent)`)
	b.keys("b1") // b means nothing yet
	b.wait(`!state.busy && state.level.number === 3 && state.at.steps === 2 &&
		document.getElementById("message").textContent.includes("key b")`)
	b.wait(`document.querySelector(".did").textContent === plain(state.at.did) &&
		/^SETNX lock 1 of c1 takes effect/.test(plain(state.at.did))`)
	b.key("1")
	b.wait(`!state.busy && state.at.steps === 3 && /EXPIRE/.test(state.at.moves[0].said.en)`)
	b.do(`window.there = state.at.link`)
	b.do(`const crash = document.querySelector(".moves .fault"); for (let n = 0; n < 3; n++) crash.click()`)
	b.wait(`!state.busy && document.querySelector(".end.harmful") && state.at.faults[0].used === 1 &&
		/EXPIRE was already on its way/.test(document.querySelector(".end").textContent)`)
	b.wait(`[...document.querySelectorAll(".motion-harm")].some((e) => e.textContent === "lost here")`)
	b.click("Back to before that move")
	b.wait(`!state.busy && state.at.link === there && !document.querySelector(".end")`)
	b.keys("3b")
	b.wait(`!state.busy && state.at.link === there && !document.querySelector(".end")`)
}

// clicks makes two fast clicks at one place: the second one never meets another move, and nothing under the pointer
// moves. On a telephone the first move stands above the fold, and all views fit beside each other.
func (b *browser) clicks() {
	b.t.Helper()
	for _, level := range []int{2, 4, 7} {
		for move := range 2 {
			b.do(fmt.Sprintf(`playLevel(%d)`, level))
			b.wait(fmt.Sprintf(`!state.busy && state.level.number === %d && state.at.steps === 0`, level))
			at := b.over(fmt.Sprintf(`document.querySelectorAll(".moves button")[%d]`, move))
			b.do(`window.first = document.querySelector(".moves").getBoundingClientRect().top`)
			b.do(`performance.now = ((late) => () => late)(state.came + 400)`) // between the clicks no time passes
			for range 2 {
				b.mouse("mousePressed", at, 1)
				b.mouse("mouseReleased", at, 0)
				b.wait(`!state.busy && state.at.steps > 0`)
			}
			b.do(`delete performance.now; window.there = state.at.link`)
			b.wait(`document.querySelector(".moves").getBoundingClientRect().top === first &&
				document.querySelector("details.board").open`)
			b.frames()
			b.wait(`!state.busy && state.at.link === there && state.at.faults[0].used === 0 && state.at.steps <= 3`)
		}
	}
	b.narrow(375, 812)
	b.do(`playLevel(4)`)
	b.wait(`!state.busy && state.level.number === 4 && state.at.steps === 0`)
	for _, lang := range []string{"en", "zh"} {
		b.do(fmt.Sprintf(`state.lang = %q; redraw(); window.scrollTo(0, 0)`, lang))
		b.wait(`!document.querySelector(".board").open`)
		b.do(`document.querySelector(".board").open = true`)
		b.wait(`document.querySelector(".moves button").getBoundingClientRect().bottom < 812`)
		b.wait(`document.querySelector(".board pre").scrollWidth <= document.querySelector(".board pre").clientWidth`)
		b.wait(`document.getElementById("tabs").scrollWidth <= document.getElementById("tabs").clientWidth`)
	}
	b.narrow(1280, 900)
	b.do(`playLevel(2)`)
	b.wait(`!state.busy && state.level.number === 2 && state.at.steps === 0`)
	b.keys("13") // a bar that is too short for its label has none
	b.wait(`!state.busy && state.at.faults[0].used === 1 && document.querySelectorAll(".motion-inbar").length > 2`)
	b.wait(`[...document.querySelectorAll(".motion-inbar")].map((e) => e.getBoundingClientRect()).every((a, i, all) =>
		all.every((b, j) => i === j || a.right <= b.left || b.right <= a.left ||
			a.bottom <= b.top || b.bottom <= a.top))`)
	b.do(`state.lang = "en"; document.documentElement.dataset.theme = "light"; ` +
		`localStorage.removeItem("locklab.theme")`)
	b.media("screen", "dark") // the page follows the system
	b.wait(`document.documentElement.dataset.theme === "dark"`)
	b.media("screen", "light")
	b.wait(`document.documentElement.dataset.theme === "light"`)
}

// damaged opens the page at addresses that it does not have: it says so, and still does when its engine has come.
func (b *browser) damaged(url string) {
	b.t.Helper()
	for address, says := range map[string]string{"level.99": "no level 99", "nonsense": "no #nonsense",
		"quiz.abc": "no address of a quiz"} {
		b.visit(url + "#" + address)
		b.wait(`typeof state === "object" && state.ready && !state.busy`)
		b.frames()
		b.wait(fmt.Sprintf(`document.querySelector("#message.bad").textContent.includes(%q)`, says))
	}
}

// raceAndLessons watches a race and reads a lesson: step, scrub and play, a setting, another
// lock, the language without losing the place, a run that a lesson names.
func (b *browser) raceAndLessons(name string) {
	b.t.Helper()
	b.do(`location.hash = "race.token.gc-pause"`)
	b.wait(`!state.busy && state.view === "race" && state.moving`)
	b.look(name + "-race")
	b.wait(`document.querySelector("optgroup").querySelector('option[value="watchdog"]') &&
		!document.querySelector('option[value="zk-naive"]')`) // what was meant to mend it first; what is far is folded
	b.wait(`document.querySelectorAll(".why").length === state.race.verdicts.length &&
		/^OVERLAP c1\+c2, from 10.51 s to 15 s: /.test(document.querySelector(".why").textContent)`)
	b.wait(`/^What fixes it: .*fencing token/.test(document.querySelector(".cure")?.textContent) &&
		document.querySelector('.cure a.cited[href="#race.redislock-fence.gc-pause-fenced"]')`)
	b.do(`const filter = document.querySelector(".others input"); filter.value = "herd"; filter.oninput()`)
	b.wait(`[...document.querySelectorAll(".others button")].filter((e) => !e.hidden && !e.closest("details").hidden)
		.map((e) => e.textContent.split(":")[0]).join() === "zk-herd"`)
	b.wait(`document.querySelectorAll(".motion-read, .motion-write").length === 4`) // two reads and two writes

	b.wait(`document.querySelector(".motion-card.overlap")`) // at its verdict, not at its idle end
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
	b.press(`document.querySelector(".motion-controls").children[2]`)
	b.wait(`state.moving.where() > 0.81`)
	b.key(" ") // the focus has returned to the picture: it stops
	b.wait(`document.querySelector(".motion-controls").children[2].textContent === "▶" && state.moving.where() < 1`)
	b.do(`document.querySelector(".motion-controls").children[0].focus()`)
	b.key(" ") // a button that has the focus is pressed
	b.wait(`state.moving.where() === 0`)
	b.do(`window.small = document.querySelector(".motion-picture").getBoundingClientRect().width`)
	b.key("p") // large type, for a projector: letters and pictures, and it is remembered
	b.wait(`keep.get("large") === "yes" && parseFloat(getComputedStyle(document.body).fontSize) > 20 &&
		document.querySelector(".motion-picture").getBoundingClientRect().width > small`)
	b.look(name + "-race-large")
	b.key("p")
	b.wait(`keep.get("large") === "" && parseFloat(getComputedStyle(document.body).fontSize) < 20`)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": "print"}, nil)
	b.wait(`[".motion-controls", "#tools",
		".row"].every((s) => getComputedStyle(document.querySelector(s)).display === "none")`)
	b.wait(`document.querySelector(".motion-picture").getBoundingClientRect().right <=
		document.documentElement.clientWidth + 1`)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": ""}, nil)
	b.do(`playRace("token", "gc-pause", "pause=2s")`)
	b.wait(`!state.busy && state.race.verdicts[0] === "HOLDS" && !document.querySelector(".cure")`)
	b.do(`playRace("redlock", "failover")`)
	b.wait(`!state.busy && state.race.lock === "redlock"`)
	b.look(name + "-redlock")
	b.do(`playRace("mutex", "failover")`)
	b.wait(`!state.busy && state.race.not_applicable && !state.race.run`)
	b.do(`read("path 3")`)
	b.wait(`!state.busy && state.view === "lessons" && document.querySelector("a.inline")`)
	b.look(name + "-lesson")
	b.wait(`document.querySelector(".lesson ~ .row").textContent === 'Break it yourself:Level 3: "EXPIRE mends it"'`)
	b.press(`document.querySelector("a.cited")`)
	b.wait(`!state.busy && state.view === "race" && state.hash === "race.setnx-expire.crash-before-expire"`)
	b.do(`state.lang = "zh"`)
	b.do(`read("path 6")`)
	b.wait(`!state.busy &&
		document.querySelector("a.cited")?.title === "OVERLAP 双持有、STALE-WRITE 过期写：token 的 slow-work"`)
	b.do(`state.lang = "en"`)
	b.do(`read("interview")`)
	b.wait(`!state.busy && state.page === 0 && document.querySelector("article h3")`)
	if h := b.number(`document.documentElement.scrollHeight`); h > 2400 {
		b.t.Errorf("a page of the interview is %d px high", h)
	}
	b.look(name + "-interview")
	b.press(`document.querySelector(".pages a")`)
	b.wait(`!state.busy && state.page === 1 && location.hash === "#lesson.interview/2"`)
	b.press(`document.querySelector("summary")`)
	b.press(`[...document.querySelectorAll("details a")].find((e) => /fencing/i.test(e.textContent))`)
	b.wait(`!state.busy && state.page > 1`)
	b.asked(name)
	b.do(`read("token gc-pause")`)
	b.wait(`!state.busy && state.lesson.name === "token gc-pause"`)
	b.look(name + "-explained")
	b.do(`location.hash = "lesson.token.gc-pause/9"`) // beyond the last page
	b.wait(`!state.busy && state.page > 0 && state.page < 8`)
	b.press(`[...document.querySelectorAll("a.inline")].find((e) => /^▶ (Play this run|[\w-]+, )/.test(e.textContent))`)
	b.wait(`!state.busy && state.view === "race"`)
	b.do(`read("nonsense")`)
	b.wait(`!state.busy && document.getElementById("message").className === "bad" && state.view === "race"`)
}

// asked answers questions of an interview by keys: what was not known comes again after three others, also when the
// page was loaded anew.
func (b *browser) asked(name string) {
	b.t.Helper()
	b.click("Ask me")
	b.wait(`!state.busy && state.view === "ask" && location.hash === "#ask.1" && !document.getElementById("answer")`)
	for i, how := range []string{"3", "1", "1", "2"} {
		b.wait(fmt.Sprintf(`!state.busy && state.asking.number === %d`, i+1))
		b.key("Enter")
		b.wait(`document.activeElement.id === "answer" && document.activeElement.textContent.split(" ").length <= 60`)
		if i == 0 {
			b.press(`document.querySelector("main summary")`)
			b.wait(`!state.busy && document.querySelectorAll("main .motion-picture").length === 1`)
			b.look(name + "-asked")
		}
		b.key(how)
	}
	b.wait(`!state.busy && state.asking.number === 1 && location.hash === "#ask.1" && marks().length === 4`)
	b.key("Enter")
	b.wait(`document.getElementById("answer")`)
	b.key("Enter") // on, without a mark
	b.wait(`!state.busy && state.asking.number === 5 && new Map(marks()).get(state.asking.ids[0]) === "no"`)
	b.click("Ask me") // the question stays until it is left
	b.click("Quiz")
	b.wait(`!state.busy && state.view === "quiz"`)
	b.click("Ask me")
	b.wait(`!state.busy && state.view === "ask" && state.asking.number === 5`)
	b.do(`state.asking = null; open("quiz"); location.hash = "ask"`) // as in a page that was loaded anew
	b.wait(`!state.busy && state.view === "ask" && state.asking?.number === 5 && location.hash === "#ask.5"`)
	b.do(`for (const id of state.asking.ids) marked("yes", id)`)
	b.wait(`!state.busy && state.asking.number === 0`)
	b.click("Ask all of them again")
	b.wait(`!state.busy && state.asking.number === 1`)
}

// report opens a cell of a report, moves in the run, and goes to another lock.
func (b *browser) report(t *testing.T) {
	b.t = t
	sc, err := scenarios.ByName("gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	r := page.Report{Lang: "zh", Runs: map[string]*reports.Book{},
		Grid: chart.Grid{Races: []chart.Column{{ID: sc.ID, Code: sc.Code}}}}
	for _, e := range algorithms.Milestones() {
		o, err := (&race.Runner{Lines: true}).Play(e, sc, sc.Settings)
		if err != nil {
			t.Fatal(err)
		}
		run, listings := reports.RunOf(o.History, o.Judgement, o.Verdicts, []string{"zh"}, true)
		r.Runs[e.ID] = &reports.Book{}
		r.Runs[e.ID].Add(sc.ID, run, listings)
		r.Grid.Locks = append(r.Grid.Locks, chart.Row{ID: e.ID})
		r.Grid.Cells = append(r.Grid.Cells, []chart.Cell{
			{Lock: e.ID, Race: sc.ID, Verdicts: o.Verdicts, AsExpected: true, Triggered: true}})
	}
	var content bytes.Buffer
	if err := page.Write(&content, r); err != nil {
		t.Fatal(err)
	}
	url := fileURL(t, content.String())
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
		b.wait(fmt.Sprintf(`viewer.open && !document.querySelector("#viewer-title") && viewer.textContent.includes(%q)`,
			damaged[strings.LastIndex(damaged, ".")+1:]))
	}
	b.do(`viewer.close()`)
	b.wait(`!viewer.open && location.hash === "#grid"`)
	b.check(url)
	b.refuses(url)
}

// run opens the page of a run: nothing is in it but the run, all of which is drawn; played, it comes to its overlap
// within six seconds, and not before one has seen what led there.
func (b *browser) run(t *testing.T) {
	b.t, b.requests, b.errors = t, nil, nil
	o, err := lessons.NewStage().Named("token", "gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	of := report.RunPage(&text.Printer{Lang: "en"}, o, "locklab run token gc-pause")
	if err := page.WriteRuns(&content, of); err != nil {
		t.Fatal(err)
	}
	url := fileURL(t, content.String())
	b.narrow(1280, 900)
	b.visit(url)
	b.wait(`document.querySelectorAll(".motion-picture").length === 1 && !document.querySelector("table:not(.lanes)")`)
	shown := `[...document.querySelectorAll(".motion-harm:not(.later)")].` +
		`filter((e) => /OVERLAP c1/.test(e.textContent)).length === 1`
	b.wait(shown + ` && /^10511 ms/.test(document.querySelector(".motion-clock").textContent)`) // at the verdict
	b.wait(`document.querySelector(".motion-box").scrollWidth <= document.querySelector(".motion-box").clientWidth`)
	b.look("run")
	b.do(`window.requestAnimationFrame = (f) => { window.frame = f; return 1; }`)
	b.key("Home")
	b.key(" ")
	b.do(`frame(performance.now() + 4000)`)
	b.wait(`!(` + shown + `)`)
	b.do(`frame(performance.now() + 6000)`)
	b.wait(shown)
	b.narrow(375, 800)
	b.look("run-narrow")
	b.wait(`document.documentElement.scrollWidth <= 375`)
	b.check(url)
	local, _ := reports.RunOf(&history.History{Clients: 1}, verdict.Judgement{}, nil, []string{"en"}, false)
	of.Parts = append(of.Parts, page.Part{Title: "as of a log, without servers", Run: local})
	content.Reset()
	if err := page.WriteRuns(&content, of); err != nil {
		t.Fatal(err)
	}
	url = fileURL(t, content.String())
	b.requests = nil
	b.visit(url)
	b.wait(`document.querySelectorAll(".motion-picture").length === 2`)
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
	b.do(fmt.Sprintf(`fetch(%q).catch(() => {}); document.body.append(Object.assign(new Image(), { src: %[1]q }),
		Object.assign(document.createElement("script"), { src: %[1]q }))`, other.URL+"/x"))
	b.wait(`["connect-src", "img-src", "script-src-elem"].every((d) => refused.includes(d))`)
	if asked.Load() {
		b.t.Errorf("%s has asked another server", url)
	}
}

// line types faster than the engine answers: every key counts, against the position that it meets.
// What takes long can be left, and the views that need no engine open meanwhile.
func (b *browser) line(name string) {
	b.t.Helper()
	for _, together := range []bool{false, true} {
		b.do(`playLevel(14)`)
		b.wait(`!state.busy && state.level.number === 14 && state.at.steps === 0`)
		if together {
			b.keys("111111")
		} else {
			for range 6 {
				b.key("1")
				b.wait(`!state.busy`)
			}
			b.do(`window.there = state.at.link`)
		}
		b.wait(`!state.busy && state.at.link === there`)
	}
	b.do(`playLevel(2)`) // of which the next keys do not wait for the end
	b.keys("n11uu13n19") // n leads on only after a win
	b.wait(`!state.busy && state.level.number === 3 && state.at.steps === 2`)
	b.wait(`document.getElementById("message").textContent.includes("9")`) // it meant nothing, and that is said
	// What has no end.
	b.do(`const real = engine.leave; work(() => new Promise((_, reject) => {
		engine.leave = () => { engine.leave = real; reject(engine.left); }; }), { visit: ++state.visits })`)
	b.wait(`state.busy && !document.getElementById("line").hidden`)
	b.wait(`/\d s/.test(document.getElementById("line").textContent)`)
	b.key("1") // waits behind it
	b.wait(`document.getElementById("line").textContent.includes("waiting: 1")`)
	b.click("?")
	b.wait(`state.view === "help" && state.busy`)
	for _, word := range []string{"lease", "BLOCKED", "STARVED", "VACUOUS", "lost", "c3"} {
		b.wait(fmt.Sprintf(`[...document.querySelectorAll("dt")].some((e) => e.textContent === %q
			&& e.nextSibling.textContent.length > 20)`, word))
	}
	b.wait(`/gets in.*leaves.*READ v0.*!!/.test(document.getElementById("main").textContent)`)
	b.look(name + "-help")
	b.click("Lessons")
	b.wait(`state.view === "lessons" && state.busy`)
	b.key("Escape")
	b.wait(`!state.busy && state.level.number === 3 && state.at.steps === 3 && state.view === "lessons"`)
}

// history goes Back and Forward through a level, a lesson and the quiz.
func (b *browser) history(name string) {
	b.t.Helper()
	b.do(`playLevel(6)`)
	b.wait(`!state.busy && state.view === "game" && location.hash === "#level.6"`)
	b.key("1")
	b.wait(`!state.busy && state.at.steps === 2 && location.hash === "#level.6." + state.at.link`)
	b.do(`window.there = state.at.link; read("path 3")`)
	b.wait(`!state.busy && state.view === "lessons" && location.hash === "#lesson.path.3"`)
	b.press(`document.querySelector('.pages a[href="#lesson.path.4"]')`)
	b.wait(`!state.busy && state.lesson.name === "path 4"`)
	b.do(`startQuiz(7)`)
	b.wait(`!state.busy && state.question && location.hash === "#quiz.7.1"`)
	b.keys("1n2")
	b.wait(`!state.busy && state.number === 1 && chosen() === 1 && location.hash === "#quiz.7.2"`)
	for _, c := range []struct{ way, there string }{
		{"back", `location.hash === "#quiz.7.1" && state.view === "quiz" && chosen() === 0`},
		{"back", `state.view === "lessons" && state.lesson.name === "path 4"`},
		{"back", `state.view === "lessons" && state.lesson.name === "path 3"`},
		{"back", `state.view === "game" && state.level.number === 6 && state.at.link === there`},
		{"forward", `state.view === "lessons" && state.lesson.name === "path 3"`},
		{"forward", `state.lesson.name === "path 4"`},
		{"forward", `location.hash === "#quiz.7.1" && state.view === "quiz" && chosen() === 0`},
		{"forward", `location.hash === "#quiz.7.2" && state.view === "quiz" && chosen() === 1`},
	} {
		b.do(`history.` + c.way + `()`)
		b.wait(`!state.busy && ` + c.there)
	}
	b.do(`window.entries = history.length; history.go(-4)`)
	b.wait(`!state.busy && state.view === "game" && history.length === entries`)
	for _, bad := range []string{
		"level.99", "level.6.locklab2-damaged", "race.nobody.nowhere", "lesson.nonsense", "nonsense",
		"quiz.abc", "quiz.7.0", "ask.99", "quiz.7.1.lock=nobody", "quiz.7.1.colour=red", "quiz.7.1.difficulty=none",
	} {
		b.do(fmt.Sprintf(`location.hash = %q`, bad))
		b.wait(`!state.busy && document.querySelector("#message.bad")?.textContent.length > 10`)
		b.wait(`state.view === "game" && state.at.link === there && location.hash === "#level.6." + there`)
		b.do(`tell("")`)
	}
	b.key("g") // asks first, as the button does
	b.wait(`!state.busy && state.sure !== ""`)
	b.key("g")
	// the cure
	b.wait(`!state.busy && document.querySelector(".end .main").textContent === 'Next: "GET before DEL mends it"'`)
	// a way that was shown counts for nothing, also when Back or a link leads to its end
	b.do(`keep.set("level." + state.level.id, "null"); window.end = location.hash; playLevel(7)`)
	b.wait(`!state.busy && state.level.number === 7`)
	b.do(`history.back()`)
	b.wait(`!state.busy && state.level.number === 6 && over() && !best(state.level) &&
		/^A shortest way/.test(document.querySelector(".end").textContent)`)
	b.do(`ends.clear(); playLevel(6)`)
	b.wait(`!state.busy && state.at.steps === 0`)
	b.do(`location.hash = end`)
	b.wait(`!state.busy && over() && !best(state.level) &&
		/opened by its link/.test(document.querySelector(".end").textContent)`)
	b.do(`startQuiz(7, "lock=token,difficulty=easy")`)
	b.wait(`!state.busy && state.question.lock === "token" && location.hash === "#quiz.7.1.lock=token,difficulty=easy"`)
	b.do(`location.hash = "quiz.7.1.lock=watchdog,race=failover"`)
	b.wait(`!state.busy && state.question.lock === "watchdog" && state.about === "lock=watchdog,race=failover"`)
	b.do(`history.back()`)
	b.wait(`!state.busy && state.question.lock === "token" && /difficulty=easy/.test(state.about)`)
	b.do(`state.about = ""; state.at = state.level = null; location.hash = "level.3.locklab2-damaged"`)
	b.wait(`!state.busy && state.level?.number === 3 && state.at.steps === 0 && /^3\. /.test(document.title)`)
	b.wait(`document.querySelector("#message.bad")`)
}

// gallery takes pictures for eyes: each page once, and each kind of them on a telephone, dark and in Chinese.
func (b *browser) gallery() {
	b.t.Helper()
	pages := []struct{ name, open, there string }{
		{"levels", `open("levels")`, `state.view === "levels"`},
		{"free", `open("free")`, `state.view === "free"`},
		{"help", `open("help")`, `state.view === "help"`},
		{"lessons", `location.hash = "lessons"`,
			`!state.busy && state.view === "lessons" && state.lesson.name === "path 1"`},
		{"path", `read("path 3")`, `state.lesson?.name === "path 3"`},
		{"topic", `read("interview ttl")`, `state.lesson?.name === "interview ttl"`},
		{"term", `read("OVERLAP")`, `state.lesson?.name === "OVERLAP"`},
		{"lock", `read("token")`, `state.lesson?.name === "token"`},
		{"glossary", `read("glossary")`, `state.lesson?.name === "glossary"`},
		{"explained", `read("token gc-pause")`, `state.lesson?.name === "token gc-pause"`},
		{"race", `playRace("token", "gc-pause")`, `state.view === "race" && state.race.race === "gc-pause"`},
		{"jump", `playRace("token", "clock-jump")`, `state.view === "race" && state.race.race === "clock-jump"`},
		{"redlock", `playRace("redlock", "restart")`, `state.view === "race" && state.race.lock === "redlock"`},
		{"quiz", `startQuiz(7).then(() => press("quiz", "1"))`, `state.view === "quiz" && chosen() === 0`},
		{"level", `playLevel(14); for (const key of "11") work(() => press("game", key))`,
			`state.view === "game" && state.at.steps > 2`},
		{"solved", `playLevel(8).then(giveUp)`, `state.view === "game" && state.at.verdicts.includes("OVERLAP")`},
		{"any", `playFree("watchdog", "pause=1")`, `state.view === "game" && !state.level`},
	}
	for _, c := range []struct {
		name, lang, theme string
		width             int
	}{{"wide", "en", "light", 1280}, {"phone", "zh", "dark", 400}} {
		b.narrow(c.width, 900)
		b.do(fmt.Sprintf(`state.lang = %q; document.documentElement.dataset.theme = %q; open("levels")`,
			c.lang, c.theme))
		for _, p := range pages {
			b.do(p.open)
			b.wait(`!state.busy && ` + p.there)
			b.do(`tell("")`)
			b.frames()
			b.look(c.name + "-" + p.name)
			if w := b.number(`document.documentElement.scrollWidth`); w > c.width {
				b.t.Errorf("%s: at %d px the page is %d px wide", p.name, c.width, w)
			}
		}
	}
	b.narrow(1280, 900)
	b.do(`state.lang = "en"; redraw()`)
}

// touches uses the picture: a client, a message, time and the end of a pause.
func (b *browser) touches(name string) {
	b.t.Helper()
	b.do(`playLevel(DATA.levels.find((l) => l.id === "lost-reply").number)`)
	b.wait(`!state.busy && state.view === "game" && state.at.steps === 0`)
	b.look(name + "-start")
	// The only move of c1: it asks, and no request may be lost here.
	b.press(`document.querySelector('[data-act="c1"]')`)
	b.wait(`!state.busy && state.at.steps === 2 && document.querySelector('[data-act^="m"]')`)
	b.wait(`document.querySelector(".motion-code .here")`) // the code, and where c1 is in it
	b.look(name + "-letter")
	b.press(`document.querySelector('[data-act^="m"] circle')`)
	b.wait(`!document.querySelector(".motion-menu").hidden && state.at.steps === 2`) // a fault is asked about first
	b.press(`document.querySelector(".motion-menu button")`)                         // the reply is lost
	b.wait(`!state.busy && state.at.steps >= 3 && state.at.faults[0].used === 1`)    // forced moves follow
	b.look(name + "-lost")
	b.do(`playLevel(2)`)
	b.wait(`!state.busy && state.level.number === 2 && state.at.steps === 0`)
	b.press(`document.querySelector(".motion-who button")`) // the card of c1
	b.wait(`!state.busy && state.at.steps === 2`)
	b.press(`document.querySelector('[data-act="c1"]')`) // several moves: a menu
	b.wait(`!document.querySelector(".motion-menu").hidden`)
	b.look(name + "-menu")
	b.press(`[...document.querySelectorAll(".motion-menu button")].find((e) => /CRASH|crash/i.test(e.textContent))`)
	b.wait(`!state.busy && state.at.faults[0].used === 1`)
	b.do(`playLevel(8)`)
	b.wait(`!state.busy && state.level.number === 8 && state.at.steps === 0`)
	b.key("1")
	b.wait(`!state.busy && state.at.steps === 2`)
	b.do(`keep.set("speed", "4"); redraw()`)
	b.press(`document.querySelector(".motion-controls").children[2]`) // time flows, until there is a choice
	b.wait(`!state.busy && !state.flow && state.at.steps >= 1 && state.at.moves.filter((m) => !m.fault).length !== 1`)

	b.do(`playRace("token", "gc-pause", "pause=7s")`)
	b.wait(`!state.busy && state.view === "race" && state.race.verdicts[0] === "HOLDS"`)
	b.look(name + "-short")
	b.drag(`document.querySelector('[data-drag="pause"]')`, 300)
	b.wait(`!state.busy && state.race.verdicts[0] === "OVERLAP" && /pause=\d/.test(location.hash)`)
	b.look(name + "-dragged")
	b.do(`window.entries = history.length; window.slide = document.querySelector('[name="pause"]'); slide.focus();
		slide.value = 15e9; slide.dispatchEvent(new Event("change"))`) // one entry for all that a slider does
	b.wait(`!state.busy && /pause=15/.test(location.hash) && history.length === entries`)
	b.wait(`document.activeElement.name === "pause" && document.activeElement !== slide`) // and the next key is for it
	b.do(`history.back()`)
	b.wait(`!state.busy && state.race.verdicts[0] === "HOLDS" && !document.querySelector(".cure")`)
	b.do(`playRace("getset", "client-skew")`)
	b.wait(`!state.busy && state.view === "race" && state.race.lock === "getset"`)
	b.wait(`document.querySelector('[data-drag="skew"]')`)
	b.do(`window.before = state.race.settings.find((s) => s.name === "skew").value_ns`)
	b.drag(`document.querySelector('[data-drag="skew"]')`, 60)
	b.wait(`!state.busy && state.race.settings.find((s) => s.name === "skew").value_ns > before`)
	b.look(name + "-skew")
	b.wait(`(window.numbers = [...document.querySelectorAll(".motion-time")].map((e) => e.textContent)).length > 3`)
	b.wait(`new Set(numbers).size === numbers.length`) // on the axis
}
