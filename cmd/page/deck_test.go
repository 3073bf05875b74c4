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
	"locklab/reports/page"
	"locklab/reports/report"
	"locklab/reports/text"
)

// lessonPage returns a lesson of two locks and its page.
func lessonPage(t *testing.T, lang string) ([]lessons.Slide, string) {
	t.Helper()
	subject, err := lessons.ParseSubject([]string{"setnx-expire", "redlock"})
	if err != nil {
		t.Fatal(err)
	}
	blocks, err := subject.Deck(lessons.NewStage(), lessons.DeckOptions{Lang: lang, Questions: 3, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if err := deck.Write(&content, deck.Page{Blocks: blocks, Lang: lang, Command: "locklab lesson setnx-expire redlock"}); err != nil {
		t.Fatal(err)
	}
	return lessons.Slides(blocks), content.String()
}

// visit opens an address of a file.
func (b *browser) visit(url string) {
	b.t.Helper()
	b.call("Page.navigate", map[string]any{"url": "about:blank"}, nil)
	b.wait(`location.href === "about:blank"`)
	b.call("Page.navigate", map[string]any{"url": url}, nil)
	b.wait(`document.readyState === "complete"`)
}

// media sets the colours and the medium of the page.
func (b *browser) media(medium, scheme string) {
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": medium, "features": []map[string]string{{"name": "prefers-color-scheme", "value": scheme}}}, nil)
}

// A deck in a browser: each slide with its answer, a run that is played, the notes, the quiz, the views for paper,
// Back, and an address that names nothing.
func TestDeckInBrowser(t *testing.T) {
	b := startBrowser(t)
	lesson, content := lessonPage(t, "en")
	url := fileURL(t, content)
	b.narrow(1280, 800)
	b.media("", "light")
	b.visit(url)
	b.wait(`document.body.className === "slides" && document.querySelectorAll(".step.now").length === 1`)
	b.look("deck-1")
	for i, s := range lesson {
		b.wait(fmt.Sprintf(`state.at === %d && !state.answered`, i))
		if s.Run != nil {
			b.wait(`state.moving && document.querySelector(".now .motion-picture")`)
		}
		if s.Kind == lessons.Race { // it begins at its beginning, and can be played
			b.wait(`state.moving.where() === 0`)
			b.wait(`document.querySelector(".now .later") && [...document.querySelectorAll(".now svg .later")].every((e) => getComputedStyle(e).visibility === "hidden")`)
			b.look(fmt.Sprintf("deck-%d-open", i+1))
			b.key(" ")
			b.wait(`state.moving.where() > 0`)
			b.key(" ")
		}
		if s.Lines(lessons.Answer) != nil || s.Choices != nil {
			b.wait(`[...document.querySelectorAll(".now .answer")].every((e) => getComputedStyle(e).display === "none")`)
			b.key("ArrowRight")
			b.wait(`state.answered && [...document.querySelectorAll(".now .answer")].every((e) => getComputedStyle(e).display !== "none")`)
		}
		b.look(fmt.Sprintf("deck-%d", i+1))
		if w := b.number(`document.documentElement.scrollWidth`); w > 1280 {
			t.Errorf("slide %d is %d px wide", i+1, w)
		}
		b.key("ArrowRight")
	}
	last := len(lesson)
	b.do(`history.back()`)
	b.wait(fmt.Sprintf(`state.at === %d || state.at === %d`, last-2, last-1))
	b.key("Home")
	b.wait(`state.at === 0`)
	b.key("n")
	b.wait(`getComputedStyle(document.querySelector(".now .notes")).display === "block"`)
	b.look("deck-notes")
	b.key("n")
	b.deckQuiz(lesson)
	b.deckOnPaper(lesson)
	b.do(`location.hash = "3"`)
	b.wait(`state.at === 2 && state.view === "slides"`)
	for _, damaged := range []string{"99", "0", "%", "3x", "__proto__"} {
		b.do(fmt.Sprintf(`location.hash = %q`, damaged))
		b.wait(`message.textContent === say("lesson.nowhere") && state.at === 2 && document.querySelector(".step.now").id === "step3"`)
		b.do(`location.hash = "3"`)
		b.wait(`message.textContent === ""`)
	}
	b.check(url)
	b.refuses(url)
}

// deckQuiz answers a question wrongly.
func (b *browser) deckQuiz(lesson []lessons.Slide) {
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
		b.wait(`state.answered && document.querySelector(".now .chosen:not(.right)") && document.querySelector(".now .right .answer").getClientRects().length === 1`)
		b.look("deck-quiz-wrong")
		return
	}
	b.t.Error("the lesson has no quiz")
}

// deckOnPaper looks at the views for paper, on the screen and printed.
func (b *browser) deckOnPaper(lesson []lessons.Slide) {
	shown := func(what string) string { return what + `.getClientRects().length > 0` }
	b.do(`location.hash = "worksheet"`)
	b.wait(`document.body.className.startsWith("worksheet")`)
	b.wait(`[...document.querySelectorAll(".answer, .whole, .notes")].every((e) => e.getClientRects().length === 0)`)
	b.wait(shown(`document.querySelector(".lines")`) + " && " + shown(`document.querySelector(".race figure.open")`))
	b.look("deck-worksheet")
	b.pdf("deck-worksheet")
	b.do(`location.hash = "key"`)
	b.wait(`document.body.className.startsWith("key") && [...document.querySelectorAll(".answer")].every((e) => e.getClientRects().length > 0)`)
	b.look("deck-key")
	b.pdf("deck-key")
	b.do(`location.hash = "handout"`)
	b.wait(`document.body.className.startsWith("handout")`)
	b.wait(shown(`document.querySelector(".race .whole")`))
	b.look("deck-handout")
	if pages, most := b.pdf("deck-handout"), len(lesson); pages < 3 || pages > most {
		b.t.Errorf("the handout has %d pages, want at most %d", pages, most)
	}
	b.do(`location.hash = "2"`) // slides are printed as the handout
	b.wait(`state.view === "slides"`)
	b.media("print", "dark")
	b.wait(`[...document.querySelectorAll(".step, .whole")].every((e) => e.getClientRects().length > 0) && document.getElementById("bar").getClientRects().length === 0`)
	b.wait(`getComputedStyle(document.body).backgroundColor === "rgb(255, 255, 255)"`)
	b.media("", "light")
}

// pdf prints the page and returns the number of its pages.
func (b *browser) pdf(name string) int {
	b.t.Helper()
	var printed struct{ Data string }
	b.call("Page.printToPDF", map[string]any{"printBackground": true, "preferCSSPageSize": true, "paperWidth": 8.27, "paperHeight": 11.69}, &printed)
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
			if w, room := b.number(`document.documentElement.scrollWidth`), b.number(`document.documentElement.clientWidth`); w > room {
				t.Errorf("slide %d, %s, is %d px wide, and the screen %d", i+1, s.Kind, w, room)
			}
		}
	}
	if len(seen) != 7 {
		t.Errorf("kinds of slides: %v", seen)
	}
	b.check(url)
}

// A file that is damaged says so in a sentence, and still has all its texts.
func TestDamagedDeck(t *testing.T) {
	b := startBrowser(t)
	lesson, content := lessonPage(t, "en")
	data := regexp.MustCompile(`(?s)(<script type="application/json" id="data">)(.*?)(</script>)`)
	run := regexp.MustCompile(`"run3":\{`)
	sentence, _, _ := strings.Cut(text.Say("en", "lesson.damaged"), ",")
	for name, damaged := range map[string]string{
		"data":        data.ReplaceAllString(content, `$1{"lang": "en", "bo$3`),
		"empty":       data.ReplaceAllString(content, `$1$3`),
		"no runs":     data.ReplaceAllString(content, `$1{"texts": {}, "book": {}}$3`),
		"one run":     run.ReplaceAllString(content, `"run3x":{`),
		"part of one": run.ReplaceAllString(content, `"run3":{"at":[0,1],"states":[{"e":0}]},"was":{`),
	} {
		if damaged == content {
			t.Fatalf("%s: nothing is damaged", name)
		}
		b.visit(fileURL(t, damaged))
		b.do(`location.hash = "3"`)
		b.wait(`state.at === 2`)
		b.wait(fmt.Sprintf(`message.textContent.startsWith(%q)`, sentence))
		b.wait(`document.querySelector(".now figure.open").getClientRects().length > 0`) // the picture is shown instead
		b.do(`location.hash = "3!"`)
		b.wait(`state.answered && document.querySelector(".now figure.whole").getClientRects().length > 0 && document.querySelector(".now > .answer").getClientRects().length > 0`)
		b.look("deck-damaged")
	}
	// Without its script, and cut off after it has begun, the file is the handout. One that is cut off says so.
	for name, damaged := range map[string]string{
		"script": strings.Replace(content, `"use strict";`, `"use strict"; (`, -1),
		"cut":    content[:strings.Index(content, `<script type="application/json"`)+200],
		"ends":   content[:strings.LastIndex(content, `</script>`)-1],
	} {
		b.visit(fileURL(t, damaged))
		b.wait(fmt.Sprintf(`document.body.className === "handout plain" && document.querySelectorAll(".step").length === %d`, len(lesson)))
		b.wait(fmt.Sprintf(`(document.getElementById("cut").getClientRects().length > 0) === %t`, name != "script"))
		b.wait(`[...document.querySelectorAll("h1, h2, .question, .answer, figure.whole")].every((e) => e.getClientRects().length > 0)`)
	}
}

// The page of one run begins with the race and a question. How it ends is seen by playing it, or by asking.
func TestRunPageAsks(t *testing.T) {
	b := startBrowser(t)
	o, err := lessons.NewStage().Named("token", "gc-pause")
	if err != nil {
		t.Fatal(err)
	}
	var content bytes.Buffer
	if err := page.Write(&content, report.SinglePage(&text.Printer{Lang: "en"}, o)); err != nil {
		t.Fatal(err)
	}
	url := fileURL(t, content.String())
	b.narrow(1280, 900)
	b.visit(url)
	seen := func(word string) string {
		return fmt.Sprintf(`[...viewer.querySelectorAll("td, strong, .headline")].some((e) => e.textContent.includes(%q) && e.checkVisibility({ visibilityProperty: true }))`, word)
	}
	b.wait(`viewer.open && moving && moving.where() === 0 && ` + seen("Say what you expect"))
	if b.is(seen("OVERLAP")) || b.is(`document.querySelector("body > header").textContent.includes("fall to")`) {
		t.Error("the page tells how the run ends before it is played")
	}
	b.key("End")
	b.wait(`moving.where() === 1 && ` + seen("OVERLAP"))
	b.key("Home")
	b.wait(`moving.where() === 0 && !(` + seen("OVERLAP") + `)`)
	b.do(`[...viewer.querySelectorAll("summary")].find((e) => e.textContent === say("html.run.end")).click()`)
	b.wait(seen("OVERLAP"))
	b.look("run-page")
	b.check(url)
}
