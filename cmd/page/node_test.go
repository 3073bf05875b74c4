//go:build !js

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"locklab/reports/game"
	"locklab/scenarios/play"
	"locklab/simulator/effort"
)

// underNode answers a request a line with the engine of the page.
const underNode = `
const fs = require("fs");
require(process.argv[2]); // defines Go
const go = new Go();
WebAssembly.instantiate(fs.readFileSync(process.argv[3]), go.importObject).then(({ instance }) => {
  go.run(instance);
  for (const line of fs.readFileSync(0, "utf8").trim().split("\n")) console.log(locklabAnswer(line));
  process.exit(0);
});
`

// The engine of the page answers byte for byte what this program answers.
func TestEngineUnderNode(t *testing.T) {
	effort.OnlyPushed(t, "it compiles nearly everything for a browser")
	node := installed(t, "node", "nodejs")
	dir := t.TempDir()
	engine := filepath.Join(dir, "engine.wasm")
	if err := compile(engine); err != nil {
		t.Fatal(err)
	}
	glue, err := runtimeGlue()
	if err != nil {
		t.Fatal(err)
	}
	script, exec0 := filepath.Join(dir, "run.cjs"), filepath.Join(dir, "wasm_exec.js")
	for name, content := range map[string][]byte{script: []byte(underNode), exec0: glue} {
		if err := os.WriteFile(name, content, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	requests, want := requestsOfAPage(t)
	c := exec.Command(node, script, exec0, engine)
	c.Stdin, c.Stderr = strings.NewReader(strings.Join(requests, "\n")+"\n"), os.Stderr
	out, err := c.Output()
	if err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewReader(bytes.NewReader(out))
	for i, request := range requests {
		got, err := lines.ReadBytes('\n')
		if err != nil || !bytes.Equal(bytes.TrimSuffix(got, []byte("\n")), want[i]) {
			t.Errorf("%s: %v, the engine answers\n%.300s\nand this program\n%.300s", request, err, got, want[i])
		}
	}
}

// requestsOfAPage are what a page asks for in some games and a quiz, with the answers of this
// program.
func requestsOfAPage(t *testing.T) (requests []string, answers [][]byte) {
	var table game.Table
	defer table.Close()
	ask := func(r game.Request) (link string) {
		request, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		answer := table.Answer(context.Background(), request)
		requests, answers = append(requests, string(request)), append(answers, answer)
		var at struct{ Link string }
		_ = json.Unmarshal(answer, &at)
		return at.Link
	}
	for n, l := range play.Levels() {
		start := ask(game.Request{Do: "level", Number: n + 1})
		if l.Solution().States > 2_000 {
			continue
		}
		ask(game.Request{Do: "hint", Link: start, Harm: l.Harm})
		ask(game.Request{Do: "cannot", Link: start, Harm: l.Harm})
		end := ask(game.Request{Do: "way", Link: start, Harm: l.Harm})
		if end == "" {
			continue // proved impossible
		}
		before := ask(game.Request{Do: "undo", Link: end})
		ask(game.Request{Do: "lost", Link: before, Harm: l.Harm})
		ask(game.Request{Do: "move", Link: before})
		ask(game.Request{Do: "at", Link: end})
	}
	start := ask(game.Request{Do: "start", Lock: "token", Budget: "pause=1"})
	ask(game.Request{Do: "goal", Link: start})
	end := ask(game.Request{Do: "way", Link: start, Harm: "OVERLAP"})
	ask(game.Request{Do: "mend", Link: end, Harm: "OVERLAP", Lock: "lock-delay"})
	start = ask(game.Request{Do: "start", Lock: "token", Budget: "delay=1@9s", Timing: "any", Fenced: true})
	ask(game.Request{Do: "again", Link: ask(game.Request{Do: "move", Link: start})})
	questions := 3
	if effort.Exhaustive() {
		questions = 8
	}
	for n := range questions {
		ask(game.Request{Do: "question", Seed: 7, Number: n})
		ask(game.Request{Do: "question", Seed: 7, Number: n, Difficulty: "hard", Locks: []string{"token", "redlock"}})
	}
	ask(game.Request{Do: "at", Link: end[:len(end)-3]}) // damaged
	ask(game.Request{Do: "nonsense", Link: end})
	return requests, answers
}
