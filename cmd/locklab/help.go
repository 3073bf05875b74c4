package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/mattn/go-runewidth"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"locklab/reports/text"
	"locklab/scenarios/contract"
	"locklab/scenarios/cost"
)

// landing prints what to do with the program: its most useful commands.
func printLanding(e *env) {
	for _, lang := range e.Langs() {
		e.Printf("%s\n\n", text.Say(lang, "help.title"))
		for _, c := range landingCommands {
			name, _, _ := strings.Cut(c, " ")
			if c == landingPath {
				name = "path"
			}
			e.Wrap("  "+text.Pad("locklab "+c, 35), text.Say(lang, "help.landing."+name))
		}
		e.Printf("\n")
		e.Wrap("", text.Say(lang, "help.names"))
		e.Printf("%s\n", text.Say(lang, "help.more"))
	}
}

// landingCommands are commands to try. The catalogues have what each does under its first word.
var landingCommands = []string{
	"demo", "list", "run token gc-pause", "explain R18", landingPath, "replay LINK", "matrix", "sweep pause/ttl",
	"explore token", "par", "tolerance", "rate", "price", "recovery", "waiting", "play --level 1", "quiz", "serve",
	"verify", "check ./mylock",
}

// landingPath is a second use of a command: its text is that of "path".
const landingPath = "explain path"

// translateHelp makes all commands print their help in the language of the reader. Their
// texts stand in the catalogues under their names.
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
		c.Short = e.Say("help." + name + ".short")
		c.Flags().BoolP("help", "h", false, e.Say("help.flag.help"))
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
		all = append(append(all, c), withChildren(c.Commands())...)
	}
	return all
}

// helpName is a command in the keys of its texts: "root", "run", "fleet-run".
func helpName(c *cobra.Command) string {
	_, name, below := strings.Cut(c.CommandPath(), " ")
	if !below {
		return "root"
	}
	return strings.ReplaceAll(name, " ", "-")
}

// longPlaces fill the places of the long help texts.
func longPlaces(lang string) []string {
	return []string{"schema", fmt.Sprint(schema), "doom", text.Say(lang, "help.doom"), "example", contractExample, "bounds", boundList(lang), "environments", text.Join(lang, "chart.list", cost.Shipped())}
}

// boundList is an item for each bound of a [search] header.
func boundList(lang string) (list string) {
	for _, name := range contract.BoundNames() {
		list += " // - " + name + ": " + text.Say(lang, "help.bound."+name)
	}
	return list
}

// contractExample is a contract as verify reads it.
const contractExample = `
  [gc-pause]
  token   OVERLAP STALE-WRITE
  [search clients=3 budget=crash=1]
  token   HOLDS
  [search budget=pause=1]
  token   OVERLAP@1 STALE-WRITE@1
`

func printHelp(e *env, c *cobra.Command) {
	name := helpName(c)
	if !c.HasParent() {
		printLanding(e)
		e.Printf("\n")
	}
	for _, lang := range e.Langs() {
		printLong(e, text.Say(lang, "help."+name+".long", longPlaces(lang)...))
	}
	e.Printf("\n%s\n  %s\n", e.Say("help.usage"), c.UseLine())
	if c.Example != "" {
		e.Printf("\n%s\n%s\n", e.Say("help.examples"), c.Example)
	}
	printFlags(e, "help.flags", c.LocalNonPersistentFlags())
	if !c.HasParent() {
		printFlags(e, "help.flags.global", c.PersistentFlags())
		return
	}
	printFlags(e, "help.flags.global", c.InheritedFlags())
}

// printLong prints paragraphs that " // " separates. One that begins with "- " is an
// item of a list; one with line breaks is an example.
func printLong(e *env, long string) {
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

// printFlags prints flags in two columns.
func printFlags(e *env, heading string, flags *pflag.FlagSet) {
	if !flags.HasAvailableFlags() {
		return
	}
	e.Printf("\n%s\n", e.Say(heading))
	var rows [][2]string
	widest := 0
	flags.VisitAll(func(f *pflag.Flag) {
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
		widest = max(widest, runewidth.StringWidth(name))
	})
	for _, row := range rows {
		e.Wrap(text.Pad(row[0], widest+2), row[1])
	}
}
