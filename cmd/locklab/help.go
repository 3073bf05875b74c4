package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locklab/faults"
	"locklab/reports"
	"locklab/reports/layout"
	"locklab/reports/lessons"
	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/cost"
	"locklab/scenarios/search"
	"locklab/simulator/lists"
)

// printLanding prints what to do first, and the names of all other commands.
func printLanding(e *console) {
	for _, lang := range e.Langs() {
		e.Wrap("", text.Say(lang, "help.title"))
		e.Printf("\n%s\n", text.Say(lang, "help.group.start"))
		for _, c := range landingCommands {
			e.Wrap("  "+text.Pad("locklab "+c.line, 29), text.Say(lang, c.text))
		}
		e.Printf("\n")
		for _, g := range groups()[1:] {
			heading := text.Pad(text.Say(lang, "help.group."+g.name), 10)
			e.Wrap(heading, text.Join(lang, "chart.list", lists.Each(g.commands, (*command).brief)))
		}
		e.Printf("\n")
		e.Wrap("", text.Say(lang, "help.all"))
	}
}

// brief is a command in a list of names: "matrix", "chart par | rate".
func (c *command) brief() string {
	if c.below == nil {
		return c.name()
	}
	return c.name() + " " + strings.Join(lists.Each(c.below, (*command).name), " | ")
}

// landingCommands are the commands to try first. The catalogues have what each does.
var landingCommands = []struct{ line, text string }{
	{"demo", "help.demo.short"}, {"run token gc-pause", "help.landing.run"}, {"explain path", "help.landing.path"},
	{"play --level 1", "help.landing.play"}, {"serve", "help.landing.serve"},
}

// printCommands prints all commands, in groups.
func printCommands(e *console) {
	e.Sentence("help.title")
	for _, g := range groups() {
		e.Printf("\n%s\n", e.Say("help.group."+g.name))
		printRows(e.Printer, g.rows(e.Printer))
	}
	e.Printf("\n")
	e.Sentence("help.names")
	e.Sentence("help.more")
}

// rows lists a group's commands and what each does, with those below one that runs by itself too, but for charts.
func (g group) rows(e *text.Printer) (rows [][2]string) {
	for _, c := range g.commands {
		rows = append(rows, [2]string{"  " + c.name(), short(e, c.name())})
		if c.run != nil && c.name() != "chart" {
			rows = append(rows, c.rowsBelow(e)...)
		}
	}
	return rows
}

// rowsBelow lists the commands below c.
func (c *command) rowsBelow(e *text.Printer) [][2]string {
	return lists.Each(c.below, func(sub *command) [2]string {
		return [2]string{"  " + c.name() + " " + sub.name(), short(e, c.name()+"-"+sub.name())}
	})
}

// short says in some words what a command does.
func short(e *text.Printer, name string) string {
	return e.Say("help."+name+".short", "charts", strings.Join(chartNames(), ", "))
}

// printRows prints two columns.
func printRows(e *text.Printer, rows [][2]string) {
	widest := 12
	for _, row := range rows {
		widest = max(widest, layout.Width(row[0]))
	}
	for _, row := range rows {
		e.Wrap(text.Pad(row[0], widest+2), row[1])
	}
}

// translateHelp makes all commands print help in the reader's language. The texts are in catalogues under their names.
func translateHelp(e *env, root *cobra.Command) {
	root.InitDefaultHelpCmd()
	for _, c := range append(withChildren(root.Commands()), root) {
		name := helpName(c)
		if name == "help" {
			c.Args = func(_ *cobra.Command, args []string) error {
				if found, rest, err := root.Find(args); err == nil && found != root {
					return noArguments(found, rest)
				}
				return knownCommand(root, args)
			}
		}
		c.Short = short(e.Printer, name)
		c.Flags().BoolP("help", "h", false, e.Say("help.flag.help"))
		c.Flags().Lookup("help").Hidden = c == root // whoever sees it knows it
	}
	root.SetHelpFunc(func(c *cobra.Command, _ []string) {
		if names := c.Flags().Args(); c == root && len(names) > 0 && names[0] != "help" { // as in "nonsense --help"
			e.helped = knownCommand(root, names)
			return
		}
		if e.width >= minWidth { // help comes before the flags are checked
			e.Width = e.width
		}
		printHelp(e, c)
	})
}

func withChildren(commands []*cobra.Command) (all []*cobra.Command) {
	for _, c := range commands {
		if !c.Hidden {
			all = append(append(all, c), withChildren(c.Commands())...)
		}
	}
	return all
}

// helpName is a command in the keys of its texts: "root", "run", "live-run".
func helpName(c *cobra.Command) string {
	if !c.HasParent() {
		return "root"
	}
	return strings.Join(wordsOf(c), "-")
}

// longPlaces fill the places of the long help texts.
func longPlaces(lang string) []string {
	b := contract.UsualBounds() // of a [search] header that leaves all of them out
	b.Budget = faults.NoFaults
	return []string{"schema", fmt.Sprint(reports.Schema), "topics", strings.Join(lessons.Topics(), ", "),
		"example", contractExample, "bounds", strings.Join(b.Items(search.Names()...), " "),
		"sources", text.Join(lang, "chart.list", cost.SourceIDs())}
}

// contractExample is a contract as verify reads it.
const contractExample = `
  [gc-pause]
  token   OVERLAP STALE-WRITE
  [search clients=3 budget=crash=1]
  token   HOLDS
  [search budget=pause=1]
  token   OVERLAP@1 STALE-WRITE@1
  [prove budget=crash=any]
  token   HOLDS
`

// showHelp prints the help of the command that runs.
func showHelp(e *env, _ []string) error {
	printHelp(e, e.running)
	return nil
}

func printHelp(e *env, c *cobra.Command) {
	name := helpName(c)
	if !c.HasParent() {
		printCommands(e.console)
		e.Printf("\n")
	}
	for _, lang := range e.Langs() {
		printLong(e.Printer, text.Say(lang, "help."+name+".long", longPlaces(lang)...))
	}
	if name == "chart" {
		e.Printf("\n")
		printRows(e.Printer, chartCommand().rowsBelow(e.Printer))
	}
	if !c.HasParent() {
		printFlags(e.console, c)
		return
	}
	e.Printf("\n%s\n", e.Say("help.usage"))
	if strings.Contains(c.Use, " ") || !c.HasSubCommands() {
		e.Wrap("  ", strings.Replace(c.UseLine(), "[flags]", e.First("help.flags.use"), 1))
	}
	for _, sub := range c.Commands() {
		if name != "chart" { // which has told them with what they show
			e.Wrap("  ", strings.Replace(sub.UseLine(), "[flags]", e.First("help.flags.use"), 1))
		}
	}
	if c.Example != "" {
		e.Printf("\n%s\n%s\n", e.Say("help.examples"), c.Example)
	}
	printFlags(e.console, c)
	e.Printf("\n")
	e.Sentence("help.flags.global")
}

// printLong prints paragraphs between " // ": one that begins with "- " is an item, one with line breaks an example.
func printLong(e *text.Printer, long string) {
	item := false
	for i, paragraph := range strings.Split(long, "//") {
		if strings.Contains(paragraph, "\n") {
			e.Printf("\n%s", strings.Trim(paragraph, " ")[1:])
			continue
		}
		rest, isItem := strings.CutPrefix(strings.TrimSpace(paragraph), "- ")
		if i > 0 && !(item && isItem) && !isItem {
			e.Printf("\n")
		}
		label := ""
		if isItem {
			label = "  - "
		}
		e.Wrap(label, rest)
		item = isItem
	}
}

// printFlags prints the flags of a command in two columns, without those that all commands have.
func printFlags(e *console, c *cobra.Command) {
	e.Printf("\n%s\n", e.Say("help.flags"))
	var rows [][2]string
	common := c.Root().PersistentFlags()
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if f.Hidden || c.HasParent() && common.Lookup(f.Name) != nil {
			return
		}
		kind, usage := pflag.UnquoteUsage(f)
		name := "      --" + f.Name
		if f.Shorthand != "" {
			name = "  -" + f.Shorthand + ", --" + f.Name
		}
		if kind != "" {
			name += " " + kind
		}
		if !slices.Contains([]string{"", "0", "false", "[]", "0s"}, f.DefValue) {
			usage += " " + e.First("help.default") + " " + f.DefValue + ")"
		}
		rows = append(rows, [2]string{name, strings.ReplaceAll(usage, "`", "")})
	})
	printRows(e.Printer, rows)
}
