package database

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// A scope holds the values with which an expression is evaluated.
type scope struct {
	dialect  Dialect
	table    *Table
	row      []Value // nil: there is none
	proposed []Value // the row that an INSERT would write
	args     []Value
	start    int64 // when the statement began
	now      int64 // what NOW(3) and now() say
	clock    int64 // what clock_timestamp() says
	horizon  int64
}

// problem is why an expression cannot be evaluated; it ends the statement.
type problem struct{ reason string }

func (p *problem) fail(format string, args ...any) Value {
	if p.reason == "" {
		p.reason = fmt.Sprintf(format, args...)
	}
	return Value{}
}

// eval evaluates an expression.
func (s *scope) eval(e Expression, p *problem) Value {
	var stack []Value
	for _, n := range e {
		at := len(stack) - n.op.operands()
		var v Value
		if operands := stack[at:]; len(operands) == 0 {
			v = s.leaf(n, p)
		} else {
			v = s.apply(n, operands, p)
		}
		stack = append(stack[:at], v)
	}
	return stack[0]
}

// holds reports whether all conditions are true.
func (s *scope) holds(conditions []Expression, p *problem) bool {
	for _, e := range conditions {
		switch v := s.eval(e, p); {
		case v.Type == Null:
			return false
		case v.Type != Bool:
			p.fail("a condition that is no comparison")
			return false
		case v.Int == 0:
			return false
		}
	}
	return true
}

func (s *scope) leaf(n node, p *problem) Value {
	switch n.op {
	case opText:
		return TextValue(n.text)
	case opInteger:
		return IntegerValue(n.n)
	case opParam:
		v := s.args[n.n]
		if v.Type == Timestamp {
			v.Int += s.start
			return s.recent(v, p)
		}
		return v
	case opColumn, opProposed:
		row := s.row
		if n.op == opProposed {
			row = s.proposed
		}
		at := s.table.column(n.text)
		if at < 0 || row == nil {
			return p.fail("the column %s does not exist here", n.text)
		}
		return row[at]
	case opNow:
		return Value{Type: Timestamp, Int: s.now}
	case opClock:
		return Value{Type: Timestamp, Int: s.clock}
	}
	return Value{}
}

// recent checks that a time does not lie further back than a State keeps times apart.
func (s *scope) recent(v Value, p *problem) Value {
	if v.Int < s.now-s.horizon {
		return p.fail("a time of more than %d ms ago: the State has been made with this horizon", s.horizon)
	}
	return v
}

func (s *scope) apply(n node, a []Value, p *problem) Value {
	switch n.op {
	case opIsNull:
		return truth(a[0].Type == Null)
	case opNotNull:
		return truth(a[0].Type != Null)
	case opIf:
		if a[0].Type == Bool && a[0].Int != 0 {
			return a[1]
		}
		if a[0].Type != Bool && a[0].Type != Null {
			return p.fail("IF of what is no comparison")
		}
		return a[2]
	case opNot, opAnd, opOr:
		return s.logic(n.op, a, p)
	}
	for _, v := range a {
		if v.Type == Null {
			return Value{}
		}
	}
	switch n.op {
	case opInterval:
		return s.interval(n.n, a[0], p)
	case opHash:
		if a[0].Type != Text {
			return p.fail("hashtext of a %s", a[0].Type)
		}
		return Value{Type: hashed, Text: a[0].Text}
	case opAdd, opSubtract, opTimes:
		return s.arithmetic(n.op, a[0], a[1], p)
	}
	if a[0].Type != a[1].Type || a[0].Type > Timestamp {
		return p.fail("a comparison of %s with %s", a[0].Type, a[1].Type)
	}
	if a[0].Type == Timestamp && a[0].Int == past && a[1].Int == past {
		return p.fail("a comparison of two times of more than %d ms ago", s.horizon)
	}
	c := cmp.Or(cmp.Compare(a[0].Text, a[1].Text), cmp.Compare(a[0].Int, a[1].Int))
	return truth(map[op]bool{opEqual: c == 0, opUnequal: c != 0, opLess: c < 0, opAtMost: c <= 0, opMore: c > 0, opAtLeast: c >= 0}[n.op])
}

// logic is that of three truths.
func (s *scope) logic(o op, a []Value, p *problem) Value {
	unknown := false
	for _, v := range a {
		switch {
		case v.Type == Null:
			unknown = true
		case v.Type != Bool:
			return p.fail("NOT, AND, OR of what is no comparison")
		case o == opNot:
			return truth(v.Int == 0)
		case (v.Int != 0) == (o == opOr):
			return v
		}
	}
	if unknown {
		return Value{}
	}
	return truth(o == opAnd)
}

func (s *scope) interval(ms int64, v Value, p *problem) Value {
	switch {
	case v.Type != Integer:
		return p.fail("an interval of a %s", v.Type)
	case ms == 0 && v.Int%1000 != 0:
		return p.fail("an interval of %d microseconds, which are no whole milliseconds", v.Int)
	case ms == 0:
		return Value{Type: interval, Int: v.Int / 1000}
	case v.Int > math.MaxInt32 || v.Int < -math.MaxInt32:
		return p.fail("an interval of more than 31 bits")
	}
	return Value{Type: interval, Int: v.Int * ms}
}

// arithmetic is that of integers, and of a time and an interval.
func (s *scope) arithmetic(o op, a, b Value, p *problem) Value {
	if a.Type == interval && b.Type == Timestamp && o == opAdd {
		a, b = b, a
	}
	sum := a.Int + b.Int
	if o == opSubtract {
		sum = a.Int - b.Int
	}
	switch {
	case a.Type == Timestamp && b.Type == interval && o != opTimes:
		if a.Int == past {
			return p.fail("a sum with a time of more than %d ms ago", s.horizon)
		}
		a.Int = sum
		return s.recent(a, p)
	case a.Type != Integer || b.Type != Integer:
		return p.fail("%s %s %s", a.Type, texts[o], b.Type)
	case max(a.Int, b.Int) > math.MaxInt32<<16 || min(a.Int, b.Int) < -math.MaxInt32<<16 || o == opTimes && (max(a.Int, b.Int) > math.MaxInt32 || min(a.Int, b.Int) < -math.MaxInt32):
		return p.fail("numbers of more than 47 bits in a sum, of 31 in a product")
	case o == opTimes:
		sum = a.Int * b.Int
	}
	return IntegerValue(sum)
}

// fits reports whether a value may stand in a column.
func (s *scope) fits(c Column, v Value, p *problem) Value {
	switch {
	case v.Type != Null && v.Type != c.Type:
		return p.fail("a %s in column %s of %s", v.Type, c.Name, c.Type)
	case v.Type == Timestamp && v.Int == past:
		return p.fail("a copy of a time of more than %d ms ago", s.horizon)
	}
	return v
}

// shown are the values of a SELECT or RETURNING.
func (s *scope) shown(items []Expression, p *problem) (row []Value) {
	for _, e := range items {
		v := s.eval(e, p)
		switch {
		case v.Type == Timestamp:
			p.fail("a time in a reply, since a State has no date")
		case v.Type > Bool:
			p.fail("%s in a reply", v.Type)
		case v.Type == Bool && s.dialect.innodb():
			v.Type = Integer
		}
		row = append(row, v)
	}
	return row
}

// keyOf finds the primary key that conditions ask for: a comparison of each of its columns with a value.
func (s *scope) keyOf(conditions []Expression, p *problem) (key []Value, ok bool) {
	for _, name := range s.table.Key {
		found := false
		for _, e := range conditions {
			v, is := s.equals(name, e, p)
			if is && !found {
				key, found = append(key, v), true
			}
		}
		if !found {
			return nil, false
		}
	}
	return key, true
}

// equals reads "column = value".
func (s *scope) equals(column string, e Expression, p *problem) (v Value, ok bool) {
	last := len(e) - 1
	if e[last].op != opEqual {
		return v, false
	}
	at := last - size(e[:last])
	left, right := e[:at], e[at:last]
	if len(right) == 1 && right[0] == (node{op: opColumn, text: column}) {
		left, right = right, left
	}
	if len(left) != 1 || left[0] != (node{op: opColumn, text: column}) {
		return v, false
	}
	for _, n := range right {
		if n.op == opColumn || n.op == opProposed {
			return v, false
		}
	}
	return s.eval(right, p), true
}

// levels are the binary operators by how strongly they bind.
var levels = [][]op{{opOr}, {opAnd}, {opEqual, opUnequal, opLess, opAtMost, opMore, opAtLeast}, {opAdd, opSubtract}, {opTimes}}

// expression reads an expression of operators that bind at least as strongly as one.
func (p *parser) expression(from op) Expression {
	return p.level(slices.IndexFunc(levels, func(l []op) bool { return slices.Contains(l, from) }))
}

func (p *parser) level(l int) Expression {
	if l == len(levels) {
		return p.operand()
	}
	if l == 2 && p.take("NOT") {
		return append(p.level(l), node{op: opNot})
	}
	e := p.level(l + 1)
	for {
		i := slices.IndexFunc(levels[l], func(o op) bool { return p.is(texts[o]) })
		switch {
		case i >= 0:
			p.next()
			e = p.binary(levels[l][i], e, p.level(l+1))
		case l == 2 && p.take("IS"):
			n := node{op: opIsNull}
			if p.take("NOT") {
				n.op = opNotNull
			}
			p.need("NULL")
			e = append(e, n)
		default:
			return e
		}
	}
}

// binary joins two operands. What PostgreSQL multiplies with an interval goes into the interval.
func (p *parser) binary(o op, a, b Expression) Expression {
	if p.d.innodb() {
		return append(slices.Concat(a, b), node{op: o})
	}
	if o == opTimes && a[len(a)-1].op == opInterval {
		a, b = b, a
	}
	if last := b[len(b)-1]; o == opTimes && last.op == opInterval && a[len(a)-1].op != opInterval {
		count := b[:len(b)-1]
		if len(count) == 1 && count[0] == (node{op: opInteger, n: 1}) {
			return append(a, last)
		}
		return append(slices.Concat(a, count), node{op: opTimes}, last)
	}
	return append(slices.Concat(a, b), node{op: o})
}

func (p *parser) operand() Expression {
	e := p.simple()
	for p.d == PostgreSQL && p.take("::") {
		switch t := p.next(); {
		case t.class == word && slices.Contains([]string{"TEXT", "INT", "INTEGER", "BIGINT"}, t.text):
		case t.text == "INTERVAL" && len(e) == 1 && e[0].op == opText:
			e = p.intervalText(e[0].text)
		default:
			p.at--
			p.refuse("text, int, integer, bigint, and interval of a text")
		}
	}
	return e
}

// simple reads what has no operator.
func (p *parser) simple() Expression {
	switch t := p.peek(); {
	case t.class == literal:
		p.next()
		return Expression{{op: opText, text: t.text}}
	case t.class == number && strings.HasPrefix(t.text, "$"):
		n, err := strconv.ParseInt(t.text[1:], 10, 16)
		if err != nil || n < 1 {
			p.refuse("$1 to $32767")
		}
		p.next()
		p.st.Params = max(p.st.Params, int(n))
		return Expression{{op: opParam, n: n - 1}}
	case t.class == number:
		return Expression{{op: opInteger, n: p.number()}}
	case p.d.innodb() && p.take("?"):
		p.st.Params++
		return Expression{{op: opParam, n: int64(p.st.Params - 1)}}
	case p.take("-"):
		return Expression{{op: opInteger, n: -p.number()}}
	case p.take("("):
		e := p.expression(opOr)
		p.need(")")
		return e
	case p.take("NULL"):
		return Expression{{op: opNull}}
	case p.take("INTERVAL"):
		return p.interval()
	case t.class == word:
		if e := p.function(); e != nil {
			return e
		}
	}
	return Expression{{op: opColumn, text: p.column()}}
}

// interval reads what follows INTERVAL.
func (p *parser) interval() Expression {
	if !p.d.innodb() {
		t := p.next()
		if t.class != literal {
			p.at--
			p.refuse("a text as '10 seconds'")
		}
		return p.intervalText(t.text)
	}
	e := p.expression(opAdd)
	ms, ok := units[p.peek().text]
	if !ok || p.peek().text == "MILLISECOND" {
		p.refuse("MICROSECOND, SECOND, MINUTE, HOUR, DAY")
	}
	p.next()
	return append(e, node{op: opInterval, n: ms})
}

func (p *parser) intervalText(text string) Expression {
	n, unit := countAndUnit(text)
	ms, ok := units[strings.TrimSuffix(strings.ToUpper(unit), "S")]
	if unit == "ms" {
		ms, ok = 1, true
	}
	if n < 0 || !ok {
		p.at--
		p.refuse("an interval as '10 seconds', of microseconds to days")
	}
	return Expression{{op: opInteger, n: n}, {op: opInterval, n: ms}}
}

// function reads a call, or a word that is one; nil: a column follows.
func (p *parser) function() Expression {
	innodb := p.d.innodb()
	switch {
	case innodb && (p.is("NOW", "(") || p.is("CURRENT_TIMESTAMP", "(")):
		if p.at += 2; !p.take("3") && (p.peek().text != "3" || p.next().class != number) {
			p.refuse("3, since times have whole milliseconds")
		}
		p.need(")")
		return Expression{{op: opNow}}
	case !innodb && (p.take("NOW", "(", ")") || p.take("CURRENT_TIMESTAMP")):
		return Expression{{op: opNow}}
	case !innodb && p.take("CLOCK_TIMESTAMP", "(", ")"):
		return Expression{{op: opClock}}
	case innodb && (p.is("DATE_ADD", "(") || p.is("DATE_SUB", "(")):
		o := map[string]op{"DATE_ADD": opAdd, "DATE_SUB": opSubtract}[p.next().text]
		p.next()
		e := p.expression(opOr)
		p.need(",", "INTERVAL")
		e = p.binary(o, e, p.interval())
		p.need(")")
		return e
	case innodb && p.take("IF", "("):
		e := p.expression(opOr)
		for range 2 {
			p.need(",")
			e = append(e, p.expression(opOr)...)
		}
		p.need(")")
		return append(e, node{op: opIf})
	case innodb && p.take("VALUES", "("):
		n := p.identifier()
		p.need(")")
		return Expression{{op: opProposed, text: n}}
	case !innodb && p.take("EXCLUDED", "."):
		return Expression{{op: opProposed, text: p.identifier()}}
	case !innodb && p.take("HASHTEXT", "("):
		e := p.expression(opOr)
		p.need(")")
		return append(e, node{op: opHash})
	case p.tokens[p.at+1].text == "(" && p.tokens[p.at+1].class == symbol:
		p.refuse("NOW(3), DATE_ADD, DATE_SUB, IF, VALUES (MySQL); now(), clock_timestamp(), hashtext (PostgreSQL)")
	}
	return nil
}
