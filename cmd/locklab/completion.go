package main

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
	"runtime"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"locklab/algorithms"
	"locklab/reports/chart"
	"locklab/reports/lessons"
	"locklab/reports/report"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/play"
	"locklab/scenarios/race"
	"locklab/simulator"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// A completer returns what may follow words, in a language. A tab separates a word from what is shown beside it.
type completer func(lang string, before []string) []cobra.Completion

// shells write the script that a shell needs, by its name.
var shells = map[string]func(root *cobra.Command, w io.Writer) error{
	"bash":       func(root *cobra.Command, w io.Writer) error { return root.GenBashCompletionV2(w, true) },
	"zsh":        (*cobra.Command).GenZshCompletion,
	"fish":       func(root *cobra.Command, w io.Writer) error { return root.GenFishCompletion(w, true) },
	"powershell": (*cobra.Command).GenPowerShellCompletionWithDesc,
}

var shellNames = []string{"bash", "zsh", "fish", "powershell"}

// completionCommand writes a shell's completion script. It replaces cobra's own, which has no texts in the catalogues.
func completionCommand() *command {
	return &command{
		use: "completion " + strings.Join(shellNames, "|"), args: between(1, 1, "shell"), complete: oneOf(shellNames),
		examples: []string{"completion bash > /etc/bash_completion.d/locklab"},
		run: func(e *env, args []string) error {
			if _, err := choose("error.shell", args[0], shellNames); err != nil {
				return err
			}
			return internal(shells[args[0]](e.running.Root(), e.Out))
		},
	}
}

// flagValues complete flags that several commands have, by their names; of values separated by commas, the last one.
var flagValues = map[string]completer{
	"locks": familiesAndLocks, "against": locks, "races": races,
	"expect": oneOf(verdict.Names(verdict.Answers)), "verdict": oneOf(play.HarmNames()),
	"lang": oneOf(languages()), "color": oneOf(colors), "size": oneOf(chart.SizeNames()),
}

// completes has a shell complete what a command takes. A command without arguments is offered none, and one
// whose arguments are not listed is offered files.
func (c *command) completes(p *text.Printer, built *cobra.Command) {
	if c.complete != nil {
		built.ValidArgsFunction = func(_ *cobra.Command, before []string, typed string) (
			[]cobra.Completion, cobra.ShellCompDirective,
		) {
			return beginning(typed, c.complete(p.Langs()[0], before)), cobra.ShellCompDirectiveNoFileComp
		}
	} else if !strings.Contains(c.use, " ") {
		built.ValidArgsFunction = cobra.NoFileCompletions
	}
}

// completes has a shell complete the values of a flag.
func (f *flags) completes(name string, values completer) {
	_ = f.command.RegisterFlagCompletionFunc(name, func(_ *cobra.Command, _ []string, typed string) ( // once
		[]cobra.Completion, cobra.ShellCompDirective,
	) {
		last := strings.LastIndex(typed, ",") + 1
		found := beginning(typed[last:], values(f.e.Langs()[0], nil))
		return lists.Each(found, func(c string) string { return typed[:last] + c }), cobra.ShellCompDirectiveNoFileComp
	})
}

// beginning returns the completions of what was typed.
func beginning(typed string, all []cobra.Completion) []cobra.Completion {
	return slices.DeleteFunc(slices.Clone(all), func(c cobra.Completion) bool { return !strings.HasPrefix(c, typed) })
}

// oneOf completes names that are listed.
func oneOf(names []string) completer {
	return func(_ string, before []string) []cobra.Completion {
		if len(before) > 0 {
			return nil
		}
		return names
	}
}

// described completes names, any number of times, each with its title.
func described(names []string, title func(name, lang string) string) completer {
	return func(lang string, _ []string) []cobra.Completion {
		return lists.Each(names, func(name string) cobra.Completion {
			return cobra.CompletionWithDesc(name, title(name, lang))
		})
	}
}

// Families are completed by names, locks by ids and those that the articles have for them, races by ids and numbers.
var (
	families = described(familyNames(), text.FamilyTitle)
	locks    = described(lockNames(), func(name, lang string) string {
		e, _ := algorithms.ByName(name)
		return text.LockTitle(e.ID, lang)
	})
	races = described(slices.Concat(
		lists.Each(scenarios.All(), func(s race.Race) []string { return []string{s.ID, s.Code} })...),
		func(name, lang string) string {
			s, _ := scenarios.ByName(name)
			return lessons.Story(lang, s, "title")
		})
)

// familiesAndLocks completes the names of families and of locks.
func familiesAndLocks(lang string, _ []string) []cobra.Completion {
	return append(families(lang, nil), locks(lang, nil)...)
}

// aLock completes one lock.
func aLock(lang string, before []string) []cobra.Completion {
	if len(before) > 0 {
		return nil
	}
	return locks(lang, nil)
}

// aLockAndARace completes a lock, and then a race.
func aLockAndARace(lang string, before []string) []cobra.Completion {
	if len(before) == 1 {
		return races(lang, nil)
	}
	return aLock(lang, before)
}

// explainable completes what explain explains: words first, and after one of them what it takes.
func explainable(lang string, before []string) []cobra.Completion {
	if len(before) == 0 {
		words := append([]string{"path", "interview", "debate", "glossary", "judge", "need"}, lessons.Terms()...)
		return slices.Concat(words, locks(lang, nil), races(lang, nil))
	}
	switch before[0] {
	case "interview":
		return oneOf(lessons.Topics())(lang, before[1:])
	case "glossary":
		return oneOf(lessons.Terms())(lang, before[1:])
	case "path", "debate", "judge", "need":
		return nil
	}
	return aLockAndARace(lang, before)
}

// versionJSON is the JSON of --version.
type versionJSON struct {
	Locklab string `json:"locklab"` // as the Go module system names it
	Commit  string `json:"commit,omitempty"`
	Date    string `json:"date,omitempty"` // of the commit
	Year    string `json:"year,omitempty"`
	Go      string `json:"go"`
	Trace   int    `json:"trace"` // version of links
}

func versionOf() versionJSON {
	v := versionJSON{Locklab: report.Built(), Go: runtime.Version(), Trace: simulator.TraceVersion}
	if info, ok := debug.ReadBuildInfo(); ok {
		v.Commit, v.Date = commitOf(info.Settings)
		v.Year = fmt.Sprintf("%.4s", v.Date)
	}
	return v
}

func (v versionJSON) print(e *console) {
	parts := []string{"locklab " + v.built(e), v.Go}
	if v.Commit == "" {
		parts = slices.Insert(parts, 1, e.First("version.commit", "commit", e.Say("version.unknown")))
	}
	e.show("version", v, func() { e.Printf("%s\n", report.Version(e.Langs()[0], parts...)) })
}

// built is the version with its commit, which that of the module system may name.
func (v versionJSON) built(e *console) string {
	if strings.Contains(v.Locklab, v.Commit) {
		return v.Locklab
	}
	return text.Join(e.Langs()[0], "lane.join", []string{v.Locklab, e.First("version.commit", "commit", v.Commit)})
}

// cite prints an entry for BibTeX of a command, with what the build knows and nothing else. LaTeX reads it: it makes
// a dash of two hyphens, and reads some signs as its own.
func (v versionJSON) cite(e *console, module, command string) {
	page := e.getenv("LOCKLAB_PAGE")
	if host, _, _ := strings.Cut(module, "/"); page == "" && strings.Contains(host, ".") {
		page = "https://" + module
	}
	note := ""
	if command = strings.ReplaceAll(command, " --cite", ""); command != "locklab" {
		note = e.First("version.cited", "command", forLaTeX.Replace(command))
	}
	e.show("version", v, func() {
		key := regexp.MustCompile(`[^0-9A-Za-z.-]`).ReplaceAllString("locklab-"+cmp.Or(v.Commit, v.Locklab), "")
		e.Printf("@software{%s,\n", key)
		for _, field := range [][2]string{{"author", "{" + e.First("version.authors") + "}"},
			{"title", "{locklab}: " + e.First("help.root.short")}, {"version", v.built(e)}, {"date", v.Date},
			{"year", v.Year}, {"url", page}, {"note", note}} {
			if field[1] != "" {
				e.Printf("  %-7s = {%s},\n", field[0], field[1])
			}
		}
		e.Printf("}\n")
		if v.Commit == "" {
			e.inform("version.build")
		}
	})
}

var forLaTeX = strings.NewReplacer("--", "-{}-", `\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "_", `\_`, "#", `\#`,
	"%", `\%`, "&", `\&`, "$", `\$`, "~", `\~{}`, "^", `\^{}`)

// modulePath is the path of the lab's module, which go.mod alone knows: see make rename.
func modulePath() string {
	info, _ := debug.ReadBuildInfo() // a program that was built from a module has it
	return info.Main.Path
}

// commitOf returns the first digits of the commit that the program was built from, with "+dirty" if files
// had changed since, and its date. "": it was built without (go build -buildvcs=false, go run, a test).
func commitOf(settings []debug.BuildSetting) (commit, date string) {
	of := map[string]string{}
	for _, s := range settings {
		of[s.Key] = s.Value
	}
	commit, date = fmt.Sprintf("%.12s", of["vcs.revision"]), fmt.Sprintf("%.10s", of["vcs.time"])
	if commit != "" && of["vcs.modified"] == "true" {
		commit += "+dirty"
	}
	return commit, date
}
