package database

import (
	"cmp"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// longest bounds a statement, so that a parser that calls itself stays within its stack.
const longest = 10_000

// Parse reads one statement. Whatever is not of the few forms that locks use is refused with an error that
// names the word and what is understood there; nothing is skipped but casts of PostgreSQL.
func Parse(d Dialect, text string) (st Statement, err error) {
	if len(text) > longest {
		return st, fmt.Errorf("a statement of %d bytes: at most %d are understood", len(text), longest)
	}
	err = refused(func() {
		p := &parser{d: d, tokens: d.split(text), st: Statement{Dialect: d}}
		p.statement()
		p.take(";")
		if p.peek().text != "" {
			p.refuse("the end of the statement")
		}
		st = p.st
	})
	return st, err
}

// A refusal ends what is done with a statement.
type refusal struct{ why error }

// refuse ends what is done with a statement.
func refuse(format string, args ...any) { panic(refusal{fmt.Errorf(format, args...)}) }

// refused returns why something has been refused that is done with a statement; nil: it was done.
func refused(do func()) (why error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case refusal:
			why = r.why
		default:
			panic(r)
		}
	}()
	do()
	return nil
}

type tokenClass uint8

const (
	symbol tokenClass = iota
	word              // text in capitals, raw as written
	name              // a quoted identifier
	literal
	number
)

type token struct {
	class     tokenClass
	text, raw string
}

type parser struct {
	d      Dialect
	tokens []token // the last is empty
	at     int
	st     Statement
}

// refuse refuses what is not understood.
func (d Dialect) refuse(what, understood string) {
	refuse("%s: %q is not understood here, but %s", d, cmp.Or(what, "the end"), understood)
}

// forms of tokens: blanks, words, placeholders and numbers, texts, names as MySQL and PostgreSQL quote them, symbols.
var forms = regexp.MustCompile(`^(?:([ \t\r\n]+)|([A-Za-z_][A-Za-z_0-9]*)|(\$?[0-9]+)|('(?:[^'\x00]|'')*')|` +
	"(`[^`\\x00]+`)" + `|("[^"\x00]+")|(<>|!=|<=|>=|::|[<>=(),.+*;?-]))`)

// split divides a text into tokens.
func (d Dialect) split(text string) (all []token) {
	for text != "" {
		m := forms.FindStringSubmatch(text)
		if m == nil {
			d.refuse(text, "words, 'texts', quoted names, numbers, placeholders, and ( ) , . = <> < > <= >= + - *")
		}
		t := token{raw: m[0], text: m[0]}
		switch text = text[len(m[0]):]; {
		case m[1] != "":
			continue
		case m[2] != "":
			t.class, t.text = word, strings.ToUpper(m[2])
		case m[3] != "":
			t.class = number
		case m[4] != "":
			t.class, t.text = literal, strings.ReplaceAll(m[4][1:len(m[4])-1], "''", "'")
			if d.innodb() && strings.Contains(t.text, `\`) {
				d.refuse(m[4], "a text without backslashes")
			}
		case m[5] != "" && d.innodb(), m[6] != "" && !d.innodb():
			t.class, t.text = name, m[0][1:len(m[0])-1]
		case m[7] != "":
			t.text = strings.Replace(m[7], "!=", "<>", 1)
		default:
			d.refuse(m[0], "'texts', and names without these quotes")
		}
		all = append(all, t)
	}
	return append(all, token{})
}

// refuse refuses the next token.
func (p *parser) refuse(understood string) { p.d.refuse(p.peek().raw, understood) }

func (p *parser) peek() token { return p.tokens[p.at] }

func (p *parser) next() token {
	t := p.peek()
	if p.at < len(p.tokens)-1 {
		p.at++
	}
	return t
}

// is reports whether words or symbols follow.
func (p *parser) is(words ...string) bool {
	for i, w := range words {
		at := p.at + i
		if at >= len(p.tokens) || p.tokens[at].text != w || p.tokens[at].class > word {
			return false
		}
	}
	return true
}

// take goes on behind words or symbols if they follow.
func (p *parser) take(words ...string) bool {
	ok := p.is(words...)
	if ok {
		p.at += len(words)
	}
	return ok
}

// phrase reads words or symbols, if they follow. Then the parts must follow: words or symbols, and what functions read.
func (p *parser) phrase(begin string, parts ...any) bool {
	if !p.take(strings.Fields(begin)...) {
		return false
	}
	for _, part := range parts {
		switch part := part.(type) {
		case func():
			part()
		case string:
			p.need(strings.Fields(part)...)
		}
	}
	return true
}

// need goes on behind words or symbols, which must follow.
func (p *parser) need(words ...string) {
	for _, w := range words {
		if !p.take(w) {
			p.refuse(w)
		}
	}
}

// list reads a list.
func (p *parser) list(read func()) {
	for read(); p.take(","); {
		read()
	}
}

// enclosed reads a list in parentheses.
func (p *parser) enclosed(read func()) {
	p.need("(")
	for read(); !p.take(")"); read() {
		p.need(",")
	}
}

// reserved are words that are no names where a name is understood.
var reserved = strings.Fields(`SELECT FROM WHERE AND OR NOT NULL IS INSERT UPDATE DELETE SET VALUES FOR ORDER LIMIT ON
	INTO INTERVAL IF RETURNING BY DEFAULT TRUE FALSE CASE IN EXCLUDED CURRENT_TIMESTAMP`)

// identifier reads the name of a table or a column, in small letters unless it is quoted.
func (p *parser) identifier() string {
	t := p.peek()
	if t.class != name && (t.class != word || slices.Contains(reserved, t.text)) {
		p.refuse("a name")
	}
	if p.next(); t.class == name {
		return t.text
	}
	return strings.ToLower(t.text)
}

func (p *parser) table() { p.st.Table = p.identifier() }

// column reads a column, perhaps with the table in front.
func (p *parser) column() string {
	n := p.identifier()
	if p.is(".") {
		if p.st.Table != "" && n != p.st.Table {
			p.refuse("a column of " + p.st.Table)
		}
		p.next()
		n = p.identifier()
	}
	return n
}

// names reads columns between parentheses.
func (p *parser) names() (all []string) {
	p.enclosed(func() { all = append(all, p.identifier()) })
	return all
}

// number reads a number without a sign.
func (p *parser) number() int64 {
	t := p.peek()
	n, err := strconv.ParseInt(t.text, 10, 64)
	if t.class != number || err != nil {
		p.refuse("a number")
	}
	if p.next(); p.is(".") {
		p.refuse("a whole number")
	}
	return n
}

func (p *parser) statement() {
	is := func(v Verb) func() { return func() { p.st.Verb = v } }
	work := func() { p.take("WORK") }
	switch {
	case p.take("BEGIN"):
		_ = p.take("WORK") || p.d == PostgreSQL && p.take("TRANSACTION")
		p.isolation()
	case p.phrase("START TRANSACTION", p.isolation):
	case p.phrase("COMMIT", is(Commit), work):
	case p.phrase("ROLLBACK", is(Rollback), work):
	case p.phrase("SET", is(Set), p.set):
	case p.phrase("SELECT", p.selects):
	case p.phrase("INSERT", is(Insert), p.insert):
	case p.phrase("UPDATE", is(Update), p.table, "SET", p.assignments, "WHERE", p.where, p.returning):
	case p.phrase("DELETE FROM", is(Delete), p.table, "WHERE", p.where, p.returning):
	default:
		p.refuse("SELECT, INSERT INTO, UPDATE, DELETE FROM, BEGIN, START TRANSACTION, COMMIT, ROLLBACK, SET")
	}
}

// isolation reads the isolation level of a transaction: only the server's default is understood.
func (p *parser) isolation() {
	p.st.Verb = Begin
	if p.d == PostgreSQL && p.take("ISOLATION", "LEVEL") && !p.take("READ", "COMMITTED") {
		p.refuse("READ COMMITTED")
	}
}

// set reads the time-out of locks.
func (p *parser) set() {
	if p.st.Local = !p.d.innodb() && p.take("LOCAL"); !p.st.Local {
		p.take("SESSION")
	}
	if p.d.innodb() {
		p.need("INNODB_LOCK_WAIT_TIMEOUT", "=")
		if p.st.Timeout = p.number() * 1000; p.st.Timeout == 0 || p.st.Timeout > math.MaxInt32*1000 {
			p.refuse("a number of seconds")
		}
		return
	}
	if p.need("LOCK_TIMEOUT"); !p.take("TO") {
		p.need("=")
	}
	if t := p.peek(); t.class == literal {
		digits, unit := countAndUnit(t.text)
		n, ok := map[string]int64{"": 1, "ms": 1, "s": 1000, "min": 60_000}[unit]
		if !ok || digits < 0 || digits > math.MaxInt32/n {
			p.refuse("'N', 'Nms', 'Ns', 'Nmin'")
		}
		p.st.Timeout = digits * n
		p.next()
	} else if p.st.Timeout = p.number(); p.st.Timeout > math.MaxInt32 {
		p.refuse("milliseconds of 31 bits")
	}
}

// countAndUnit divides "10 seconds"; -1 is no number.
func countAndUnit(text string) (n int64, unit string) {
	unit = strings.TrimLeft(strings.TrimSpace(text), "0123456789")
	n, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(text), unit), 10, 64)
	if err != nil {
		return -1, ""
	}
	return n, strings.TrimSpace(unit)
}

// functions are those of named locks, with the numbers of their arguments.
var functions = map[bool]map[string]int{
	true: {"GET_LOCK": 2, "RELEASE_LOCK": 1, "IS_FREE_LOCK": 1},
	false: {"PG_ADVISORY_LOCK": 1, "PG_TRY_ADVISORY_LOCK": 1, "PG_ADVISORY_UNLOCK": 1,
		"PG_ADVISORY_XACT_LOCK": 1, "PG_TRY_ADVISORY_XACT_LOCK": 1},
}

// call reads a function of named locks.
func (p *parser) call(arguments int) {
	p.st.Verb, p.st.Function = Call, strings.ToLower(p.next().text)
	argument := func() { p.st.Values = append(p.st.Values, p.expression()) }
	p.need("(")
	argument()
	for range arguments - 1 {
		p.need(",")
		argument()
	}
	if p.need(")"); p.take("AS") {
		p.identifier()
	}
}

func (p *parser) selects() {
	if arguments, ok := functions[p.d.innodb()][p.peek().text]; ok && p.peek().class == word {
		p.call(arguments)
		return
	}
	p.st.Verb = Select
	p.items()
	if !p.phrase("FROM", p.table) {
		if len(p.st.Items) != 1 || !slices.Equal(p.st.Items[0], Expression{{op: opInteger, n: 1}}) {
			p.refuse("FROM, SELECT 1, or one call of a function of named locks")
		}
		p.st.Verb, p.st.Items = Ping, nil
		return
	}
	p.phrase("WHERE", p.where)
	p.phrase("ORDER BY", func() {
		p.list(func() {
			p.st.Order = append(p.st.Order, p.column())
			p.take("ASC")
		})
	})
	p.phrase("LIMIT", func() {
		if p.st.Limit = p.number(); p.st.Limit == 0 {
			p.refuse("a limit of 1 or more")
		}
	})
	switch {
	case !p.take("FOR", "UPDATE"):
	case p.take("NOWAIT"):
		p.st.Locking = NoWait
	case p.take("SKIP", "LOCKED"):
		p.st.Locking = SkipLocked
	default:
		p.st.Locking = ForUpdate
	}
}

func (p *parser) insert() {
	if p.d.innodb() && p.take("IGNORE") {
		p.st.Conflict = Ignore
	}
	p.need("INTO")
	p.table()
	p.st.Columns = p.names()
	p.need("VALUES")
	p.enclosed(func() { p.st.Values = append(p.st.Values, p.expression()) })
	if len(p.st.Values) != len(p.st.Columns) {
		p.refuse("as many values as columns")
	}
	switch {
	case p.d.innodb() && p.st.Conflict == Fail && p.phrase("ON DUPLICATE KEY UPDATE", p.assignments):
		p.st.Conflict = Replace
	case p.d == PostgreSQL && p.take("ON", "CONFLICT"):
		p.conflict()
	}
	p.returning()
}

func (p *parser) conflict() {
	p.st.Conflict = Ignore
	if p.is("(") {
		p.st.Target = p.names()
	}
	if p.need("DO"); p.take("NOTHING") {
		return
	}
	if p.st.Conflict = Replace; p.st.Target == nil {
		p.refuse("NOTHING, or ON CONFLICT (columns) DO UPDATE")
	}
	p.need("UPDATE", "SET")
	p.assignments()
	p.phrase("WHERE", p.where)
}

func (p *parser) assignments() {
	p.list(func() {
		c := p.column()
		p.need("=")
		p.st.Sets = append(p.st.Sets, Assignment{c, p.expression()})
	})
}

// items reads what a statement returns.
func (p *parser) items() { p.list(func() { p.st.Items = append(p.st.Items, p.expression()) }) }

// returning reads what PostgreSQL returns of the rows that a statement has written.
func (p *parser) returning() {
	if p.d == PostgreSQL {
		p.phrase("RETURNING", p.items)
	}
}

// where reads a condition, divided at its outermost ANDs.
func (p *parser) where() { p.divide(p.expression()) }

func (p *parser) divide(e Expression) {
	last := len(e) - 1
	if e[last].op != "AND" {
		p.st.Where = append(p.st.Where, e)
		return
	}
	at := last - size(e[:last])
	p.divide(e[:at:at])
	p.divide(e[at:last:last])
}
