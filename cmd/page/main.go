//go:build !js

// Command page writes the page on which one is the scheduler: as one file that needs neither a server nor a network,
// and as a folder to host. It compiles the engine, which is this package for a browser, with the go command.
//
//	page DIR
package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime/debug"
	"strings"

	"locklab/reports/game"
	"locklab/reports/lessons"
	"locklab/reports/page"
	"locklab/reports/text"
)

// What is written, and the engine on the way to it.
const (
	pageFile   = "locklab.html"
	siteFile   = "index.html"
	engineFile = "engine.wasm"
)

func main() {
	if len(os.Args) != 2 || strings.HasPrefix(os.Args[1], "-") {
		fmt.Fprintln(os.Stderr, "usage: page DIR (writes DIR/locklab.html, one file, and DIR/site, a folder to host)")
		os.Exit(2)
	}
	if err := write(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "page:", err)
		os.Exit(1)
	}
}

func write(dir string) error {
	site := filepath.Join(dir, "site")
	if err := os.MkdirAll(site, 0o755); err != nil {
		return err
	}
	wasm := filepath.Join(dir, engineFile)
	defer os.Remove(wasm)
	if err := compile(wasm); err != nil {
		return err
	}
	engine, err := os.ReadFile(wasm)
	if err != nil {
		return err
	}
	engine = page.Gzip(engine)
	glue, err := runtimeGlue()
	if err != nil {
		return err
	}
	content, err := game.PageData()
	if err != nil {
		return err
	}
	known, err := known()
	if err != nil {
		return err
	}
	for file, p := range map[string]page.Board{
		filepath.Join(dir, pageFile):  {Data: content, Known: known, Glue: glue, Engine: engine},
		filepath.Join(site, siteFile): {Data: content, Known: known, Glue: glue, EngineFile: engineFile + ".gz"},
	} {
		var b bytes.Buffer
		if err := page.WriteBoard(&b, p); err != nil {
			return err
		}
		if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
			return err
		}
	}
	return os.WriteFile(filepath.Join(site, engineFile+".gz"), engine, 0o644)
}

// known are answers made with the page: lessons of locks, races and terms, the interview's runs, and the first levels.
func known() (map[string]any, error) {
	names := append(lessons.Terms(), "interview", "debate", "glossary")
	for n := range lessons.PathScreens {
		names = append(names, fmt.Sprint("path ", n+1))
	}
	var runs []game.Cell
	for _, topic := range lessons.Topics() {
		lock, race, _ := strings.Cut(text.Say("en", "interview."+topic+".trace"), " ")
		runs = append(runs, game.Cell{Lock: lock, Race: race})
	}
	table := game.Table{Lesson: lessons.NewStage().Read}
	defer table.Close()
	return table.Known(context.Background(), names, runs)
}

// compile builds the engine; without inlining it is a sixth smaller, and as fast.
func compile(file string) error {
	built, _ := debug.ReadBuildInfo() // a program that was built from a module has it
	c := exec.Command("go", "build", "-trimpath", "-gcflags=all=-l", "-ldflags=-s -w", "-o", file,
		built.Main.Path+"/cmd/page")
	c.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := c.CombinedOutput(); err != nil {
		return text.Errorf("error.page.compile", "cause", err, "output", string(out))
	}
	return nil
}

// runtimeGlue returns the script that Go programs need in a browser; it comes with Go.
func runtimeGlue() ([]byte, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
}
