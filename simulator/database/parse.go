package database

import (
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
	p := &parser{d: d, st: Statement{Dialect: d}}
	defer func() {
		if r := recover(); r != nil {
			refused, ok := r.(refusal)
			if !ok {
				panic(r)
			}
			st, err = Statement{}, error(refused.err)
		}
	}()
	p.tokens = p.split(text)
	p.statement()
	p.take(";")
	if p.peek().text != "" {
		p.refuse("the end of the statement")
	}
	return p.st, nil
}

// A refusal ends Parse.
type refusal struct{ err error }

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

func (p *parser) refuse(understood string) {
	t := p.peek()
	shown := t.raw
	if shown == "" {
		shown = "the end"
	}
	panic(refusal{fmt.Errorf("%s: %q is not understood here, but %s", p.d, shown, understood)})
}

// forms are those of tokens: blanks, words, placeholders and numbers, texts, names in the quotes of MySQL and PostgreSQL,
// symbols.
var forms = regexp.MustCompile("^(?:([ \\t\\r\\n]+)|([A-Za-z_][A-Za-z_0-9]*)|(\\$?[0-9]+)|('(?:[^'\\x00]|'')*')|(`[^`\\x00]+`)|(\"[^\"\\x00]+\")|(<>|!=|<=|>=|::|[<>=(),.+*;?-]))")

// split divides a text into tokens.
func (p *parser) split(text string) (all []token) {
	for text != "" {
		m := forms.FindStringSubmatch(text)
		if m == nil {
			p.refuseText(text, "words, 'texts', quoted names, numbers, placeholders, and ( ) , . = <> < > <= >= + - *")
		}
		t := token{raw: m[0]}
		switch text = text[len(m[0]):]; {
		case m[1] != "":
			continue
		case m[2] != "":
			t.class, t.text = word, strings.ToUpper(m[2])
		case m[3] != "":
			t.class, t.text = number, m[3]
		case m[4] != "":
			if t.class, t.text = literal, strings.ReplaceAll(m[4][1:len(m[4])-1], "''", "'"); p.d.innodb() && strings.Contains(t.text, `\`) {
				p.refuseText(m[4], "a text without backslashes")
			}
		case m[5] != "" && p.d.innodb(), m[6] != "" && !p.d.innodb():
			t.class, t.text = name, m[0][1:len(m[0])-1]
		case m[7] != "":
			t.text = strings.Replace(m[7], "!=", "<>", 1)
		default:
			p.refuseText(m[0], "'texts', and names without these quotes")
		}
		all = append(all, t)
	}
	return append(all, token{})
}

// refuseText refuses what is no token.
func (p *parser) refuseText(text, understood string) {
	p.tokens = []token{{symbol, text, text}}
	p.refuse(understood)
}

func (p *parser) peek() token {
	if len(p.tokens) == 0 {
		return token{}
	}
	return p.tokens[p.at]
}

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

// need goes on behind one word or symbol.
func (p *parser) need(words ...string) {
	for _, w := range words {
		if !p.take(w) {
			p.refuse(w)
		}
	}
}

// reserved are words that are no names where a name is understood.
var reserved = strings.Fields("SELECT FROM WHERE AND OR NOT NULL IS INSERT UPDATE DELETE SET VALUES FOR ORDER LIMIT ON INTO INTERVAL IF RETURNING BY DEFAULT TRUE FALSE CASE IN EXCLUDED CURRENT_TIMESTAMP")

// identifier reads the name of a table or a column, in small letters unless it is quoted.
func (p *parser) identifier() string {
	t := p.peek()
	switch {
	case t.class == name:
		p.next()
		return t.text
	case t.class == word && !slices.Contains(reserved, t.text):
		p.next()
		return strings.ToLower(t.text)
	}
	p.refuse("a name")
	return ""
}

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
	p.need("(")
	for {
		all = append(all, p.identifier())
		if p.take(")") {
			return all
		}
		p.need(",")
	}
}

func (p *parser) statement() {
	switch {
	case p.take("BEGIN"):
		_ = p.take("WORK") || p.d == PostgreSQL && p.take("TRANSACTION")
		p.isolation()
	case p.take("START", "TRANSACTION"):
		p.isolation()
	case p.take("COMMIT"):
		p.st.Verb = Commit
		_ = p.take("WORK")
	case p.take("ROLLBACK"):
		p.st.Verb = Rollback
		_ = p.take("WORK")
	case p.take("SET"):
		p.set()
	case p.take("SELECT"):
		p.selects()
	case p.take("INSERT"):
		p.insert()
	case p.take("UPDATE"):
		p.st.Verb, p.st.Table = Update, p.identifier()
		p.need("SET")
		p.assignments()
		p.need("WHERE")
		p.where()
		p.returning()
	case p.take("DELETE", "FROM"):
		p.st.Verb, p.st.Table = Delete, p.identifier()
		p.need("WHERE")
		p.where()
		p.returning()
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

func (p *parser) set() {
	p.st.Verb = Set
	switch {
	case p.d.innodb():
		p.take("SESSION")
		p.need("INNODB_LOCK_WAIT_TIMEOUT", "=")
		if p.st.Timeout = p.number() * 1000; p.st.Timeout == 0 || p.st.Timeout > math.MaxInt32*1000 {
			p.refuse("a number of seconds")
		}
		return
	case p.take("LOCAL"):
		p.st.Local = true
	default:
		p.take("SESSION")
	}
	p.need("LOCK_TIMEOUT")
	if !p.take("TO") {
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
		return
	}
	if p.st.Timeout = p.number(); p.st.Timeout > math.MaxInt32 {
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

// functions are those of named locks, with the numbers of their arguments.
var functions = map[bool]map[string]int{
	true:  {"GET_LOCK": 2, "RELEASE_LOCK": 1, "IS_FREE_LOCK": 1},
	false: {"PG_ADVISORY_LOCK": 1, "PG_TRY_ADVISORY_LOCK": 1, "PG_ADVISORY_UNLOCK": 1, "PG_ADVISORY_XACT_LOCK": 1, "PG_TRY_ADVISORY_XACT_LOCK": 1},
}

func (p *parser) selects() {
	if arguments, ok := functions[p.d.innodb()][p.peek().text]; ok && p.peek().class == word {
		p.st.Verb, p.st.Function = Call, strings.ToLower(p.next().text)
		p.need("(")
		for i := range arguments {
			if i > 0 {
				p.need(",")
			}
			p.st.Values = append(p.st.Values, p.expression(opOr))
		}
		p.need(")")
		if p.take("AS") {
			p.identifier()
		}
		return
	}
	for p.st.Verb = Select; ; {
		p.st.Items = append(p.st.Items, p.expression(opOr))
		if !p.take(",") {
			break
		}
	}
	if first := p.st.Items[0]; !p.is("FROM") {
		if len(p.st.Items) != 1 || len(first) != 1 || first[0] != (node{op: opInteger, n: 1}) {
			p.refuse("FROM, SELECT 1, or one call of a function of named locks")
		}
		p.st.Verb, p.st.Items = Ping, nil
		return
	}
	p.need("FROM")
	p.st.Table = p.identifier()
	if p.take("WHERE") {
		p.where()
	}
	if p.take("ORDER", "BY") {
		for {
			p.st.Order = append(p.st.Order, p.column())
			p.take("ASC")
			if !p.take(",") {
				break
			}
		}
	}
	if p.take("LIMIT") {
		if p.st.Limit = p.number(); p.st.Limit == 0 {
			p.refuse("a limit of 1 or more")
		}
	}
	if p.take("FOR", "UPDATE") {
		p.st.Locking = ForUpdate
		if p.take("NOWAIT") {
			p.st.Locking = NoWait
		} else if p.take("SKIP", "LOCKED") {
			p.st.Locking = SkipLocked
		}
	}
}

func (p *parser) insert() {
	p.st.Verb = Insert
	if p.d.innodb() && p.take("IGNORE") {
		p.st.Conflict = Ignore
	}
	p.need("INTO")
	p.st.Table = p.identifier()
	p.st.Columns = p.names()
	p.need("VALUES", "(")
	for {
		p.st.Values = append(p.st.Values, p.expression(opOr))
		if p.take(")") {
			break
		}
		p.need(",")
	}
	if len(p.st.Values) != len(p.st.Columns) {
		p.refuse("as many values as columns")
	}
	switch {
	case p.d.innodb() && p.st.Conflict == Fail && p.take("ON", "DUPLICATE", "KEY", "UPDATE"):
		p.st.Conflict = Replace
		p.assignments()
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
	p.need("DO")
	if p.take("NOTHING") {
		return
	}
	if p.st.Conflict = Replace; p.st.Target == nil {
		p.refuse("NOTHING, or ON CONFLICT (columns) DO UPDATE")
	}
	p.need("UPDATE", "SET")
	p.assignments()
	if p.take("WHERE") {
		p.where()
	}
}

func (p *parser) assignments() {
	for {
		c := p.column()
		p.need("=")
		p.st.Sets = append(p.st.Sets, Assignment{c, p.expression(opOr)})
		if !p.take(",") {
			return
		}
	}
}

// returning reads what PostgreSQL returns of the rows that a statement has written.
func (p *parser) returning() {
	if p.d != PostgreSQL || !p.take("RETURNING") {
		return
	}
	for {
		p.st.Items = append(p.st.Items, p.expression(opOr))
		if !p.take(",") {
			return
		}
	}
}

// where reads a condition, divided at its outermost ANDs.
func (p *parser) where() {
	e := p.expression(opOr)
	var divide func(e Expression)
	divide = func(e Expression) {
		last := len(e) - 1
		if e[last].op != opAnd {
			p.st.Where = append(p.st.Where, e)
			return
		}
		at := last - size(e[:last])
		divide(e[:at:at])
		divide(e[at:last:last])
	}
	divide(e)
}

// size is the length of the last operand in a list of operands.
func size(e Expression) int {
	n := 1
	for range e[len(e)-1].op.operands() {
		n += size(e[:len(e)-n])
	}
	return n
}
