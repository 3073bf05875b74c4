package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"locklab/reports"
	"locklab/simulator/effort"
)

// dataOf reads the data of a document of a kind.
func dataOf[T any](t testing.TB, document, kind string) (data T) {
	t.Helper()
	if err := reports.ReadJSON([]byte(document), &data, kind); err != nil {
		t.Fatalf("%v: %.200s", err, document)
	}
	return data
}

// documents are commands that print each kind with all that it may have.
var documents = map[string][]string{
	"version": {"--version"},
	"demo":    {"demo"},
	"list":    {"list"},
	"run": {"run setnx R01 --seed 4", "run redlock getset-nil", "run zk-recheck gc-pause", "run redlock split-vote",
		"explain token R01"},
	"matrix":   {"matrix --races calm,gc-pause"},
	"explain":  {"explain R01", "explain token", "explain pause", "explain 003", "explain lease"},
	"chart":    {"chart sweep pause/ttl=1:1:1 --runs 9", "chart tolerance --locks setnx"},
	"explore":  {"explore setnx --attempts any --budget crash=1", "explore token --budget pause=1 --recheck"},
	"prove":    {"prove setnx --budget crash=1", "prove token --budget crash=any"},
	"verify":   {"verify --contract FILES/contract.txt"},
	"levels":   {"play"},
	"position": {"play --level 1"},
	"quiz":     {"play quiz --seed 7 --questions 20"},
	"init":     {"init FOLDER"},
}

// documentFiles are the files that these commands read.
var documentFiles = map[string]string{"contract.txt": doctored}

// byName are objects whose fields are names of locks, verdicts, languages and the like.
var byName = []string{"said", "texts", "texts.*", "story", "numbers", "budget", "par", "counts"}

// TestDocuments holds JSON.md against what the commands print: which fields a kind has, and of which type each is.
// A field that goes, or has another type, breaks somebody's script: then reports.Schema is to rise.
func TestDocuments(t *testing.T) {
	effort.OnlyPushed(t, "it searches for seconds")
	effort.Unwatched(t, watchedCommands)
	files := t.TempDir()
	for name, content := range documentFiles {
		fileWith(t, content, files, name)
	}
	places := strings.NewReplacer("FILES", files, "FOLDER", t.TempDir())
	var b strings.Builder
	for _, kind := range slices.Sorted(maps.Keys(documents)) {
		fields := map[string]string{}
		for _, line := range documents[kind] {
			_, out, errs := call(t, append(strings.Fields(places.Replace(line)), "--json")...)
			if errs != "" && out == "" {
				t.Fatalf("%s: %s", line, errs)
			}
			collect(fields, "", dataOf[any](t, out, kind))
		}
		fmt.Fprintf(&b, "## %s\n\n`locklab %s --json`\n\n```\n",
			kind, strings.TrimPrefix(documents[kind][0], "locklab "))
		for _, path := range slices.Sorted(maps.Keys(fields)) {
			b.WriteString(strings.TrimSpace(fmt.Sprintf("%-40s %s", path, fields[path])) + "\n")
		}
		b.WriteString("```\n\n")
	}
	head, _, _ := strings.Cut(contentOf(t, "JSON.md"), "## ")
	if got := head + strings.TrimSpace(b.String()) + "\n"; *update {
		fileWith(t, got, "JSON.md")
	} else if got != contentOf(t, "JSON.md") {
		t.Errorf("JSON.md says otherwise; go test ./cmd/locklab -update writes it anew:\n%s", got)
	}
}

// collect notes the types of the fields below a value, by their paths.
func collect(fields map[string]string, path string, value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, value := range v {
			if slices.Contains(byName, lastNames(path)) {
				name = "*"
			}
			collect(fields, strings.TrimPrefix(path+"."+name, "."), value)
		}
	case []any:
		if len(v) == 0 {
			note(fields, path+"[]", "")
		}
		for _, value := range v {
			collect(fields, path+"[]", value)
		}
	case nil:
		note(fields, path, "null")
	case json.Number:
		note(fields, path, "number")
	default:
		note(fields, path, strings.ReplaceAll(fmt.Sprintf("%T", v), "bool", "true or false"))
	}
}

// lastNames is the end of a path: the name of an object, and of the object of names that it is in.
func lastNames(path string) string {
	if above, ok := strings.CutSuffix(path, ".*"); ok {
		return above[strings.LastIndexAny(above, ".")+1:] + ".*"
	}
	return path[strings.LastIndexAny(path, ".")+1:]
}

// note adds a type to those that a field has. Lists without elements have elements elsewhere.
func note(fields map[string]string, path, kind string) {
	types := strings.Split(fields[path], ", ")
	if kind != "" && !slices.Contains(types, kind) {
		types = append(types, kind)
	}
	slices.Sort(types)
	fields[path] = strings.TrimPrefix(strings.Join(types, ", "), ", ")
}
