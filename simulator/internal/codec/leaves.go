package codec

import (
	"fmt"
	"reflect"
	"strconv"
)

// maxLeaves bounds the length of a list that FromLeaves reads.
const maxLeaves = 1 << 12

// Leaves returns the numbers, truths and texts of a plain value that are not zero, by their paths: a.0.b is field b of
// the first element of field a, and the length of list a is a.len. Derived fields are left out.
func Leaves(v any) map[string]string {
	all := map[string]string{}
	value := reflect.New(reflect.TypeOf(v)).Elem()
	value.Set(reflect.ValueOf(v))
	planOf(value.Type()).leaves("", value, func(path string, leaf reflect.Value) {
		if !leaf.IsZero() {
			all[path] = text(leaf)
		}
	})
	return all
}

// FromLeaves returns the value with these Leaves. The error names a path that the value lacks, or that does not fit.
func FromLeaves[V any](all map[string]string) (v V, err error) {
	used := 0
	value := reflect.ValueOf(&v).Elem()
	planOf(value.Type()).leaves("", value, func(path string, leaf reflect.Value) {
		written, ok := all[path]
		if !ok || err != nil {
			return
		}
		used++
		if !set(settable(leaf), written) {
			err = fmt.Errorf("plain: %q does not fit %s", written, path)
		}
	})
	if err == nil && used != len(all) {
		err = fmt.Errorf("plain: %d of %d fields are unknown", len(all)-used, len(all))
	}
	return v, err
}

// leaves calls visit for all that is neither list nor struct, and for the lengths of lists, before their elements.
func (p *plan) leaves(path string, v reflect.Value, visit func(path string, leaf reflect.Value)) {
	in := func(name string) string {
		if path == "" {
			return name
		}
		return path + "." + name
	}
	switch p.kind {
	case reflect.Slice:
		n := reflect.New(reflect.TypeFor[int]()).Elem()
		n.SetInt(int64(v.Len()))
		visit(in("len"), n)
		if n.Int() > int64(v.Len()) {
			settable(v).Set(reflect.MakeSlice(v.Type(), int(n.Int()), int(n.Int())))
		}
		fallthrough
	case reflect.Array:
		for i := range v.Len() {
			p.elem.leaves(in(strconv.Itoa(i)), v.Index(i), visit)
		}
	case reflect.Struct:
		for i, field := range p.fields {
			if field != nil {
				field.leaves(in(v.Type().Field(i).Name), v.Field(i), visit)
			}
		}
	default:
		visit(path, v)
	}
}

// text writes a number, a truth or a text.
func text(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.String:
		return v.String()
	case v.CanInt():
		return strconv.FormatInt(v.Int(), 10)
	case v.CanUint():
		return strconv.FormatUint(v.Uint(), 10)
	}
	return strconv.FormatBool(v.Bool())
}

// set reads a text into a value, and reports whether it fits.
func set(v reflect.Value, written string) bool {
	switch {
	case v.Kind() == reflect.String:
		v.SetString(written)
		return true
	case v.CanInt():
		n, err := strconv.ParseInt(written, 10, 64)
		length := v.Type() == reflect.TypeFor[int]() && (n < 0 || n > maxLeaves)
		if err != nil || length || v.OverflowInt(n) {
			return false
		}
		v.SetInt(n)
		return true
	case v.CanUint():
		n, err := strconv.ParseUint(written, 10, 64)
		if err != nil || v.OverflowUint(n) {
			return false
		}
		v.SetUint(n)
		return true
	}
	v.SetBool(written == "true")
	return written == "true"
}
