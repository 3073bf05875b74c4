package reports

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"locklab/algorithms"
	"locklab/reports/layout"
	"locklab/reports/text"
	"locklab/simulator/history"
	"locklab/simulator/lists"
	"locklab/simulator/verdict"
)

// Code prints the requests of a run, numbered, and then the lock's own code with these numbers beside the lines that
// made them. The run must have been recorded with code; see history.Event.Code. The code is that which was compiled.
// Lines have no numbers, so that a line added above them changes nothing.
func Code(w io.Writer, h *history.History, o Look) error { return code(o.Lines(w), h, declarations()) }

// CodeIn is Code of a lock whose files are those of folders. A file that is not there, or is no Go, is an error.
func CodeIn(w io.Writer, h *history.History, o Look, folders []string) error {
	var all declared
	for _, folder := range folders {
		more, err := declarationsIn(os.DirFS(filepath.Dir(folder)), filepath.Base(folder)+"/*.go")
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	return code(o.Lines(w), h, all)
}

// code is Code with the declarations of the locks.
func code(out *layout.Lines, h *history.History, all declared) error {
	v := newWording(out.Lang(), h)
	requests := v.requests()
	if len(requests) == 0 {
		return nil
	}
	s := &layout.Sheet{Right: layout.Only(0, 1), Floor: 8}
	for i, r := range requests {
		s.Rows = append(s.Rows, []string{strconv.Itoa(i + 1), v.when(r.from, r.to), r.who, r.what})
	}
	s.WriteOrList(out, 0)
	shown, _ := all.through(lists.Each(requests, func(r *request) []string { return r.code }))
	margin, file := slices.Max(append(lists.Each(shown, (*block).margin), 0)), ""
	for _, b := range shown {
		out.Put("", 0)
		if b.file != file {
			file = b.file
			out.Put(file+":", 0)
		}
		b.write(out, margin)
	}
	return out.Err()
}

// A Listing is a declaration of a lock's code: a function, or a script that it has servers run.
type Listing struct {
	File  string `json:"f"`
	First int    `json:"n"` // its first line in the file, from 1
	Text  string `json:"t"`
}

// A Call is what a client's code asks for at an event, by its index, with the lines through which it
// does, the outermost call first: the index of a listing, and of a line in it.
type Call struct {
	Event  int      `json:"e"`
	Client int      `json:"c"`
	Lines  [][2]int `json:"l"`
}

// callsOf are those of a run that was recorded with code, and the declarations of their lines; without code: none.
func callsOf(h *history.History) (listings []Listing, calls []Call) {
	shown, places := declarations().through(lists.Each(h.Events, func(e history.Event) []string { return e.Code }))
	for i, lines := range places {
		if len(lines) > 0 {
			calls = append(calls, Call{Event: i, Client: h.Events[i].Client, Lines: lines})
		}
	}
	return lists.Each(shown, func(b *block) Listing {
		return Listing{b.file, b.first, strings.ReplaceAll(strings.Join(b.lines, "\n"), "\t", "    ")}
	}), calls
}

// Calls returns the calls of clients in a run that was recorded with code, a line each, with the lines that did.
func Calls(h *history.History, in *text.Printer) string {
	var out strings.Builder
	inside := section{}
	for i := range h.Events {
		e := &h.Events[i]
		way, of := 0, 0
		fmt.Sscanf(e.Note, history.Way, &way, &of)
		sleep := inside.sleep(e)
		if e.Kind != history.Wake && len(e.Code) == 0 || e.Kind != history.Send && sleep == "" && of == 0 {
			continue
		}
		what := in.Say(sleep, "span", e.D.String())
		switch {
		case of > 0:
			what = in.Say("code.way", "way", strconv.Itoa(way), "of", strconv.Itoa(of))
		case e.Node == history.Resource:
			what = in.Say("code.resource")
		case e.Kind == history.Send:
			what = fmt.Sprintf("n%d %.60s", e.Node, strings.ReplaceAll(strings.Join(e.Cmd, " "), "\n", " "))
		}
		fmt.Fprintf(&out, "%7d  %s  %s %s\n", e.At/time.Millisecond, clientName(e.Client),
			layout.PadRight(what, 66), strings.Join(e.Code, " < "))
	}
	return out.String()
}

// A section has the clients that are inside it, by their numbers.
type section map[int]bool

// sleep takes an event, and returns the key of what its client sleeps for: work, if it is inside; "": it does not.
func (s section) sleep(e *history.Event) string {
	switch {
	case e.Kind == history.Enter, e.Kind == history.Leave:
		s[e.Client] = e.Kind == history.Enter
	case e.Kind == history.Sleep && e.D > 0 && e.Thread > 0:
		return "code.timer"
	case e.Kind == history.Sleep && e.D > 0 && s[e.Client]:
		return "code.work"
	case e.Kind == history.Sleep && e.D > 0:
		return "code.sleep"
	}
	return ""
}

// A request is one that the lock made of a server or the clock, once or several times.
type request struct {
	from, to time.Duration
	who      string
	what     string
	code     []string
	count    int
}

// requests are those of a run, by their replies. Those of one thread that were all refused, or answered alike, are one.
func (v *wording) requests() (all []*request) {
	answer := map[int]*step{}
	for _, s := range stepsOf(v.h, verdict.Judgement{}) {
		switch s.Kind {
		case history.Answer, history.Timeout, history.Broken:
			answer[s.Msg] = &s
		}
	}
	known, inside := map[string]*request{}, section{}
	for i := range v.h.Events {
		e := &v.h.Events[i]
		sleep := inside.sleep(e)
		if len(e.Code) == 0 || e.Node == history.Resource || e.Kind == history.Sleep && sleep == "" {
			continue
		}
		r, sig := v.request(e, sleep, answer[e.Msg])
		sig += fmt.Sprint(e.Client, e.Thread, r.code)
		if p := known[sig]; p != nil {
			p.to, p.count, p.what = r.to, p.count+1, r.what
			continue
		}
		known[sig] = r
		all = append(all, r)
	}
	slices.SortStableFunc(all, func(a, b *request) int { return cmp.Compare(a.from, b.from) })
	for _, r := range all {
		if r.count > 1 {
			r.what += " x" + strconv.Itoa(r.count)
		}
	}
	return all
}

// request describes the request of an event and its reply. Those with one signature are the same to a reader.
func (v *wording) request(e *history.Event, sleep string, answer *step) (r *request, signature string) {
	r = &request{from: e.At, to: e.At, who: clientName(e.Client), code: e.Code, count: 1}
	if sleep != "" {
		r.what = v.say(sleep, "span", Span(e.D))
		return r, r.what
	}
	command := Command(e.Cmd, v.h.Key)
	if e.Thread > 0 {
		command = v.say("lane.timer", "command", command)
	}
	reply := v.say("code.noreply")
	if answer != nil {
		_, reply, _ = strings.Cut(v.lane(answer, ""), "-> ")
		r.from, r.to = answer.At, answer.At
	}
	r.what = command + " -> " + reply
	if answer != nil && answer.refused {
		return r, command + " refused"
	}
	return r, r.what
}

// A block is a function or another declaration of the lock's code, and which requests came through which of its lines.
type block struct {
	file        string
	script      string // the variable that holds it; "": it is none
	first, last int    // lines, from 1
	lines       []string
	marks       map[int][]int // by line, the numbers of requests
}

// declared are declarations of locks: their functions, and the scripts that they have servers run.
type declared []block

// declarations are those of all locks.
var declarations = sync.OnceValue(func() declared {
	all, err := declarationsIn(algorithms.Sources(), "*/*.go")
	if err != nil {
		panic(err) // they were compiled
	}
	return all
})

// declarationsIn reads the files of a file system that match a pattern.
func declarationsIn(sources fs.FS, pattern string) (all declared, err error) {
	files, err := fs.Glob(sources, pattern)
	if err != nil {
		return nil, err
	}
	for _, file := range files {
		text, err := fs.ReadFile(sources, file)
		if err != nil {
			return nil, err
		}
		set := token.NewFileSet()
		tree, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		lines := strings.Split(string(text), "\n")
		for _, d := range tree.Decls {
			first, last := set.Position(d.Pos()).Line, set.Position(d.End()).Line
			all = append(all, block{file: file, script: scriptOf(d), first: first, last: last,
				lines: lines[first-1 : last]})
		}
	}
	return all, nil
}

// scriptOf is the name of the variable that a declaration makes of a Lua script; "" if it does something else.
func scriptOf(d ast.Decl) string {
	g, ok := d.(*ast.GenDecl)
	if !ok || len(g.Specs) != 1 {
		return ""
	}
	v, ok := g.Specs[0].(*ast.ValueSpec)
	if !ok || len(v.Values) != 1 {
		return ""
	}
	call, ok := v.Values[0].(*ast.CallExpr)
	if !ok {
		return ""
	}
	if f, ok := call.Fun.(*ast.SelectorExpr); !ok || f.Sel.Name != "NewScript" {
		return ""
	}
	return v.Names[0].Name
}

// through are the declarations through which code was called, callers before what they call, in the order of the calls,
// each with the scripts that its marked lines name behind it; and by call, the outermost line first, the index of a
// declaration and of a line in it. A line is marked with the numbers of its calls, from 1.
func (d declared) through(calls [][]string) (shown []*block, places [][][2]int) {
	places = make([][][2]int, len(calls))
	var found []*block
	for n, call := range calls {
		for _, at := range slices.Backward(call) {
			if i, line := d.find(&found, at); i >= 0 {
				found[i].marks[line] = append(found[i].marks[line], n+1)
				places[n] = append(places[n], [2]int{i, line - found[i].first})
			}
		}
	}
	index := make([]int, len(found))
	for n, b := range found {
		index[n], shown = len(shown), append(shown, b)
		for i := range d {
			if s := &d[i]; s.script != "" && !slices.Contains(shown, s) && b.names(s.script) {
				shown = append(shown, s)
			}
		}
	}
	for _, lines := range places {
		for n := range lines {
			lines[n][0] = index[lines[n][0]]
		}
	}
	return shown, places
}

// find returns the place among those found of the declaration around a line such as "redis/token.go:20", and the line;
// it adds the declaration if that is new. -1: there is none.
func (d declared) find(found *[]*block, at string) (n, line int) {
	file, number, _ := strings.Cut(at, ":")
	line, err := strconv.Atoi(number)
	if err != nil {
		return -1, 0
	}
	around := func(b *block) bool { return b.file == file && b.first <= line && line <= b.last }
	if n = slices.IndexFunc(*found, around); n >= 0 {
		return n, line
	}
	i := slices.IndexFunc(d, func(b block) bool { return around(&b) })
	if i < 0 {
		return -1, 0
	}
	b := d[i]
	b.marks = map[int][]int{}
	*found = append(*found, &b)
	return len(*found) - 1, line
}

// names reports whether a marked line has a word.
func (b *block) names(word string) bool {
	for line := range b.marks {
		if slices.Contains(strings.FieldsFunc(b.lines[line-b.first], notLetter), word) {
			return true
		}
	}
	return false
}

func notLetter(r rune) bool { return !unicode.IsLetter(r) }

// Of a long declaration those lines are shown that are near a marked one.
const (
	longBlock = 36
	nearMark  = 5
)

// margin is how wide the numbers beside a block are.
func (b *block) margin() (width int) {
	for _, m := range b.marks {
		width = max(width, len(ranges(m)))
	}
	return width
}

func (b *block) write(out *layout.Lines, margin int) {
	left := false
	for i, text := range b.lines {
		line := b.first + i
		if !b.shows(line) {
			left = true
			continue
		}
		if left {
			out.Put(strings.Repeat(" ", margin+3)+"...", 0)
			left = false
		}
		text = strings.ReplaceAll(text, "\t", "    ")
		head := strings.Repeat(" ", margin) + "   "
		if m := b.marks[line]; len(m) > 0 {
			head = layout.PadLeft(ranges(m), margin) + " > "
		}
		out.Put(head+text, margin+3+8)
	}
}

// shows reports whether a line is shown: all of them, or those near a marked one, and the first and the last.
func (b *block) shows(line int) bool {
	if len(b.lines) <= longBlock || line == b.first || line == b.last {
		return true
	}
	for marked := range b.marks {
		if line-nearMark <= marked && marked <= line+nearMark {
			return true
		}
	}
	return false
}

// ranges writes numbers in rising order briefly: 1-3,7.
func ranges(numbers []int) string {
	var parts []string
	for i := 0; i < len(numbers); {
		n := i
		for n+1 < len(numbers) && numbers[n+1] <= numbers[n]+1 {
			n++
		}
		if numbers[n] > numbers[i] {
			parts = append(parts, fmt.Sprintf("%d-%d", numbers[i], numbers[n]))
		} else {
			parts = append(parts, strconv.Itoa(numbers[i]))
		}
		i = n + 1
	}
	return strings.Join(parts, ",")
}
