package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"locklab/scenarios/study"
	"locklab/simulator"
	"locklab/simulator/effort"
)

// What is wrong is said in Chinese to a user who reads Chinese. Only names, and what the
// libraries of Go say, are in English.
func TestWrongUseInChinese(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	good, dir := link(t), t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	contracts := 0
	contract := func(content string) []string {
		contracts++
		return []string{"verify", "--contract", file("contract"+strconv.Itoa(contracts)+".txt", content)}
	}
	run := func(settings string) []string { return []string{"run", "token", "gc-pause", "--set", settings} }
	damaged := simulator.Trace{Strategy: "token", Scenario: "gc-pause", Choices: []simulator.Choice{{Verb: simulator.Wake, Client: 1}}}
	searched := simulator.Trace{Strategy: "token", Scenario: study.SearchID, Settings: "clients=2,attempts=0"}

	var told strings.Builder
	for _, args := range [][]string{
		{"dmo"},
		{"demo", "--jsn"},
		{"run", "tokn", "gc-pause"},
		{"run", "token", "gc-paus"},
		{"run", "token", "gc-pause", "--budget", "pauze=1"},
		{"run", "token", "gc-pause", "--budget", "pause=many"},
		{"run", "token", "gc-pause", "--budget", "pause"},
		{"run", "token", "gc-pause", "--budget", "pause=1@0s"},
		{"run", "token", "gc-pause", "--budget", "pause=1@1s"},
		{"run", "token", "gc-pause", "--budget", "pause=0"},
		{"run", "token", "gc-pause", "--expect", "stall"},
		run("ttl"), run("ttl=soon"), run("puase=3s"), run("skew=3s"), run("seed=-1"), run("clients=two"), run("clients=9"),
		run("ttl=0s"), run("ttl=1us"), run("pause=-1s"), run("pause=60000h"), run("horizon=0s"), run("horizon=5s"),
		run("horizon=9000h"), run("retry=0s"),
		{"run", "setnx-expire", "gc-pause", "--set", "ttl=1500ms"},
		{"explore", "token", "--clients", "9"},
		{"explore", "token", "--attempts", "0"},
		{"explore", "token", "--nodes", "3"},
		{"explore", "redlock", "--nodes", "2"},
		{"explore", "token", "--ttl", "0s"},
		{"explore", "token", "--budget", "client-clock=1"},
		{"explore", "token", "--latency", "1s"},
		{"explore", "token", "--lateness", "soon"},
		{"explore", "token", "--latency", "1ms", "--ttl", "5ms"},
		{"explore", "token", "--latency", "750ms", "--timing", "lockstep"},
		{"run", "no-such-file"},
		{"run", good[:len(good)-5]},
		{"run", strings.Replace(good, "locklab2", "locklab1", 1)},
		{"run", damaged.Link()},
		{"run", searched.Link()},
		{"run", good, "-o", "x.gif"},
		{"run", good, "--against", "readlock"},
		contract(""),
		contract("token HOLDS\n"),
		contract("[gc-pause]\n"),
		{"verify", "--contract", ""},
		{"run", "token", ""},
		{"merge", "/dev/zero"},
		{"verify", "--contract", "/dev/zero"},
		{"run", "token", "R18", "--expect", ""},
		{"explore", "redlock", "--fenced"},
		contract("[gc-paus]\n"),
		contract("[gc-pause]\nHOLDS\n"),
		contract("[gc-pause]\ntoken\n"),
		contract("[gc-pause]\ntoken HOLDS |\n"),
		contract("[gc-pause]\ntoken PHANTOM\n"),
		contract("[gc-pause]\ntoken FINE\n"),
		contract("[gc-pause]\ntoken HOLDS OVERLAP\n"),
		contract("[gc-pause]\ntoken HOLDS\ntoken HOLDS\n"),
		contract("[search clients=two]\n"),
		contract("[search asks=2]\n"),
		contract("[search]\ntoken OVERLAP\n"),
		contract("[locks]\ntoken Expirs\n"),
		{"chart", "sweep", "--shard", "4/3"},
		{"chart", "sweep", "--shard", "1/3", "-o", "sweep.png"},
		{"merge"},
	} {
		code, _, errs := call(t, append(args, "--lang", "zh")...)
		if code != exitUsage {
			t.Errorf("%v: exit status %d: %s", args, code, errs)
		}
		if !regexp.MustCompile(`\p{Han}`).MatchString(errs) {
			t.Errorf("%v: not in Chinese: %s", args, errs)
		}
		shown := strings.Join(args, " ")
		shown = regexp.MustCompile(`locklab\d-\S{20,}`).ReplaceAllString(shown, "LINK")
		told.WriteString(strings.ReplaceAll("$ locklab "+shown+"\n"+errs, dir+"/", ""))
	}
	golden(t, "errors.zh.txt", []byte(told.String()))
}

// inEnglish are the files whose errors do not stand in the catalogues, and why.
var inEnglish = map[string]string{
	"simulator/bubble/client.go":                   "for the programmer of a test, beside what package testing prints",
	"simulator/bubble/execution.go":                "for the programmer of a test, beside what package testing prints",
	"scenarios/share/part.go":                      "never reaches a user: a share is printed then",
	"scenarios/cost/simulation.go":                 "a mistake of locklab, whose own policies are played",
	"simulator/database/parse.go":                  "for the programmer of a lock whose statement is not understood",
	"scenarios/cost/connection.go":                 "a mistake of locklab, whose own policies are played",
	"scenarios/cost/session.go":                    "a mistake of locklab, whose own policies are played",
	"scenarios/cost/waiting.go":                    "a mistake of locklab, whose own policies are played",
	"scenarios/study/usual.go":                     "a mark of errors",
	"scenarios/study/certain.go":                   "never reaches a user: the page says that the run comes to no harm",
	"simulator/config.go":                          "for the programmer of a Config",
	"simulator/explore/doom.go":                    "never reaches a user: package study says what the run comes to",
	"simulator/explore/assumptions.go":             "never leaves a search, which begins anew",
	"simulator/explore/explore.go":                 "package study says it in words",
	"simulator/explore/witness.go":                 "a mistake of locklab",
	"simulator/internal/codec/codec.go":            "for code that writes to a connection something else than its own driver does",
	"simulator/internal/table/table.go":            "never leaves a search: what a goroutine has not confirmed is tried again",
	"simulator/orphaned.go":                        "a mistake of locklab: a choice that the search itself has made",
	"simulator/process/branches.go":                "never leaves the package, which tries again",
	"simulator/process/execution.go":               "for the author of a lock whose code panics",
	"simulator/live/pool.go":                       "never reaches a user: the servers are not used again",
	"simulator/live/server.go":                     "what a redis-server must not answer to the lab itself",
	"simulator/live/zookeeper.go":                  "what a ZooKeeper must not answer to the lab itself",
	"simulator/realserver/zookeeperconn.go":        "for a server that does not speak ZooKeeper's protocol, and a mark of errors",
	"simulator/live/database.go":                   "what a database must not answer to the lab itself",
	"simulator/live/redis.go":                      "a connection to a redis-server that has failed, with its cause",
	"simulator/realserver/servertest/line.go":      "for the programmer who compares with a real server",
	"simulator/realserver/servertest/listening.go": "for a test of where servers listen",
	"simulator/resp/resp.go":                       "for a server that writes no RESP",
	"simulator/redisnode/conn.go":                  "for the author of a lock that makes a call of go-redis that no lock may make",
	"simulator/redisnode/engine.go":                "for the author of a lock that sends a command that cannot be simulated",
	"simulator/redisnode/resp.go":                  "for the author of a lock that writes no RESP",
	"simulator/database/driver.go":                 "for the author of a lock that opens a database by a name",
	"simulator/resource.go":                        "what the resource answers to the code of a lock",
	"simulator/internal/codec/leaves.go":           "for a process of a test, which repeats a history of the same program",
	"simulator/process/written.go":                 "for a process of a test, which repeats a history of the same program",
	"simulator/written.go":                         "for a process of a test, which repeats a history of the same program",
	"scenarios/locktest/libraries/bugs/queue.go":   "what the port of a library returns, as in its own language",
}

// Errors that users see stand in the catalogues: no code says one in English.
func TestErrorsStandInTheCatalogues(t *testing.T) {
	used := map[string]bool{}
	for _, root := range []string{"cmd", "faults", "scenarios", "simulator"} {
		err := filepath.WalkDir(filepath.Join("..", "..", root), func(path string, _ os.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			name, _ := filepath.Rel(filepath.Join("..", ".."), path)
			for _, place := range englishErrors(t, path) {
				if inEnglish[filepath.ToSlash(name)] == "" {
					t.Errorf("%s: put the sentence into reports/text/*/errors.txt, and use text.Errorf", place)
				}
				used[filepath.ToSlash(name)] = true
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	for name := range inEnglish {
		if !used[name] {
			t.Errorf("%s has no error in English: take it from the list", name)
		}
	}
}

// names are what an error may have around its cause: the package, verbs of fmt, punctuation.
var names = regexp.MustCompile(`^(\w+: )?(%[a-z]|[^a-zA-Z])*$`)

// englishErrors returns the places at which a file makes errors of words.
func englishErrors(t *testing.T, path string) (places []string) {
	t.Helper()
	set := token.NewFileSet()
	file, err := parser.ParseFile(set, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	ast.Inspect(file, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		f, ok := call.Fun.(*ast.SelectorExpr)
		if !ok || f.Sel.Name != "Errorf" && f.Sel.Name != "New" {
			return true
		}
		if p, ok := f.X.(*ast.Ident); !ok || p.Name != "fmt" && p.Name != "errors" {
			return true
		}
		format := ""
		if lit, ok := call.Args[0].(*ast.BasicLit); ok {
			format, _ = strconv.Unquote(lit.Value)
		}
		if format == "" || !names.MatchString(format) {
			places = append(places, set.Position(call.Pos()).String())
		}
		return true
	})
	return places
}
