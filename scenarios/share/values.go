package share

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"locklab/simulator/i18n"
)

// A ValueError is a value in the result of a task that the task cannot give.
type ValueError struct {
	Task  string
	Field string       // path in the result, as in witnesses[2].par; "": the whole
	Value string       // as the result has it, shortened
	Want  i18n.Message // what it would have to be
}

func (e *ValueError) Error() string { return e.Message().String() }

// Message implements i18n.Error.
func (e *ValueError) Message() i18n.Message {
	key := "share.value"
	if e.Field == "" {
		key = "share.value.whole"
	}
	return i18n.New(key, "task", i18n.Visible(e.Task), "field", i18n.Visible(e.Field), "value", i18n.Visible(e.Value), "want", e.Want)
}

// Values checks the values of a result that comes from a file or another machine. It keeps
// the first that the task cannot give. Fields are paths as in ValueError.
type Values struct {
	bad  *ValueError
	fits func(i18n.Message) bool
}

// OK reports whether no value was refused so far.
func (v *Values) OK() bool { return v.bad == nil }

// Refuse refuses a value.
func (v *Values) Refuse(field string, value any, want i18n.Message) {
	if v.bad == nil {
		v.bad = &ValueError{Field: field, Value: shortened(value), Want: want}
	}
}

// Require refuses a value unless it is as wanted.
func (v *Values) Require(ok bool, field string, value any, want i18n.Message) {
	if !ok {
		v.Refuse(field, value, want)
	}
}

// Length refuses a list of n values unless it has so many.
func (v *Values) Length(field string, n, want int) {
	v.Require(n == want, field, n, i18n.New("share.want.length", "n", want))
}

// Link refuses a link that no trace of the lab has; why: of this task.
func (v *Values) Link(field, link string, why error) {
	if why != nil {
		v.Refuse(field, link, i18n.New("share.want.link", "cause", why))
	}
}

// Message refuses a message whose key does not begin with kind, or for which there is no text
// with its placeholders.
func (v *Values) Message(field string, m i18n.Message, kind string) {
	v.Require(strings.HasPrefix(m.Key, kind) && v.fits(m), field, m.Key, i18n.New("share.want.known"))
}

// Range refuses a number outside of [least, most].
func Range[N ~int | ~int64 | ~uint8 | ~float64](v *Values, field string, n, least, most N) {
	v.Require(n >= least && n <= most, field, n, i18n.New("share.want.range", "least", least, "most", most)) // NaN is neither
}

// Is refuses a value other than the one wanted.
func Is[T comparable](v *Values, field string, value, want T) {
	v.Require(value == want, field, value, i18n.New("share.want.is", "value", shortened(want)))
}

// OneOf refuses a value that is not in a list.
func OneOf[T comparable](v *Values, field string, value T, of []T) {
	v.Require(slices.Contains(of, value), field, value, i18n.New("share.want.known"))
}

// Same refuses a value that is written otherwise, as JSON, than the one wanted.
func (v *Values) Same(field string, value, want any) {
	a, b := written(value), written(want)
	if at, x, y, differ := difference(field, a, b); differ {
		v.Refuse(at, x, i18n.New("share.want.is", "value", shortened(y)))
	}
}

// written is a value as JSON, read without types.
func written(value any) (plain any) {
	b, err := json.Marshal(value)
	if err == nil {
		plain, err = untyped(b)
	}
	if err != nil {
		return err.Error()
	}
	return plain
}

// untyped reads JSON without types, and numbers as they are written.
func untyped(b []byte) (plain any, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err = d.Decode(&plain); err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errTrailing
		}
	}
	return plain, err
}

var errTrailing = i18n.Errorf("share.trailing")

// difference finds the first place at which two values that untyped has read differ, in
// alphabetical order. What one of them lacks is nil.
func difference(path string, a, b any) (at string, x, y any, differ bool) {
	switch a := a.(type) {
	case map[string]any:
		other, ok := b.(map[string]any)
		if !ok {
			return path, a, b, true
		}
		names := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(other))
		slices.Sort(names)
		for _, name := range slices.Compact(names) {
			one, has := a[name]
			two, had := other[name]
			if at, x, y, differ := difference(join(path, name), one, two); differ || has != had {
				return at, x, y, true
			}
		}
		return "", nil, nil, false
	case []any:
		other, ok := b.([]any)
		if !ok || len(a) != len(other) {
			return path, a, b, true
		}
		for i := range a {
			if at, x, y, differ := difference(fmt.Sprintf("%s[%d]", path, i), a[i], other[i]); differ {
				return at, x, y, true
			}
		}
		return "", nil, nil, false
	}
	return path, a, b, !reflect.DeepEqual(a, b)
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// control finds the first text, or name of a field, with a control character or one that
// changes the direction of what is around it. Scripts have ends of lines and tabs.
func control(path string, value any) (at, found string) {
	switch value := value.(type) {
	case string:
		if plain := scriptBreaks.Replace(value); i18n.Visible(plain) != plain {
			return path, value
		}
	case []any:
		for i, one := range value {
			if at, found = control(fmt.Sprintf("%s[%d]", path, i), one); found != "" {
				return at, found
			}
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			if i18n.Visible(name) != name {
				return join(path, name), name
			}
			if at, found = control(join(path, name), value[name]); found != "" {
				return at, found
			}
		}
	}
	return "", ""
}

var scriptBreaks = strings.NewReplacer("\n", " ", "\t", " ")

// shortened is a value for an error: 80 characters at most.
func shortened(value any) string {
	said := ""
	switch value := value.(type) {
	case nil:
		return "null"
	case string:
		said = strconv.Quote(value)
	case json.Number, fmt.Stringer, error, bool, int, int64, uint64, float64:
		said = fmt.Sprint(value)
	default:
		b, err := json.Marshal(value)
		if err != nil {
			b = []byte(err.Error())
		}
		said = string(b)
	}
	if r := []rune(said); len(r) > 80 {
		said = string(r[:79]) + "…"
	}
	return said
}

// read reads a result and checks it: it is written as this program writes one, and has no
// value that its task cannot give. fits is as for With; check may be nil. The error is a *ValueError.
func read[T any](task string, raw json.RawMessage, fits func(i18n.Message) bool, check func(r *T, v *Values)) (*T, error) {
	r, v := new(T), &Values{fits: fits}
	plain, err := untyped(raw)
	if err != nil {
		v.Refuse("", string(raw), i18n.New("share.want.json", "cause", err))
	} else if at, found := control("", plain); found != "" {
		v.Refuse(at, found, i18n.New("share.want.printable"))
	} else if err := json.Unmarshal(raw, r); err != nil {
		v.unreadable(plain, err)
	} else if at, x, y, differ := difference("", plain, written(r)); differ {
		v.Refuse(at, x, i18n.New("share.want.is", "value", shortened(y)))
	} else if check != nil {
		check(r, v)
	}
	if v.bad != nil {
		v.bad.Task = task
		return nil, v.bad
	}
	return r, nil
}

// unreadable refuses what is of another type, or what a type's own reader refuses.
func (v *Values) unreadable(plain any, err error) {
	field := ""
	var value any = plain
	if unfit := (*json.UnmarshalTypeError)(nil); errors.As(err, &unfit) {
		field, value = unfit.Field, unfit.Value
	}
	v.Refuse(field, value, i18n.New("share.want.json", "cause", err))
}
