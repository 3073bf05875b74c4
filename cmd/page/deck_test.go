//go:build !js

package main

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"locklab/reports/deck"
	"locklab/reports/lessons"
)

// lessonPage returns a lesson of two locks and its page.
func lessonPage(t *testing.T, lang string) ([]*lessons.Slide, string) {
	t.Helper()
	subject, err := lessons.ParseSubject([]string{"setnx-expire", "redlock"})
	if err != nil {
		t.Fatal(err)
	}
	slides, err := subject.Deck(lessons.NewStage(), lessons.DeckOptions{Lang: lang, Questions: 3, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if err := deck.Write(&content, deck.Page{Slides: slides, Lang: lang,
		Command: "locklab lesson setnx-expire redlock"}); err != nil {
		t.Fatal(err)
	}
	return slides, content.String()
}

// A deck in a browser, at the size of a projector: each slide fills the screen without scrolling, its run is drawn as
// far as the question goes and whole beside the answer; the notes, the quiz, the views for paper, Back, and an address
// that names nothing.
func TestDeckInBrowser(t *testing.T) {
	b := startBrowser(t)
	lesson, content := lessonPage(t, "en")
	url := fileURL(t, content)
	b.narrow(1920, 1080)
	b.media("", "light")
	b.visit(url)
	b.wait(`document.body.className === "slides" && document.querySelectorAll(".step.now").length === 1`)
	b.look("deck-1")
	for i, s := range lesson {
		b.wait(fmt.Sprintf(`state.at === %d && !state.answered`, i))
		if s.Run != nil {
			b.wait(`document.querySelector(".now figure.open").getClientRects().length > 0 &&
				document.querySelectorAll(".now svg").length > 0`)
		}
		if s.Kind == lessons.Race {
			b.wait(`document.querySelector(".now figure.whole").getClientRects().length === 0`)
			b.look(fmt.Sprintf("deck-%d-open", i+1))
			if px := b.number(labels); px < 20 {
				t.Errorf("labels of slide %d have %v px", i+1, px)
			}
		}
		b.fills(i)
		if s.Kind != lessons.How && s.Lines(lessons.Answer) != nil || s.Choices != nil {
			b.wait(`[...document.querySelectorAll(".now .answer")].every((e) => ` +
				`getComputedStyle(e).display === "none")`)
			b.key("ArrowRight")
			b.wait(`state.answered &&
				[...document.querySelectorAll(".now .answer")].every((e) => getComputedStyle(e).display !== "none")`)
		}
		b.look(fmt.Sprintf("deck-%d", i+1))
		if s.Kind == lessons.Race {
			b.wait(`document.querySelector(".now figure.whole").getClientRects().length > 0`)
		}
		b.fills(i)
		if s.Kind == lessons.Race { // a key ends what moves, and goes on only then
			b.wait(`moving().length > 0`)
			b.key("ArrowRight")
		}
		b.do(`moving().forEach((a) => a.finish())`)
		b.wait(fmt.Sprintf(`moving().length === 0 && state.at === %d`, i))
		b.key("ArrowRight")
	}
	last := len(lesson)
	b.do(`history.back()`)
	b.wait(fmt.Sprintf(`state.at === %d || state.at === %d`, last-2, last-1))
	b.key("Home")
	b.wait(`state.at === 0`)
	b.presents()
	b.deckQuiz(lesson)
	b.deckOnPaper(lesson)
	b.do(`location.hash = "3"`)
	b.wait(`state.at === 2 && state.view === "slides"`)
	for _, damaged := range []string{"99", "0", "%", "3x", "__proto__"} {
		b.do(fmt.Sprintf(`location.hash = %q`, damaged))
		b.wait(`message.textContent === say("lesson.nowhere") && state.at === 2 &&
			document.querySelector(".step.now").id === "step3"`)
		b.do(`location.hash = "3"`)
		b.wait(`message.textContent === ""`)
	}
	b.check(url)
	b.refuses(url)
}

// labels is the size of the letters in the picture that is shown, which is drawn in points, and they have 10.5.
const labels = `Math.floor(10.5 * document.querySelector(".now figure.open svg").getScreenCTM().a)`

// fills looks whether a slide fits the screen.
func (b *browser) fills(slide int) {
	b.t.Helper()
	if w, h := b.number(`document.documentElement.scrollWidth - innerWidth`),
		b.number(`document.documentElement.scrollHeight - innerHeight`); w > 0 || h > 0 {
		b.t.Errorf("slide %d is %d px too wide, %d too high", slide+1, w, h)
	}
}

// presents opens the notes in a window that follows the slides, and, where there can be none, in a panel.
func (b *browser) presents() {
	b.key("n")
	b.wait(`presenter && !presenter.closed && ` +
		`presenter.document.body.textContent.includes(steps[0].querySelector(".notes").textContent) && !state.notes`)
	b.wait(`presenter.document.body.textContent.startsWith("1 / " + steps.length) && ` +
		`presenter.document.body.innerText.includes(steps[1].querySelector(".told").textContent)`)
	b.do(`presenter.document.querySelector(".clock button").click()`)
	b.wait(`/^0:\d\d$/.test(presenter.document.querySelector(".clock button").textContent)`)
	b.key("End")
	b.wait(`presenter.document.title.startsWith(steps.length + " / ") && ` +
		`presenter.document.body.textContent.includes(steps.at(-1).querySelector(".notes").textContent)`)
	b.do(`presenter.dispatchEvent(new KeyboardEvent("keydown", { key: "Home" }))`) // it turns the slides too
	b.wait(`state.at === 0`)
	b.key("n")
	b.wait(`presenter.closed`)
	b.do(`window.open = () => null`)
	b.key("n")
	b.wait(`state.notes && getComputedStyle(document.querySelector(".now .notes")).display === "block"`)
	b.look("deck-notes")
	b.key("n")
}

// deckQuiz answers a question wrongly.
func (b *browser) deckQuiz(lesson []*lessons.Slide) {
	for i, s := range lesson {
		if s.Kind != lessons.Quiz {
			continue
		}
		wrong := 0
		for n, c := range s.Choices {
			if !c.Right {
				wrong = n + 1
			}
		}
		b.do(fmt.Sprintf(`location.hash = "%d"`, i+1))
		b.wait(fmt.Sprintf(`state.at === %d && !state.answered`, i))
		b.key(fmt.Sprint(wrong))
		b.wait(`state.answered && document.querySelector(".now .chosen:not(.right)") &&
			document.querySelector(".now .right .answer").getClientRects().length === 1`)
		b.wait(`document.querySelector(".now figure.whole").getClientRects().length > 0 &&
			document.querySelector(".now figure.open").getClientRects().length === 0`)
		b.look("deck-quiz-wrong")
		return
	}
	b.t.Error("the lesson has no quiz")
}

// deckOnPaper looks at the views for paper, on the screen and printed.
func (b *browser) deckOnPaper(lesson []*lessons.Slide) {
	shown := func(what string) string { return what + `.getClientRects().length > 0` }
	b.do(`location.hash = "worksheet"`)
	b.wait(`document.body.className.startsWith("worksheet")`)
	b.wait(`[...document.querySelectorAll(".answer, .whole, .notes")].every((e) => e.getClientRects().length === 0)`)
	b.wait(`[...document.querySelectorAll(".hook .question, .hook .lines, .race .lines, ` +
		`.step:not(.hook, .end, .debate) figure.open")].every((e) => e.getClientRects().length > 0)`)
	for i, s := range lesson { // a race would tell what the question before it asks for
		if s.Kind == lessons.Race || s.Kind == lessons.Next || s.Kind == lessons.Quiz {
			b.wait(fmt.Sprintf(`!steps[%d].innerText.includes(%q) && steps[%[1]d].textContent.includes(%[2]q)`,
				i, lessons.Story("en", s.Run.Race, "title")))
		}
	}
	b.look("deck-worksheet")
	if pages := b.pdf("deck-worksheet"); pages > 5 {
		b.t.Errorf("the worksheet has %d pages", pages)
	}
	b.do(`location.hash = "key"`)
	b.wait(`document.body.className.startsWith("key") &&
		[...document.querySelectorAll(".full, :is(.race, .next) > .answer, .choices .answer")].
			every((e) => e.getClientRects().length > 0)`)
	b.look("deck-key")
	b.pdf("deck-key")
	b.do(`location.hash = "handout"`)
	b.wait(`document.body.className.startsWith("handout")`)
	b.wait(shown(`document.querySelector(".race .whole")`))
	b.look("deck-handout")
	if pages := b.pdf("deck-handout"); pages < 3 || pages > 6 { // no slide is torn apart
		b.t.Errorf("the handout has %d pages, want 3 to 6", pages)
	}
	b.do(`location.hash = "2"`)
	b.wait(`state.view === "slides"`)
	if pages := b.pdf("deck-slides"); pages != len(lesson) {
		b.t.Errorf("%d slides are printed on %d pages", len(lesson), pages)
	}
	b.media("print", "dark")
	b.wait(`[...document.querySelectorAll(".step, .whole, .answer:not(.later)")]
		.every((e) => e.getClientRects().length > 0) && document.getElementById("bar").getClientRects().length === 0`)
	b.wait(`getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)"`)
	b.media("", "light")
}

// pdf prints the page and returns the number of its pages.
func (b *browser) pdf(name string) int {
	b.t.Helper()
	var printed struct{ Data string }
	b.call("Page.printToPDF", map[string]any{"printBackground": true, "preferCSSPageSize": true, "paperWidth": 8.27,
		"paperHeight": 11.69}, &printed)
	content, err := base64.StdEncoding.DecodeString(printed.Data)
	if err != nil || !bytes.HasPrefix(content, []byte("%PDF")) {
		b.t.Fatalf("%s: %v", name, err)
	}
	if dir := os.Getenv("LOCKLAB_SCREENS"); dir != "" {
		if err := os.WriteFile(filepath.Join(dir, name+".pdf"), content, 0o644); err != nil {
			b.t.Fatal(err)
		}
	}
	return len(regexp.MustCompile(`/Type\s*/Page\b`).FindAll(content, -1))
}

// Each kind of slide in Chinese, dark, and on a telephone: it is as wide as the screen.
func TestDeckOnTelephone(t *testing.T) {
	b := startBrowser(t)
	lesson, content := lessonPage(t, "zh")
	url := fileURL(t, content)
	b.narrow(400, 800)
	b.media("", "dark")
	b.visit(url)
	seen := map[string]bool{}
	for i, s := range lesson {
		if seen[s.Kind] {
			continue
		}
		seen[s.Kind] = true
		for _, answered := range []string{"", "!"} {
			b.do(fmt.Sprintf(`location.hash = "%d%s"`, i+1, answered))
			b.wait(fmt.Sprintf(`state.at === %d && state.answered === %t`, i, answered != ""))
			b.look(fmt.Sprintf("deck-zh-%s%s", s.Kind, strings.ReplaceAll(answered, "!", "-answer")))
			if w, room := b.number(`document.documentElement.scrollWidth`),
				b.number(`document.documentElement.clientWidth`); w > room {
				t.Errorf("slide %d, %s, is %d px wide, and the screen %d", i+1, s.Kind, w, room)
			}
		}
	}
	if len(seen) != 7 {
		t.Errorf("kinds of slides: %v", seen)
	}
	b.check(url)
}

// Where its script does not run, and where the file is damaged or cut off, it is the handout, with all of its texts.
// One that is cut off says so.
func TestDamagedDeck(t *testing.T) {
	b := startBrowser(t)
	lesson, content := lessonPage(t, "en")
	data := regexp.MustCompile(`(?s)(<script type="application/json" id="data">)(.*?)(</script>)`)
	for name, damaged := range map[string]string{
		"data":   data.ReplaceAllString(content, `$1{"lang": "en", "te$3`),
		"empty":  data.ReplaceAllString(content, `$1$3`),
		"script": strings.Replace(content, `const steps =`, `const steps = (`, 1),
		"cut":    content[:strings.Index(content, `<script type="application/json"`)+200],
		"ends":   content[:strings.LastIndex(content, `</script>`)-1],
	} {
		if damaged == content {
			t.Fatalf("%s: nothing is damaged", name)
		}
		b.visit(fileURL(t, damaged))
		b.wait(fmt.Sprintf(`document.body.className === "handout plain" && `+
			`document.querySelectorAll(".step").length === %d`, len(lesson)))
		b.wait(fmt.Sprintf(`(document.getElementById("cut").getClientRects().length > 0) === %t`, name == "cut" ||
			name == "ends"))
		b.wait(`[...document.querySelectorAll("h1, h2, .question, .answer, figure.whole")].every((e) => ` +
			`e.getClientRects().length > 0)`)
	}
}
