package database

import (
	"slices"
	"strconv"
	"strings"
)

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
