package database

import (
	"slices"
	"strconv"
	"strings"
)

// levels are the binary operators by how strongly they bind.
var levels = [][]op{{"OR"}, {"AND"}, {"=", "<>", "<", "<=", ">", ">="}, {"+", "-"}, {"*"}}

// expression reads an expression.
func (p *parser) expression() Expression { return p.level(0) }

// level reads an expression of operators that bind at least as strongly as those of a level.
func (p *parser) level(l int) Expression {
	if l == len(levels) {
		return p.operand()
	}
	if l == 2 && p.take("NOT") {
		return append(p.level(l), node{op: opNot})
	}
	e := p.level(l + 1)
	for {
		i := slices.IndexFunc(levels[l], func(o op) bool { return p.is(string(o)) })
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
	if o == "*" && a[len(a)-1].op == opInterval {
		a, b = b, a
	}
	if last := b[len(b)-1]; o == "*" && last.op == opInterval && a[len(a)-1].op != opInterval {
		count := b[:len(b)-1]
		if len(count) == 1 && count[0] == (node{op: opInteger, n: 1}) {
			return append(a, last)
		}
		return append(slices.Concat(a, count), node{op: "*"}, last)
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
func (p *parser) simple() (e Expression) {
	switch t := p.peek(); {
	case t.class == literal:
		return Expression{{op: opText, text: p.next().text}}
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
	case p.phrase("(", func() { e = p.expression() }, ")"), p.phrase("INTERVAL", func() { e = p.interval() }):
		return e
	case p.take("NULL"):
		return Expression{{op: opNull}}
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
	e := p.level(3)
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
	var e, shift Expression
	argument := func() { e = append(e, p.expression()...) }
	proposed := func() { e = Expression{{op: opProposed, text: p.identifier()}} }
	interval := func() { shift = p.interval() }
	three := func() {
		if t := p.peek(); t.text != "3" || t.class != number {
			p.refuse("3, since times have whole milliseconds")
		}
		p.next()
	}
	switch innodb := p.d.innodb(); {
	case innodb && (p.phrase("NOW (", three, ")") || p.phrase("CURRENT_TIMESTAMP (", three, ")")),
		!innodb && (p.phrase("NOW ( )") || p.phrase("CURRENT_TIMESTAMP")):
		return Expression{{op: opNow}}
	case !innodb && p.phrase("CLOCK_TIMESTAMP ( )"):
		return Expression{{op: opClock}}
	case innodb && p.phrase("DATE_ADD (", argument, ", INTERVAL", interval, ")"):
		return p.binary("+", e, shift)
	case innodb && p.phrase("DATE_SUB (", argument, ", INTERVAL", interval, ")"):
		return p.binary("-", e, shift)
	case innodb && p.phrase("IF (", argument, ",", argument, ",", argument, ")"):
		return append(e, node{op: opIf})
	case innodb && p.phrase("VALUES (", proposed, ")"), !innodb && p.phrase("EXCLUDED .", proposed):
		return e
	case !innodb && p.phrase("HASHTEXT (", argument, ")"):
		return append(e, node{op: opHash})
	case p.tokens[p.at+1].text == "(" && p.tokens[p.at+1].class == symbol:
		p.refuse("NOW(3), DATE_ADD, DATE_SUB, IF, VALUES (MySQL); now(), clock_timestamp(), hashtext (PostgreSQL)")
	}
	return nil
}
