package page

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"html/template"
	"io"
	"math"
)

// A Board is the page on which one is the scheduler. What it shows of locks comes from an engine that answers requests
// in JSON (package game), in one of three places: in the page itself, compiled to WebAssembly; in a file beside it; or,
// with neither Engine nor EngineFile, behind the server that sent the page, which answers POST requests to "answer".
//
//	engine.js   asks the engine, wherever it is
//	worker.js   is the engine's worker
//	board.js    what waits for the engine, views and their addresses, keys
//	play.js     levels and games
//	race.js     a lock in a race
//	lessons.js  texts in pages
//	quiz.js     questions about runs
//	ask.js      questions of an interview
type Board struct {
	Data       []byte // JSON: what the page shows before its engine is ready
	Known      any    // answers of the engine by the words of the request, see game.Table.Known; nil: none
	Glue       []byte // wasm_exec.js of the Go that has compiled the engine
	Engine     []byte // the engine itself, as gzip
	EngineFile string // or its place, relative to the page
}

// boardScripts are the parts of the board's own script, in their order.
var boardScripts = []string{"engine.js", "board.js", "play.js", "race.js", "lessons.js", "quiz.js", "ask.js"}

// WriteBoard writes the page. It loads nothing but EngineFile, and sends requests to its own server only.
func WriteBoard(w io.Writer, b Board) error {
	where, connect := "file", "'none'"
	switch {
	case b.EngineFile != "":
		where, connect = b.EngineFile, "'self'"
	case b.Engine == nil:
		where, connect = "server", "'self'"
	}
	var data bytes.Buffer
	json.HTMLEscape(&data, b.Data) // no tag can end the script
	known, err := packed(b.Known)
	if err != nil {
		return err
	}
	return execute(w, "board.html", map[string]any{
		"Known": known,
		"Tag":   "en", "Title": "locklab", "Style": style("board.css"),
		"Script": script(boardScripts...) + "begin();\n",
		"Policy": policy("script-src 'unsafe-inline' 'wasm-unsafe-eval' blob:; worker-src blob:; connect-src " +
			connect),
		"Data": template.JS(data.String()), "Where": where, "Worker": string(b.Glue) + "\n" + file("worker.js"),
		"Engine": template.HTML(base64.StdEncoding.EncodeToString(b.Engine)),
	}, math.MaxInt)
}
