package main

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locklab/faults"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios"
	"locklab/scenarios/race"
	"locklab/simulator/lists"
)

// A command is what a user can do: its name, its flags and what it runs. The catalogues have its texts under its name.
type command struct {
	use      string                     // its name and its arguments, as help shows them
	texts    []string                   // whose texts its flags have; nil: its own
	examples []string                   // the catalogues describe them by their numbers, from 1
	args     cobra.PositionalArgs       // refuses arguments; nil: any are right
	complete completer                  // what a shell offers as arguments; nil: files
	flags    func(f *flags)             // declares its flags; nil: there are none
	run      func(*env, []string) error // nil: it prints its help, and the commands below it run
	divides  bool                       // its work into shares, by --shard
	below    []*command                 // as in "live run"
}

// name returns the first word of a command's use.
func (c *command) name() string {
	name, _, _ := strings.Cut(c.use, " ")
	return name
}

// A group is the commands that help lists below one heading.
type group struct {
	name     string // the catalogues have the heading under it
	commands []*command
}

// groups returns all commands, in the order in which help lists them.
func groups() []group {
	return []group{
		{"start", []*command{demoCommand(), runCommand(), explainCommand(), playCommand(), serveCommand()}},
		{"compare", []*command{listCommand(), matrixCommand(), chartCommand()}},
		{"prove", []*command{exploreCommand(), proveCommand(), verifyCommand(), initCommand(), checkCommand(),
			judgeCommand()}},
		{"class", []*command{lessonCommand()}},
		{"more", []*command{liveCommand(), mergeCommand(), completionCommand()}},
	}
}

// chartCommand draws the chart of a name.
func chartCommand() *command {
	files := &chartFiles{}
	return &command{
		use: "chart NAME | FILE.json", examples: []string{"chart par", "chart sweep pause/ttl -o sweep.png",
			"chart sweep.json --lang zh -o sweep.png"},
		args: knownChart, run: drawAgain(files),
		flags: func(f *flags) {
			files.add(&flags{command: f.command, set: f.command.PersistentFlags(), e: f.e, texts: f.texts})
		},
		below: lists.Each(figures(files), func(d *figure) *command { return d.command }),
	}
}

// chartNames are the names of all charts.
func chartNames() []string { return lists.Each(chartCommand().below, (*command).name) }

// drawnBy are the commands for charts that have none of their own.
var drawnBy = map[string]string{
	"run": "locklab run token gc-pause -o run.svg", "runs": "locklab run token gc-pause -o run.svg",
	"grid": "locklab matrix -o out", "poster": "locklab matrix -o out", "sensitivity": "locklab chart sweep pause/ttl",
}

// newRoot returns the command without a name, with all others below it.
func newRoot(e *env) *cobra.Command {
	version := false
	root := &cobra.Command{
		Use:           "locklab",
		Args:          knownCommand,
		SilenceErrors: true,
		SilenceUsage:  true,
		PersistentPreRunE: func(c *cobra.Command, args []string) error {
			if err := refuseEmpty(c, args); err != nil {
				return err
			}
			return e.checkCommonFlags()
		},
		RunE: func(*cobra.Command, []string) error {
			switch {
			case e.cite:
				versionOf().cite(e.console, modulePath(), e.command)
			case version:
				versionOf().print(e.console)
			default:
				printLanding(e.console)
			}
			return nil
		},
	}
	(&flags{command: root, set: root.Flags(), e: e}).add("version", &version)
	common := &flags{command: root, set: root.PersistentFlags(), e: e}
	common.add("json", &e.json)
	common.add("lang", &e.lang, "languages", sayLanguages(e.Printer))
	common.add("color", &e.color)
	common.add("width", &e.width)
	common.add("cite", &e.cite)
	for _, g := range groups() {
		for _, c := range g.commands {
			root.AddCommand(c.cobra(e, ""))
		}
	}
	translateHelp(e, root)
	root.SetFlagErrorFunc(flagError)
	return root
}

// cobra returns the command as cobra runs it, in an environment, below others of a name.
func (c *command) cobra(e *env, above string) *cobra.Command {
	built := &cobra.Command{Use: c.use, Args: c.args, Example: describe(e.Printer, above+c.name(), c.examples)}
	for _, sub := range c.below {
		built.AddCommand(sub.cobra(e, above+c.name()+"-"))
	}
	f := &flags{command: built, set: built.Flags(), e: e, texts: c.texts}
	if c.texts == nil {
		f.texts = []string{c.name()}
	}
	if c.flags != nil {
		c.flags(f)
	}
	shard, run := "", c.run
	if c.divides {
		f.add("shard", &shard)
	}
	c.completes(e.Printer, built)
	if run == nil {
		built.Args, run = knownCommand, showHelp
	}
	built.RunE = func(_ *cobra.Command, args []string) error {
		if e.ctx, e.running = built.Context(), built; e.cite {
			versionOf().cite(e.console, modulePath(), computedBy(e.command, args))
			return nil
		}
		for _, prepare := range f.before {
			if err := prepare(); err != nil {
				return err
			}
		}
		if shard != "" {
			return computeShare(e, c, args, shard)
		}
		return run(e, args)
	}
	return built
}

// wordsOf returns the words that name a command, without "locklab".
func wordsOf(c *cobra.Command) []string { return strings.Fields(c.CommandPath())[1:] }

// describe writes examples for a command's help. The catalogues describe them by its name and their numbers, from 1.
func describe(e *text.Printer, name string, examples []string) string {
	var b strings.Builder
	for i, line := range examples {
		fmt.Fprintf(&b, "  # %s\n  locklab %s\n", e.Say(fmt.Sprintf("help.%s.example.%d", name, i+1)), line)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// flags declares the flags of a command.
type flags struct {
	command *cobra.Command
	set     *pflag.FlagSet
	e       *env
	texts   []string       // the commands whose texts the flags may have
	before  []func() error // what is done before the command runs
}

// usage returns the help text of a flag: a command's own, or the one of all commands.
func (f *flags) usage(flag string, pairs ...string) string {
	for _, command := range f.texts {
		if key := "help.flag." + command + "." + flag; text.In("en").Has(key) {
			return f.e.Say(key, pairs...)
		}
	}
	return f.e.Say("help.flag."+flag, pairs...)
}

// add declares a flag that sets what p points to. Its default is there already. Commas separate the elements of a list.
func (f *flags) add(name string, p any, pairs ...string) {
	usage := f.usage(name, pairs...)
	if values := flagValues[name]; values != nil {
		defer f.completes(name, values)
	}
	switch p := p.(type) {
	case *bool:
		f.set.BoolVar(p, name, *p, usage)
	case *int:
		f.set.IntVar(p, name, *p, usage)
	case *int64:
		f.set.Int64Var(p, name, *p, usage)
	case *float64:
		f.set.Float64Var(p, name, *p, usage)
	case *uint64:
		f.set.Uint64Var(p, name, *p, usage)
	case *string:
		f.set.StringVar(p, name, *p, usage)
	case *faults.Budget:
		f.set.StringVar((*string)(p), name, string(*p), usage)
	case *time.Duration:
		f.set.DurationVar(p, name, *p, usage)
	case *[]string:
		f.set.StringSliceVar(p, name, *p, usage)
	default:
		panic(fmt.Sprintf("--%s: there are no flags of type %T", name, p))
	}
}

// check has the values of a flag that was declared checked when they are parsed. Its error is shown as it is.
func (f *flags) check(name string, check func() error) {
	flag := f.set.Lookup(name)
	flag.Value = &checkedValue{flag.Value, name, check}
}

// A checkedValue is the value of a flag with a check.
type checkedValue struct {
	pflag.Value
	flag  string
	check func() error
}

// Set parses and checks a value. An empty one that no flag may have is refused with all others.
func (v *checkedValue) Set(s string) error {
	if err := v.Value.Set(s); err != nil || s == "" && !slices.Contains(mayBeEmpty, v.flag) {
		return err
	}
	if err := v.check(); err != nil {
		return &exitError{exitUsage, err}
	}
	return nil
}

// ranged declares a flag with a least and a greatest value.
func ranged[T cmp.Ordered](f *flags, name string, p *T, least, most T) {
	f.add(name, p)
	f.check(name, func() error {
		if *p < least || *p > most {
			return text.Errorf("error.flag.range", "flag", "--"+name, "value", *p, "least", least, "most", most)
		}
		return nil
	})
}

// parse declares a flag whose text a function parses. The usual text is parsed at once.
func parse[T any](f *flags, name, usual string, p *T, with func(string) (T, error)) {
	f.add(name, &usual)
	read := func() (err error) {
		*p, err = with(usual)
		return err
	}
	_ = read()
	f.check(name, read)
}

// each declares a flag that can be given several times.
func (f *flags) each(name string, p *[]string) { f.set.StringArrayVar(p, name, *p, f.usage(name)) }

// out declares -o, which names files.
func (f *flags) out(files *[]string) { f.set.StringArrayVarP(files, "out", "o", nil, f.usage("out")) }

// outTo declares -o, which names one file or folder.
func (f *flags) outTo(file *string) { f.set.StringVarP(file, "out", "o", "", f.usage("out")) }

// writes has the files of -o opened before the command runs, and refuses other endings with an error of the key wrong.
func (f *flags) writes(files func() []string, wrong string, endings ...string) {
	f.before = append(f.before, func() error {
		for _, file := range files() {
			if file != "" && !slices.Contains(endings, ending(file)) {
				return text.Errorf(wrong, "file", file)
			}
		}
		return f.e.replace("-o", files()...)
	})
}

// outHTML declares -o, which names a page.
func (f *flags) outHTML(file *string, wrong string, endings ...string) {
	f.outTo(file)
	f.writes(func() []string { return []string{*file} }, wrong, append(endings, ".html")...)
}

// knownCommand refuses a first word that is no command. It offers the command for a lock, race or link, or the nearest.
func knownCommand(above *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if !above.HasParent() {
		if meant := meantBy(args[0]); meant != "" {
			return text.Errorf("error.command.meant", "name", args[0], "command", meant)
		}
		if scenarios.IsNumber(args[0]) {
			_, err := scenarios.ByName(args[0])
			return err
		}
	}
	names := lists.Each(lists.Pick(above.Commands(), (*cobra.Command).IsAvailableCommand), (*cobra.Command).Name)
	return text.Errorf("error.command", "name", strings.Join(append(wordsOf(above), args[0]), " "),
		"near", text.Near(args[0], names))
}

// searched are words that newcomers type, with the command that shows what they look for.
var searched = map[string]string{
	"level": "locklab play --level 1", "levels": "locklab play", "lesson": "locklab explain path",
	"lessons": "locklab explain path", "redis": "locklab list", "zookeeper": "locklab explain interview zookeeper",
	"etcd": "locklab explain interview etcd", "redisson": "locklab explain watchdog",
	"kleppmann": "locklab explain debate", "antirez": "locklab explain debate", "version": "locklab --version",
	"quiz": "locklab play quiz", "replay": "locklab run LINK",
}

// meantBy returns the command meant by a name alone: a lock, a race, a page or a term is explained. "": it is none.
func meantBy(name string) string {
	word := strings.ToLower(name)
	_, page, _ := lessons.Find(name, "")
	switch {
	case searched[word] != "":
		return searched[word]
	case slices.Contains(listable, word):
		return "locklab list " + word
	case slices.Contains(chartNames(), word):
		return "locklab chart " + word
	case isNamed(name) || page:
		return "locklab explain " + name
	}
	return ""
}

// isNamed reports whether a word is a lock or a race.
func isNamed(word string) bool {
	_, lockErr := race.Lock(word)
	_, raceErr := scenarios.ByName(word)
	return lockErr == nil || raceErr == nil
}

// knownChart refuses a name that no chart has, and what is no file with a chart.
func knownChart(_ *cobra.Command, args []string) error {
	switch {
	case len(args) == 1 && filepath.Ext(args[0]) == ".json":
		return nil
	case len(args) > 0 && drawnBy[args[0]] != "":
		return text.Errorf("error.chart.elsewhere", "name", args[0], "command", drawnBy[args[0]])
	case len(args) > 0 && filepath.Ext(args[0]) != "":
		return text.Errorf("error.chart.again", "file", args[0])
	case len(args) > 0:
		_, err := choose("error.chart", args[0], chartNames())
		return err
	}
	return nil
}

// noArguments refuses arguments.
func noArguments(c *cobra.Command, args []string) error { return between(0, 0, "")(c, args) }

// between refuses more or fewer arguments. The error names what is missing by a key of error.arguments, and offers the
// command that takes what is too much.
func between(n, most int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if len(args) < n {
			return text.Errorf("error.arguments."+what, "command", c.CommandPath(), "example", firstExample(c))
		} else if len(args) <= most {
			return nil
		}
		name := strings.Join(args[most:], " ")
		if meant := cmp.Or(meantWith(c, args, 0), meantWith(c, args, most)); meant != "" {
			return text.Errorf("error.noarguments.meant", "command", c.CommandPath(), "name", name, "meant", meant)
		}
		return text.Errorf("error.noarguments", "command", c.CommandPath(), "name", name)
	}
}

// meantWith returns the command line that gives each argument behind the first ones by the flag that takes it: a lock,
// a race or the number of a level or a lesson. Names of flags get their dashes. A lock and a race are to be run. "":
// there is no flag for one of them.
func meantWith(c *cobra.Command, args []string, first int) string {
	has := func(flag string) bool { return c.Flags().Lookup(flag) != nil }
	line := strings.Join(append([]string{c.CommandPath()}, args[:first]...), " ")
	for i, arg := range args[first:] {
		_, noLock := race.Lock(arg)
		_, noRace := scenarios.ByName(arg)
		_, noNumber := strconv.Atoi(arg)
		switch {
		case has(arg):
			line += " --" + arg
		case i > 0 && has(args[first+i-1]):
			line += " " + arg
		case noLock == nil && has("locks"):
			line += " --locks " + arg
		case noRace == nil && has("races"):
			line += " --races " + arg
		case noNumber == nil && has("level"):
			line += " --level " + arg
		case noNumber == nil && has("lesson"):
			line += " --lesson " + arg
		case noRace == nil && first+i == 1 && isNamed(args[0]):
			return "locklab run " + strings.Join(args, " ")
		default:
			return ""
		}
	}
	return line
}

// firstExample returns the first command line among the examples of a command, or its usage.
func firstExample(c *cobra.Command) string {
	_, line, _ := strings.Cut(c.Example, "\n  ") // behind what is said of it
	line, _, _ = strings.Cut(line, "\n")
	return cmp.Or(line, "locklab "+c.Use)
}

// commandLine returns a command line as users type it into a shell.
func commandLine(words ...[]string) string {
	return text.Visible(strings.Join(append([]string{"locklab"}, lists.Each(slices.Concat(words...), quoted)...), " "))
}

// quoted returns a word as users type it into a shell.
func quoted(word string) string {
	if flag, empty := strings.CutSuffix(word, "="); empty {
		return flag + ` ""`
	}
	if word != "" && !strings.ContainsAny(word, " \t\n'\"\\$&|;<>()[]{}*?#!~`") {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
