package database

import (
	"math"
)

// eval evaluates an expression.
func (x *execution) eval(e Expression) Value {
	var stack []Value
	for _, n := range e {
		at := len(stack) - n.op.operands()
		v := Value{}
		if operands := stack[at:]; len(operands) == 0 {
			v = x.leaf(n)
		} else {
			v = x.apply(n, operands)
		}
		stack = append(stack[:at], v)
	}
	return stack[0]
}

func (x *execution) leaf(n node) Value {
	switch n.op {
	case opText:
		return TextValue(n.text)
	case opInteger:
		return IntegerValue(n.n)
	case opParam:
		v := x.p.args[n.n]
		if v.Type == Timestamp {
			v.Int += x.p.start
			return x.recent(v)
		}
		return v
	case opColumn, opProposed:
		row := x.row
		if n.op == opProposed {
			row = x.proposed
		}
		at := x.def.column(n.text)
		if at < 0 || row == nil {
			refuse("the column %s does not exist here", n.text)
		}
		return row[at]
	case opNow:
		return Value{Type: Timestamp, Int: x.now}
	case opClock:
		return Value{Type: Timestamp, Int: x.instant}
	}
	return Value{}
}

// recent checks that a time does not lie further back than a State keeps times apart.
func (x *execution) recent(v Value) Value {
	if v.Int < x.now-x.s.options.Horizon {
		refuse("a time of more than %d ms ago: the State has been made with this horizon", x.s.options.Horizon)
	}
	return v
}

func (x *execution) apply(n node, a []Value) Value {
	switch n.op {
	case opIsNull:
		return truth(a[0].null())
	case opNotNull:
		return truth(!a[0].null())
	case opIf:
		if a[0].Type != Bool && !a[0].null() {
			refuse("IF of what is no comparison")
		}
		if a[0].Int != 0 {
			return a[1]
		}
		return a[2]
	case opNot, "AND", "OR":
		return logic(n.op, a)
	}
	for _, v := range a {
		if v.null() {
			return Value{}
		}
	}
	switch n.op {
	case opInterval:
		return intervalOf(n.n, a[0])
	case opHash:
		if a[0].Type != Text {
			refuse("hashtext of a %s", a[0].Type)
		}
		return Value{Type: hashed, Text: a[0].Text}
	case "+", "-", "*":
		return x.arithmetic(n.op, a[0], a[1])
	}
	return x.comparison(n.op, a[0], a[1])
}

func (x *execution) comparison(o op, a, b Value) Value {
	switch {
	case a.Type != b.Type || a.Type > Timestamp:
		refuse("a comparison of %s with %s", a.Type, b.Type)
	case a.Type == Timestamp && a.Int == past && b.Int == past:
		refuse("a comparison of two times of more than %d ms ago", x.s.options.Horizon)
	}
	c := a.compare(b)
	return truth(map[op]bool{
		"=": c == 0, "<>": c != 0, "<": c < 0, "<=": c <= 0, ">": c > 0, ">=": c >= 0,
	}[o])
}

// logic is that of three truths.
func logic(o op, a []Value) Value {
	unknown := false
	for _, v := range a {
		switch {
		case v.null():
			unknown = true
		case v.Type != Bool:
			refuse("NOT, AND, OR of what is no comparison")
		case o == opNot:
			return truth(v.Int == 0)
		case (v.Int != 0) == (o == "OR"):
			return v
		}
	}
	if unknown {
		return Value{}
	}
	return truth(o == "AND")
}

func intervalOf(ms int64, v Value) Value {
	switch {
	case v.Type != Integer:
		refuse("an interval of a %s", v.Type)
	case ms == 0 && v.Int%1000 != 0:
		refuse("an interval of %d microseconds, which are no whole milliseconds", v.Int)
	case ms == 0:
		return Value{Type: interval, Int: v.Int / 1000}
	case outside(math.MaxInt32, v):
		refuse("an interval of more than 31 bits")
	}
	return Value{Type: interval, Int: v.Int * ms}
}

// outside reports whether one of two integers, or its negative, is larger than most.
func outside(most int64, values ...Value) bool {
	for _, v := range values {
		if v.Int > most || v.Int < -most {
			return true
		}
	}
	return false
}

// arithmetic is that of integers, and of a time and an interval.
func (x *execution) arithmetic(o op, a, b Value) Value {
	if a.Type == interval && b.Type == Timestamp && o == "+" {
		a, b = b, a
	}
	sum := a.Int + b.Int
	if o == "-" {
		sum = a.Int - b.Int
	}
	switch {
	case a.Type == Timestamp && b.Type == interval && o != "*":
		if a.Int == past {
			refuse("a sum with a time of more than %d ms ago", x.s.options.Horizon)
		}
		a.Int = sum
		return x.recent(a)
	case a.Type != Integer || b.Type != Integer:
		refuse("%s %s %s", a.Type, o, b.Type)
	case outside(math.MaxInt32<<16, a, b) || o == "*" && outside(math.MaxInt32, a, b):
		refuse("numbers of more than 47 bits in a sum, of 31 in a product")
	case o == "*":
		sum = a.Int * b.Int
	}
	return IntegerValue(sum)
}

// fits returns a value that may stand in a column.
func (x *execution) fits(at int, v Value) Value {
	switch c := x.def.Columns[at]; {
	case !v.null() && v.Type != c.Type:
		refuse("a %s in column %s of %s", v.Type, c.Name, c.Type)
	case v.Type == Timestamp && v.Int == past:
		refuse("a copy of a time of more than %d ms ago", x.s.options.Horizon)
	}
	return v
}

// shown are the values of a SELECT or RETURNING for a row.
func (x *execution) shown(row []Value) (values []Value) {
	x.row = row
	for _, e := range x.p.text.Items {
		v := x.eval(e)
		switch {
		case v.Type == Timestamp:
			refuse("a time in a reply, since a State has no date")
		case v.Type > Bool:
			refuse("%s in a reply", v.Type)
		}
		values = append(values, x.s.dialect.shown(v))
	}
	return values
}

// shown is a value as replies have it: in MySQL a truth is a number.
func (d Dialect) shown(v Value) Value {
	if v.Type == Bool && d.innodb() {
		v.Type = Integer
	}
	return v
}

// key is the primary key that the condition asks for: a comparison of each of its columns with a value.
func (x *execution) key() (key []Value, ok bool) {
	for i, name := range x.def.Key {
		for _, e := range x.p.text.Where {
			if v, is := x.equals(name, e); is && len(key) == i {
				key = append(key, v)
			}
		}
		if len(key) == i {
			return nil, false
		}
	}
	for i, name := range x.def.Key {
		x.fits(x.def.column(name), key[i])
	}
	return key, true
}

// equals reads "column = value".
func (x *execution) equals(column string, e Expression) (v Value, ok bool) {
	last := len(e) - 1
	if e[last].op != "=" {
		return v, false
	}
	is := node{op: opColumn, text: column}
	at := last - size(e[:last])
	left, right := e[:at], e[at:last]
	if len(right) == 1 && right[0] == is {
		left, right = right, left
	}
	if len(left) != 1 || left[0] != is {
		return v, false
	}
	for _, n := range right {
		if n.op == opColumn || n.op == opProposed {
			return v, false
		}
	}
	return x.eval(right), true
}
