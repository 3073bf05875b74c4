package redisnode

import (
	"cmp"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/yuin/gopher-lua/ast"
	"github.com/yuin/gopher-lua/parse"

	"locklab/simulator/history"
)

// A script may do something else with a token or a counter that was not tried: so it is read for whether it
// takes one apart or computes with it. Values are followed to arithmetic, order and functions on texts,
// through variables, tables and functions, each of which has whatever is given to it anywhere (a
// flow-insensitive taint analysis). A function that is not known looks into what it is given.

// origins are the places from which a value may come: the data, as a text or a counter, and the words of KEYS and ARGV.
type origins uint64

const (
	contents origins          = 1 << iota // what keys hold
	counts                                // a string that counts
	firstKey                              // KEYS[1], up to KEYS[14], which stands for all further ones
	firstArg = firstKey << 14             // ARGV[1], up to ARGV[48]

	allKeys = firstArg - firstKey
	allArgs = ^origins(0) &^ (firstArg - 1)
)

// insight are the values that a script looks into, and the numerals in it.
type insight struct {
	into     origins
	numerals []int
}

// insightOf reads a script. Of one that is none nothing is known, and it fails.
func insightOf(source string) insight {
	chunk, err := parse.Parse(strings.NewReader(source), "script")
	if err != nil {
		return insight{}
	}
	s := &script{vars: map[string]origins{"KEYS": allKeys, "ARGV": allArgs}, named: map[string]bool{}, news: true}
	for s.news { // of any variable or function
		s.news, s.into = false, 0
		s.of(chunk)
	}
	slices.Sort(s.numerals)
	return insight{s.into, slices.Compact(s.numerals)}
}

// A script is what is known of one while it is read.
type script struct {
	insight
	vars  map[string]origins // by name, wherever it is declared
	named map[string]bool    // those that hold functions of the script and nothing else
	news  bool
	depth int // of functions
}

// In vars, what is passed to functions of the script, and what they return.
const passed, returned = "(passed)", "(returned)"

// set gives a variable more origins.
func (s *script) set(name string, from origins) {
	if was, known := s.vars[name]; !known || was|from != was {
		s.vars[name] |= from
		s.news = true
	}
}

// look notes that the script looks into what comes from there.
func (s *script) look(from origins) origins {
	s.into |= from
	return from
}

// of reads parts of a script, and returns where their values come from.
func (s *script) of(parts ...any) (from origins) {
	for _, part := range parts {
		from |= s.part(reflect.ValueOf(part))
	}
	return from
}

// part reads a part of a script: whatever is below it, of what expression and statement do not know.
func (s *script) part(part reflect.Value) (from origins) {
	switch part.Kind() {
	case reflect.Interface:
		return s.part(part.Elem())
	case reflect.Pointer:
		switch n := part.Interface().(type) {
		case ast.Stmt:
			s.statement(n, part.Elem())
		default:
			return s.expression(n, part.Elem())
		}
	case reflect.Slice:
		for i := range part.Len() {
			from |= s.part(part.Index(i))
		}
	case reflect.Struct:
		for i := range part.NumField() {
			from |= s.part(part.Field(i))
		}
	}
	return from
}

func (s *script) expression(n any, below reflect.Value) origins {
	switch n := n.(type) {
	case *ast.IdentExpr:
		return s.vars[n.Value]
	case *ast.NumberExpr:
		s.numeral(n.Value)
		return 0
	case *ast.StringExpr:
		s.numeral(n.Value)
		return 0
	case *ast.AttrGetExpr:
		return s.attribute(n)
	case *ast.FuncCallExpr:
		return s.call(n)
	case *ast.RelationalOpExpr:
		a, b := s.of(n.Lhs), s.of(n.Rhs)
		computed := a == 0 && !isLiteral(n.Lhs) || b == 0 && !isLiteral(n.Rhs) // it may be
		if n.Operator != "==" && n.Operator != "~=" || computed {
			s.look(a | b)
		}
		return 0
	case *ast.UnaryNotOpExpr:
		s.of(n.Expr)
		return 0
	case *ast.ArithmeticOpExpr:
		return s.look(s.of(n.Lhs, n.Rhs))
	case *ast.UnaryMinusOpExpr:
		return s.look(s.of(n.Expr))
	case *ast.UnaryLenOpExpr:
		if of, is := n.Expr.(*ast.IdentExpr); is && (of.Value == "KEYS" || of.Value == "ARGV") {
			return 0
		}
		return s.look(s.of(n.Expr))
	case *ast.FunctionExpr:
		s.depth++
		s.assign(n.ParList.Names, s.vars[passed])
		s.of(n.Stmts)
		s.depth--
		return 0
	}
	return s.part(below)
}

func (s *script) statement(n ast.Stmt, below reflect.Value) {
	switch n := n.(type) {
	case *ast.NumberForStmt:
		s.set(n.Name, s.look(s.of(n.Init, n.Limit, n.Step)))
		s.of(n.Stmts)
	case *ast.GenericForStmt:
		s.assign(n.Names, s.of(n.Exprs))
		s.of(n.Stmts)
	case *ast.LocalAssignStmt:
		for i, name := range n.Names {
			function := false
			if i < len(n.Exprs) {
				_, function = n.Exprs[i].(*ast.FunctionExpr)
			}
			known, before := s.named[name]
			s.named[name] = function && (known || !before)
		}
		s.assign(n.Names, s.of(n.Exprs))
	case *ast.AssignStmt:
		from := s.of(n.Rhs)
		for _, to := range n.Lhs {
			element, is := to.(*ast.AttrGetExpr)
			for is { // an element of a table is all of it
				to = element.Object
				element, is = to.(*ast.AttrGetExpr)
			}
			if name, is := to.(*ast.IdentExpr); is {
				s.named[name.Value] = false
				s.set(name.Value, from)
			}
		}
	case *ast.ReturnStmt:
		if from := s.of(n.Exprs); s.depth > 0 {
			s.set(returned, from)
		}
	default:
		s.part(below)
	}
}

// isLiteral reports whether an expression is a constant, whose numeral is tried.
func isLiteral(e ast.Expr) bool {
	_, is := e.(ast.ConstExpr)
	return is
}

func (s *script) assign(names []string, from origins) {
	for _, name := range names {
		s.set(name, from)
	}
}

func (s *script) numeral(text string) {
	if n, err := strconv.Atoi(text); err == nil {
		s.numerals = append(s.numerals, n)
	}
}

// attribute reads an element of a table: of KEYS and ARGV a word of the request. A function not called has a name.
func (s *script) attribute(n *ast.AttrGetExpr) origins {
	base, _ := n.Object.(*ast.IdentExpr)
	index, _ := n.Key.(*ast.NumberExpr)
	at := -1
	if index != nil {
		at, _ = strconv.Atoi(index.Value)
	}
	switch {
	case base == nil:
	case base.Value == "redis":
		return contents | counts
	case base.Value == "KEYS" && at >= 1 && at < 14:
		return firstKey << (at - 1)
	case base.Value == "ARGV" && at >= 1 && at < 48:
		return firstArg << (at - 1)
	case base.Value == "KEYS":
		return allKeys
	case base.Value == "ARGV":
		return allArgs
	}
	return s.of(n.Object, n.Key)
}

// call reads a call of a function.
func (s *script) call(n *ast.FuncCallExpr) origins {
	args := s.of(n.Args)
	if n.Method != "" {
		return s.look(s.of(n.Receiver) | args)
	}
	base, name := "", ""
	switch f := n.Func.(type) {
	case *ast.IdentExpr:
		name = f.Value
	case *ast.AttrGetExpr:
		of, isName := f.Object.(*ast.IdentExpr)
		key, isKey := f.Key.(*ast.StringExpr)
		if isName && isKey {
			base, name = of.Value, key.Value
		}
	}
	_, declared := s.vars[cmp.Or(base, name)]
	switch full := " " + base + "." + name + " "; {
	case s.named[name] && base == "":
		s.set(passed, args)
		return args | s.vars[returned]
	case name == "", declared:
	case base == "redis" && (name == "call" || name == "pcall"):
		return s.command(n.Args, args)
	case strings.Contains(" table.insert table.concat table.remove ", full):
		for _, to := range n.Args {
			if of, is := to.(*ast.IdentExpr); is {
				s.set(of.Value, args)
			}
		}
		return args
	case strings.Contains(passing, full):
		return args
	}
	return s.look(s.of(n.Func)|args) | contents | counts
}

// passing are functions whose results are what they are given.
const passing = " .tonumber .tostring .type .unpack .ipairs .pairs .next .select .assert .error .rawget" +
	" string.format redis.log redis.status_reply redis.error_reply redis.replicate_commands "

// command reads a call of a command: where its answer comes from.
func (s *script) command(args []ast.Expr, from origins) origins {
	name := ""
	if len(args) > 0 {
		if text, ok := args[0].(*ast.StringExpr); ok {
			name = strings.ToUpper(text.Value)
		}
	}
	switch {
	case is(name, inside):
		return s.look(contents | counts | from)
	case name == "ZADD":
		s.look(from & counts) // as a score
		return 0
	case is(name, counting):
		return counts
	case is(name, plain):
		return 0
	}
	return contents | counts
}

// looksAt returns what the commands of an execution look into, and whether a word that names a client is
// among what their scripts look into.
func (x *Executor) looksAt(e execution) (sees insight, names bool) {
	for _, c := range x.batches.At(e.command()).commands {
		cmd := strings.ToUpper(c[0])
		if is(cmd, inside) {
			sees.into |= contents | counts
		}
		if !strings.HasPrefix(cmd, "EVAL") || len(c) < 3 {
			continue
		}
		source := c[1]
		if strings.HasPrefix(cmd, "EVALSHA") {
			source, _ = x.engine.source(c[1])
		}
		of, known := x.insights[source]
		if !known {
			of = insightOf(source)
			x.insights[source] = of
		}
		sees.into |= of.into
		sees.numerals = append(sees.numerals, of.numerals...)
		keys, _ := strconv.Atoi(c[2])
		for i, word := range c[3:] {
			first, at, most := firstKey, i, 13
			if i >= keys {
				first, at, most = firstArg, i-keys, 47
			}
			names = names || of.into&(first<<min(at, most)) != 0 && history.Named(word) != 0
		}
	}
	return sees, names
}
