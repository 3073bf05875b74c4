package reports

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"locklab/reports/layout"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// basePort is the port of node 1; node i listens i-1 above it.
const basePort = 6379

// RedisCLI prints a run as commands that can be typed into redis-cli, in the order in which the servers ran them, each
// with its reply. Comment lines hold what cannot be typed: time, faults, what clients believe. Commands and replies are
// not folded, so that they can be pasted, unless o.Fold wants it. A ZooKeeper gets the words of its API.
func RedisCLI(w io.Writer, h *history.History, j verdict.Judgement, o Look) error {
	out := o.Lines(w)
	c := &transcript{words: newWording(out.Lang(), h), lines: out, client: -1, fold: o.Fold}
	c.servers()
	for i, e := range h.Events {
		c.observe(e)
		for _, f := range j.Findings {
			if eventOf(f, h) == i {
				since := ""
				if f.From < e.At {
					since = spaced(c.words.say("cli.since", "at", Millis(f.From, c.words.decimals)))
				}
				c.comment(e, c.words.mark(f)+since)
			}
		}
	}
	c.countRepeats()
	return out.Err()
}

// A transcript is a run on its way to being typed.
type transcript struct {
	words  *wording
	lines  *layout.Lines
	fold   bool // see Options.Fold
	told   bool // what stands in place of a script
	client int  // whose commands are being typed; -1: none yet

	last   history.Event // the command typed last
	again  int           // how often it was repeated since, with the same reply
	latest history.Event // the newest of these
}

// servers lists the port of each node, where there are several.
func (c *transcript) servers() {
	for n := range c.words.h.Nodes {
		if c.words.h.Nodes > 1 {
			c.lines.PutMarked("# ", c.words.say("cli.node", "node", nodeName(n+1), "address", c.address(n+1)))
		}
	}
}

func (c *transcript) address(node int) string {
	if name := ServerName(c.words.h); name != "redis" {
		return name
	}
	return "127.0.0.1:" + strconv.Itoa(basePort+max(0, node-1))
}

func (c *transcript) observe(e history.Event) {
	switch e.Kind {
	case history.Apply:
		if e.Node != history.Resource {
			c.command(e)
		}
	case history.Expire, history.SessionEnd, history.Enter, history.Leave:
		c.comment(e, c.words.event("cli", &step{Event: e}, quote(e.Key)))
	case history.Write, history.Timeout, history.Broken:
		c.comment(e, c.about(e))
	default:
		if e.Kind.Fault() || e.Kind == history.Resume || e.Kind == history.Up || e.Kind == history.Heal {
			c.comment(e, c.about(e))
		}
	}
}

// about words an event as lanes do, after the name of its client or server.
func (c *transcript) about(e history.Event) string {
	s := &step{Event: e}
	switch {
	case e.Client > 0:
		return clientName(e.Client) + ": " + c.words.lane(s, c.words.sent(s))
	case e.Node > 0:
		return nodeName(e.Node) + ": " + c.words.server(s)
	}
	return c.words.server(s)
}

// comment prints a line that redis-cli is not meant to see.
func (c *transcript) comment(e history.Event, text string) {
	c.countRepeats()
	c.last = history.Event{}
	c.put(e, text)
}

func (c *transcript) put(e history.Event, text string) {
	c.lines.PutMarked("# ", Millis(e.At, c.words.decimals)+" ms: "+text)
}

// countRepeats prints how often the last command was repeated.
func (c *transcript) countRepeats() {
	if c.again > 0 {
		c.put(c.latest, c.words.say("cli.again", "n", strconv.Itoa(c.again)))
		c.again = 0
	}
}

// sameAgain reports whether b repeats a: word for word, or refused again with another token.
func (c *transcript) sameAgain(a, b history.Event) bool {
	if a.Cmd == nil || a.Client != b.Client || a.Node != b.Node || a.Reply != b.Reply {
		return false
	}
	refused := b.Reply == "(nil)" || b.Reply == "0"
	return slices.Equal(a.Cmd, b.Cmd) || refused && Command(a.Cmd, c.words.h.Key) == Command(b.Cmd, c.words.h.Key)
}

func (c *transcript) command(e history.Event) {
	if c.sameAgain(c.last, e) {
		c.again++
		c.latest = e
		return
	}
	c.countRepeats()
	c.last = e
	if e.Client != c.client {
		if c.client >= 0 || c.words.h.Nodes > 1 {
			c.lines.Put("", 0)
		}
		c.client = e.Client
		c.lines.PutMarked("# ", c.typist(e))
	}
	commands, replies := batch(e.Cmd), []string{e.Reply}
	if len(commands) > 1 {
		replies = strings.SplitN(e.Reply, "; ", len(commands))
	}
	for i, cmd := range commands {
		line := typed(cmd)
		if c.words.h.Database { // a statement, and its arguments
			line = strings.Join(filled(cmd), " ")
		}
		var script []string
		if i := slices.IndexFunc(cmd, func(arg string) bool { return strings.Contains(arg, "\n") }); c.fold && i >= 0 {
			script = strings.Split(strings.Trim(cmd[i], "\n"), "\n")
			line = strings.Replace(line, quote(cmd[i]), `"$`+nameOf(cmd[i])+`"`, 1)
		}
		if script != nil && !c.told {
			c.told = true
			c.lines.PutMarked("# ", c.words.say("cli.script"))
		}
		c.typedLine(c.address(e.Node) + "> " + line)
		for _, s := range script { // which is to be read
			c.lines.PutWhole("      " + s)
		}
		if i < len(replies) {
			c.typedLine(cliReply(replies[i]))
		}
	}
}

// typedLine is a command or a reply: whole, unless it is to be folded.
func (c *transcript) typedLine(s string) {
	if c.fold {
		c.lines.Put(s, 2)
		return
	}
	c.lines.PutWhole(s)
}

// typed is a command as redis-cli reads it.
func typed(cmd []string) string {
	words := lists.Each(cmd, quote)
	if len(words) > 0 {
		words[0] = strings.ToUpper(words[0])
	}
	return strings.Join(words, " ")
}

func (c *transcript) typist(e history.Event) string {
	if e.Client == 0 {
		return c.words.say("cli.external")
	}
	return c.words.sender(&step{Event: e})
}

// cliReply gives a reply the decoration of redis-cli.
func cliReply(reply string) string {
	if _, err := strconv.ParseInt(reply, 10, 64); err == nil {
		return "(integer) " + reply
	}
	return reply
}

// quote writes an argument as redis-cli reads it: bare where that is safe, else in double quotes.
func quote(arg string) string {
	bare := func(r rune) bool {
		return unicode.IsPrint(r) && !unicode.IsSpace(r) && !strings.ContainsRune("\"'\\", r)
	}
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !bare(r) }) < 0 {
		return arg
	}
	return `"` + escapes.Replace(arg) + `"`
}

var escapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`, "\n", `\n`, "\r", `\r`, "\t", `\t`)
