package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"locklab/scenarios/search"
	"locklab/simulator"
	"locklab/simulator/effort"
)

// A misuse is a command line that is wrong, and what is said of it, in parts.
type misuse struct{ args, says string }

// misuses are those of commands with tests of their own.
var misuses []misuse

// Wrong use ends with status 2 and words that name what was wrong and what would be right. Wrong settings, bounds and
// lines of a contract stand in the tests of the packages that read them.
func TestWrongUse(t *testing.T) {
	effort.Unwatched(t, watchedCommands)
	link := link(t)
	for _, c := range slices.Concat(misuses, []misuse{
		{`demo now`, `now`},
		{`demo --xyzzy`, `no flag --xyzzy: 'locklab demo --help'`},
		{`demo --lang fr`, `"fr"…en, zh or both`},
		{`demo --color red`, `"red"…auto, always or never`},
		{`demo --width 7`, `7…40`},
		{`demo --json=maybe`, `--json "maybe": write true or false`},
		{`demo --version`, `--version`},
		{`rnu token gc-pause`, `"rnu": did you mean run?`},
		{`version`, `did you mean 'locklab --version'?`},
		{`R99`, `there is no race R99: their numbers are R00 to R49B, and S1 to S8; 'locklab list races --all'`},
		{`R18 002-C`, `locklab run 002-C R18`},
		{`token gc-paus`, `did you mean gc-pause?`},
		{`token`, `did you mean 'locklab explain token'?`},
		{`gc-pause --help`, `did you mean 'locklab explain gc-pause'?`},
		{`help gc-pause`, `did you mean 'locklab explain gc-pause'?`},
		{`levels`, `did you mean 'locklab play'?`},
		{`explain lesson 3`, `did you mean 'locklab explain path 3'?`},
		{`explain redis`, `did you mean 'locklab list'?`},
		{`run R99`, `there is no race R99: their numbers are R00 to`},
		{`run setnx redlock`, `is a lock and no race: 'locklab matrix --locks setnx,redlock'`},
		{`play level 2`, `did you mean 'locklab play --level 2'?`},
		{`play 2`, `did you mean 'locklab play --level 2'?`},
		{`play quiz 3`, `did you mean 'locklab play quiz --lesson 3'?`},
		{`matrix token R18`, `did you mean 'locklab matrix --locks token --races R18'?`},
		{`chart pars`, `"pars"…did you mean par?`},
		{`chart foo`, `"foo": all are par, theorems`},
		{`chart recovery.csv`, `"recovery.csv"…only a FILE.json`},
		{`chart recovery --title X`, `--title, --size and --notes…-o`},
		{`matrix -o out.png`, `-o out.png: a folder`},
		{`help nonsense`, `"nonsense"`},
		{`nonsense --help`, `"nonsense"`},
		{`par --locks setnx --help`, `did you mean 'locklab chart par'?`},
		{`sweep --lang zh`, `是不是想用 'locklab chart sweep'？`},
		{`explore token --clients any`, `use: locklab prove LOCK`},

		{`run`, `run token gc-pause`},
		{`run token --expect HOLDS`, `needs a lock and a race, for example: locklab run token gc-pause`},
		{`run somethingelse gc-pause`, `"somethingelse": 'locklab list --all'`},
		{`run LINK token`, `run LINK`},
		{`run LINK --expect ,`, `--expect names no verdict`},
		{`run token gc-pause --expect fine`, `"fine"…HOLDS`},
		{`run token gc-pause --view lane`, `"lane"…did you mean lanes`},
		{`run token gc-pause --seed -1`, `--seed "-1": give a whole number from 0`},
		{`run token clock-drift --set drift=0`, `drift=0…more than 0`},
		{`run token clock-drift --set drift=1s`, `drift=1s…500ms`},
		{`list things`, `"things"…locks, races, faults`},
		{`list --locks zzz`, `"zzz"…list --all`},
		{`list faults --locks stamps`, `faults…--locks`},
		{`explain gcpause`, `"gcpause"…did you mean gc-pause`},
		{`explain token -o x.pdf`, `x.pdf…md or .html`},
		{`explain path 11`, `"11"…1 to 10`},
		{`explain interview redlok`, `"redlok"…did you mean redlock`},
		{`explain glossary fance`, `"fance"…did you mean`},
		{`completion`, `needs a shell, for example: locklab completion bash`},
		{`completion bsh`, `"bsh"…did you mean bash?…powershell`},
		{`matrix --locks redison`, `"redison"…did you mean redisson`},
		{`matrix --locks=`, `names no lock`},
		{`matrix --locks token,002-C`, `token twice`},
		{`matrix --races failovr`, `did you mean failover`},
		{`chart sweep --runs 1.5`, `--runs "1.5": give a whole number`},
		{`explore token --max-memory 20`, `--max-memory 20…from 50, or 0`},
		{`explore token --uses give-up --timing lockstep`, `uses=give-up…timing=any`},
		{`explore zk-naive --client-retries 1`, `the client library of zk-naive sends nothing again`},
		{`explore token --budget client-rate=1`, `cannot carry client-rate…locklab chart sweep client-rate`},
		{`verify token`, `no argument`},
		{`verify --contract no-such-file`, `no-such-file`},
		{`verify --annotations gitlab`, `write github`},

		{`chart sweep pause/ttl --set pause=1s`, `pause is there twice`},
		{`chart sweep pause/ttl --set retry`, `--set…"retry"`},
		{`chart sweep pause/ttl --verdict overlp`, `"overlp"…did you mean OVERLAP`},
		{`chart sweep pause/ttl --locks stamps,getset`, `getset twice`},
		{`chart sweep ttl=1500ms --locks setnx-expire`, `ttl=1.5s…setnx-expire…ttl=2s`},
		{`chart sweep pause/ttl -o x.gif`, `x.gif….png`},
		{`chart tolerance token`, `token`},
		{`chart par --clients 9`, `--clients "9"`},
		{`chart theorems --budget crash=any,pause=1`, `pause=1`},
		{`chart recovery --ttl 1500ms`, `--ttl…1s`},
		{`chart recovery --work -1s`, `-1s`},
		{`chart waiting --clients 5,2`, `2`},
		{`chart waiting --clients 5000`, `2000`},
		{`chart waiting --policies fixd`, `did you mean fixed`},
		{`chart waiting --poll 0s`, `--poll 0s`},
		{`chart rate --ttl 1us`, `--ttl 1µs…1ms`},
		{`chart rate --machines 3`, `100 holds`},
		{`chart rate --pause 4/year`, `--pause: "4/year"…1/year 30s`},

		{`play token setnx`, `"setnx"`},
		{`play --level 99`, `99…1 to 31`},
		{`play token --level 1`, `--level`},
		{`play --level 2 --timing any`, `--level`},
		{`play token --timing some`, `some…any, lockstep`},
		{`play token --harm holds`, `"holds"…OVERLAP`},
		{`play LINK`, `gc-pause…locklab play token`},
		{`play quiz --questions 0`, `0…1 to 40`},
		{`play quiz --difficulty hrad`, `hrad…easy, medium, hard`},
		{`play quiz --lesson 11`, `11…1 to 10…crash-before-expire`},
		{`play quiz --locks zk-recheck --difficulty easy`, `zk-recheck…no such questions…setnx-expire…gc-pause`},
		{`play quiz --lesson 1 --questions 20`, `--lesson 1…not 20…or less`},
		{`serve --port 99999`, `99999`},

		{`chart sweep --shard 0/3`, `--shard "0/3": write K/N`},
		{`chart sweep --shard 3`, `--shard "3": write K/N`},
		{`chart sweep --shard 1/99999`, `up to 10000`},
		{`chart par --shard 1/2`, `--shard`},
		{`verify --shard 1/2 --junit v.xml`, `--junit with --shard`},
		{`verify --shard 1/2 --contract absent.txt`, `absent.txt: no such file`},
		{`live nonsense`, `live nonsense`},
		{`live run token`, `needs a lock and a race`},
		{`live run nolock failover`, `nolock`},
		{`live run token norace`, `norace`},
		{`live run token failover --lease 1ms`, `--lease 1ms: give 50ms to 10s`},
		{`live run live_test.go`, `live_test.go`},
		{`live run live_test.go --set ttl=1s`, `--set goes with a lock and a race: a saved run`},
		{`live matrix --locks token -o live.png`, `-o live.png: write FILE.csv`},
		{`live matrix --rounds 0`, `--rounds 0: give 1 to 1000`},
		{`live verify --rounds 1001`, `--rounds 1001: give 1 to 1000`},
		{`live verify extra`, `extra`},
		{`check`, `needs a package, for example: locklab check ./mylock`},
		{`check a b`, `'locklab check' takes no argument "b"`},
		{`check ./nowhere`, `there is no folder ./nowhere`},
		{`check example.com/nowhere`, `example.com/nowhere is no folder here`},
		{`check check_test.go`, `check_test.go is a file: give the folder of the package, .`},
		{`check TEMPLATE --locks tokn`, `did you mean token`},
	}) {
		var args []string
		for _, arg := range strings.Fields(c.args) {
			args = append(args, strings.NewReplacer("LINK", link, "TEMPLATE", template).Replace(arg))
		}
		code, out, errs := call(t, args...)
		if strings.Contains(errs, "strconv") {
			t.Errorf("%s speaks of its own code: %s", c.args, errs)
		}
		if code != exitUsage || out != "" {
			t.Errorf("%s: exit status %d, want %d; standard output %q", c.args, code, exitUsage, out)
		}
		for _, w := range strings.Split(c.says, "…") {
			if !strings.Contains(errs, w) {
				t.Errorf("%s: %q does not say %q", c.args, strings.TrimSpace(errs), w)
			}
		}
	}
}

// What is wrong is said in Chinese to a user who reads Chinese. Only names, and what the
// libraries of Go say, are in English.
func TestWrongUseInChinese(t *testing.T) {
	good, dir := link(t), t.TempDir()
	contracts := 0
	contract := func(content string) []string {
		contracts++
		return []string{"verify", "--contract", fileWith(t, content, dir, "contract"+strconv.Itoa(contracts)+".txt")}
	}
	run := func(settings string) []string { return []string{"run", "token", "gc-pause", "--set", settings} }
	damaged := simulator.Trace{Lock: "token", Race: "gc-pause",
		Choices: []simulator.Choice{{Verb: simulator.Wake, Client: 1}}}
	searched := simulator.Trace{Lock: "token", Race: search.SearchID, Settings: "clients=2,attempts=0"}

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
		run("ttl"), run("ttl=soon"), run("puase=3s"), run("skew=3s"), run("seed=-1"), run("clients=two"),
		run("clients=9"), run("ttl=0s"), run("ttl=1us"), run("pause=-1s"), run("pause=60000h"), run("horizon=0s"),
		run("horizon=5s"), run("horizon=9000h"), run("retry=0s"),
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
		{"explore", "token", "--lateness", "750ms", "--timing", "lockstep"},
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
	golden(t, "errors.zh.txt", told.String())
}

// inEnglish are the files whose errors do not stand in the catalogues, and why.
var inEnglish = map[string]string{
	"simulator/bubble/agent.go":        "for the programmer of a test, beside what package testing prints",
	"simulator/bubble/handle.go":       "for the programmer of a test, beside what package testing prints",
	"simulator/bubble/execution.go":    "for the programmer of a test, beside what package testing prints",
	"scenarios/share/part.go":          "never reaches a user: a share is printed then",
	"simulator/child/again.go":         "never reaches a user: its caller says it in its own words",
	"scenarios/cost/simulation.go":     "a mistake of locklab, whose own policies are played",
	"simulator/database/parse.go":      "for the programmer of a lock whose statement is not understood",
	"scenarios/cost/clients.go":        "a mistake of locklab, whose own policies are played",
	"scenarios/cost/waiting.go":        "a mistake of locklab, whose own policies are played",
	"scenarios/search/usual.go":        "a mark of errors",
	"scenarios/study/doom.go":          "marks of errors: the page says that a run comes to no harm",
	"simulator/config.go":              "for the programmer of a Config",
	"simulator/explore/doom.go":        "never reaches a user: package study says what the run comes to",
	"simulator/explore/assumptions.go": "never leaves a search, which begins anew",
	"simulator/explore/result.go":      "package search says it in words",
	"simulator/explore/witness.go":     "a mistake of locklab",
	"simulator/internal/codec/codec.go": "for code that writes to a connection something else than its own " +
		"driver does",
	"simulator/orphaned.go":          "a mistake of locklab: a choice that the search itself has made",
	"simulator/process/branches.go":  "never leaves the package, which tries again",
	"simulator/process/execution.go": "for the author of a lock whose code panics",
	"simulator/realserver/redis.go":  "what a redis-server must not answer to the lab itself",
	"simulator/live/server.go":       "what a redis-server must not answer to the lab itself",
	"simulator/live/zookeeper.go":    "what a ZooKeeper must not answer to the lab itself",
	"simulator/realserver/zookeeper.go": "for a server that does not speak ZooKeeper's protocol, and a mark " +
		"of errors",
	"simulator/live/database.go":                   "what a database must not answer to the lab itself",
	"simulator/live/redis.go":                      "a connection to a redis-server that has failed, with its cause",
	"simulator/realserver/servertest/line.go":      "for the programmer who compares with a real server",
	"simulator/realserver/servertest/listening.go": "for a test of where servers listen",
	"simulator/resp/resp.go":                       "for a server that writes no RESP",
	"simulator/redisnode/conn.go": "for the author of a lock that makes a call of go-redis that no " +
		"lock may make",
	"simulator/redisnode/engine.go": "for the author of a lock that sends a command that cannot be " +
		"simulated",
	"simulator/redisnode/wire.go":        "for the author of a lock that writes no RESP",
	"simulator/database/driver.go":       "for the author of a lock that opens a database by a name",
	"simulator/world.go":                 "what the resource answers to the code of a lock",
	"simulator/internal/codec/leaves.go": "for a process of a test, which repeats a history of the same program",
	"simulator/process/repeat.go":        "for a process of a test, which repeats a history of the same program",
	"simulator/written.go":               "for a process of a test, which repeats a history of the same program",
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
