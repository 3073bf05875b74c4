package reports

import (
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"locklab/simulator/history"
	"locklab/simulator/verdict"
)

// basePort is the port of node 1; node i listens i-1 above it.
const basePort = 6379

// RedisCLI prints a run as commands that can be typed into redis-cli, in the
// order in which the servers ran them, each with its reply. What cannot be
// typed (time, faults, what clients believe) stands in comment lines. A run on a
// ZooKeeper is printed in the same way, in the words of its API.
func RedisCLI(w io.Writer, h *history.History, j verdict.Judgement, o Options) error {
	c := &transcript{lines: newLines(w, o), h: h, decimals: decimalsOf(h), client: -1}
	c.servers()
	due := dueFindings(h, j)
	for i, e := range h.Events {
		c.event(e)
		for _, f := range due[i] {
			c.comment(e, mark(f))
		}
	}
	c.settle()
	return c.lines.err
}

// dueFindings sorts findings by the event after which they are to be told.
func dueFindings(h *history.History, j verdict.Judgement) map[int][]verdict.Finding {
	due := map[int][]verdict.Finding{}
	for _, f := range j.Findings {
		at := min(max(f.Event, 0), len(h.Events)-1)
		due[at] = append(due[at], f)
	}
	return due
}

// A transcript is a run on its way to being typed.
type transcript struct {
	lines    *lines
	h        *history.History
	decimals int
	client   int // whose commands are being typed; -1: nobody's yet

	last   history.Event // the command typed last
	again  int           // how often it was sent again since, in vain
	latest history.Event // the newest of these
}

// servers tells which port is which node, where there is a choice.
func (c *transcript) servers() {
	for n := range c.h.Nodes {
		if c.h.Nodes > 1 {
			c.lines.put("# "+nodeName(n+1)+" is "+c.address(n+1), 2)
		}
	}
}

func (c *transcript) address(node int) string {
	if c.h.ZooKeeper {
		return "zookeeper"
	}
	return "127.0.0.1:" + strconv.Itoa(basePort+max(0, node-1))
}

func (c *transcript) event(e history.Event) {
	switch e.Kind {
	case history.Apply:
		if e.Node != history.Resource {
			c.command(e)
		}
	case history.SessionEnd:
		c.comment(e, "the session of "+clientName(e.Client)+" ends")
	case history.Expire:
		if c.h.ZooKeeper {
			c.comment(e, "with it goes the first place of the line")
			return
		}
		c.comment(e, e.Key+" expires on "+nodeName(e.Node)+" (in a hurry: PEXPIRE "+quote(e.Key)+" 0)")
	case history.Enter:
		c.comment(e, clientName(e.Client)+" is inside the critical section"+fence(e.Token))
	case history.Leave:
		c.comment(e, clientName(e.Client)+" is outside again"+remark(e.Note))
	case history.Write:
		c.comment(e, clientName(e.Client)+": "+writeText(&step{Event: e}))
	case history.Timeout, history.Broken, history.LoseRequest, history.LoseReply:
		c.comment(e, clientName(e.Client)+": "+cellText(c.h, &step{Event: e}))
	default:
		c.fault(e)
	}
}

func (c *transcript) fault(e history.Event) {
	if !e.Kind.Fault() && e.Kind != history.Resume && e.Kind != history.Up && e.Kind != history.Heal {
		return
	}
	who := nodeName(e.Node)
	s := &step{Event: e}
	text := serverNote(c.h, s)
	if e.Client > 0 {
		who, text = clientName(e.Client), cellText(c.h, s)
	}
	c.comment(e, who+": "+text)
}

// comment prints a line that redis-cli is not meant to see.
func (c *transcript) comment(e history.Event, text string) {
	c.settle()
	c.last = history.Event{}
	c.put(e, text)
}

func (c *transcript) put(e history.Event, text string) {
	c.lines.put("# "+millis(e.At, c.decimals)+" ms: "+text, 2)
}

// settle tells how often the last command was repeated.
func (c *transcript) settle() {
	if c.again > 0 {
		c.put(c.latest, strconv.Itoa(c.again)+" more of the same, with the same reply")
		c.again = 0
	}
}

// sameAgain says whether b repeats a: word for word, or refused again with
// another token.
func (c *transcript) sameAgain(a, b history.Event) bool {
	if a.Cmd == nil || a.Client != b.Client || a.Node != b.Node || a.Reply != b.Reply {
		return false
	}
	refused := b.Reply == "(nil)" || b.Reply == "0"
	return slices.Equal(a.Cmd, b.Cmd) || refused && shortCommand(a.Cmd, c.h.Key) == shortCommand(b.Cmd, c.h.Key)
}

func (c *transcript) command(e history.Event) {
	if c.sameAgain(c.last, e) {
		c.again++
		c.latest = e
		return
	}
	c.settle()
	c.last = e
	if e.Client != c.client {
		if c.client >= 0 || c.h.Nodes > 1 {
			c.lines.put("", 0)
		}
		c.client = e.Client
		c.lines.put("# "+typist(e), 2)
	}
	commands, replies := batch(e.Cmd), []string{e.Reply}
	if len(commands) > 1 {
		replies = strings.SplitN(e.Reply, "; ", len(commands))
	}
	for i, cmd := range commands {
		c.lines.put(c.address(e.Node)+"> "+typed(cmd), 2)
		if i < len(replies) {
			c.lines.put(cliReply(replies[i]), 2)
		}
	}
}

// typed is a command as redis-cli reads it.
func typed(cmd []string) string {
	words := make([]string, len(cmd))
	for i, arg := range cmd {
		words[i] = quote(arg)
	}
	if len(words) > 0 {
		words[0] = strings.ToUpper(words[0])
	}
	return strings.Join(words, " ")
}

func typist(e history.Event) string {
	switch {
	case e.Client == 0:
		return "a stranger"
	case e.Thread > 0:
		return clientName(e.Client) + "'s timer"
	}
	return clientName(e.Client)
}

// cliReply gives a reply the decoration of redis-cli.
func cliReply(reply string) string {
	if _, err := strconv.ParseInt(reply, 10, 64); err == nil {
		return "(integer) " + reply
	}
	return reply
}

// quote writes an argument as redis-cli reads it: bare where that is safe, else
// in double quotes.
func quote(arg string) string {
	bare := func(r rune) bool {
		return unicode.IsPrint(r) && !unicode.IsSpace(r) && !strings.ContainsRune("\"'\\", r)
	}
	if arg != "" && strings.IndexFunc(arg, func(r rune) bool { return !bare(r) }) < 0 {
		return arg
	}
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range arg {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\r':
			b.WriteString(`\r`)
		case r == '\t':
			b.WriteString(`\t`)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
