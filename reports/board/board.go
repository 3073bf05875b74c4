// Package board is the page on which one is the scheduler: HTML, style and plain
// JavaScript. It knows nothing of locks. What it shows comes from an engine that answers
// requests in JSON (package play), in one of three places: in the page itself, compiled to
// WebAssembly; in a file beside it; or behind the server that sent the page.
//
//	engine.js   asks the engine, wherever it is
//	worker.js   is the engine's worker
//	board.js    what waits for the engine, views and their addresses, keys
//	play.js     levels and games
//	race.js     a lock in a race
//	lessons.js  texts in pages
//	quiz.js     questions
//
// Runs are drawn by package motion.
package board

import (
	"bytes"
	"embed"
	"encoding/base64"
	"encoding/json"
	"io"
	"text/template"

	"locklab/reports/motion"
)

//go:embed *.html *.css *.js
var files embed.FS

// scripts are the parts of the page's own script, in their order.
var scripts = []string{"board.js", "play.js", "race.js", "lessons.js", "quiz.js"}

// A Page is what to write. With neither Engine nor EngineFile the engine is behind the
// server, which answers POST requests to "answer".
type Page struct {
	Data       []byte // JSON: what the page shows before its engine is ready
	Glue       []byte // wasm_exec.js of the Go that has compiled the engine
	Engine     []byte // the engine itself, as gzip
	EngineFile string // or its place, relative to the page
}

// Write writes the page. It loads nothing but EngineFile, and sends requests to its own
// server only.
func Write(w io.Writer, p Page) error {
	parts := map[string]string{}
	for key, name := range map[string]string{
		"Style": "board.css", "Ask": "engine.js", "Worker": "worker.js", "HTML": "board.html",
	} {
		content, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		parts[key] = string(content)
	}
	for _, name := range scripts {
		content, err := files.ReadFile(name)
		if err != nil {
			return err
		}
		parts["Board"] += string(content)
	}
	where, connect := "file", "'none'"
	switch {
	case p.EngineFile != "":
		where, connect = p.EngineFile, "'self'"
	case p.Engine == nil:
		where, connect = "server", "'self'"
	}
	var data bytes.Buffer
	json.HTMLEscape(&data, p.Data) // no tag can end the script
	worker, err := json.Marshal(string(p.Glue) + "\n" + parts["Worker"])
	if err != nil {
		return err
	}
	t, err := template.New("board").Parse(parts["HTML"])
	if err != nil {
		return err
	}
	return t.Execute(w, map[string]string{
		"Style": parts["Style"] + motion.Style, "Board": parts["Board"] + "begin();\n",
		"Motion": motion.Script, "Ask": parts["Ask"], "Worker": string(worker),
		"Data": data.String(), "Engine": base64.StdEncoding.EncodeToString(p.Engine), "Where": where, "Connect": connect,
	})
}
