package text_test

import (
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"locklab/reports/text"
	"locklab/simulator/i18n"
)

// An error is said in the language that is asked for, down to its last cause; what others
// have said stays as it is.
func TestErrorInEachLanguage(t *testing.T) {
	foreign := errors.New("EOF")
	length := text.Errorf("error.setting.length")
	for _, c := range []struct {
		err    error
		en, zh string
	}{
		{foreign, "EOF", "EOF"},
		{text.Errorf("error.lock", "name", "tokn", "near", text.Near("tokn", []string{"setnx", "token"})),
			`there is no lock "tokn": did you mean token? 'locklab list --all' shows all`,
			`没有锁 "tokn"。是不是想写 token？用 locklab list --all 查看全部`},
		{text.Errorf("error.lock", "name", "xyz", "near", text.Near("xyz", []string{"setnx", "token"})),
			`there is no lock "xyz": 'locklab list --all' shows all`,
			`没有锁 "xyz"。用 locklab list --all 查看全部`},
		{text.Errorf("error.setting", "item", "ttl=5", "cause", length),
			`setting "ttl=5": a length needs a number and a unit, such as 1500ms, 10s or 2m`,
			`参数 "ttl=5"：时长要有数字和单位，例如 1500ms、10s 或 2m`},
		{text.Errorf("error.check.negative", "name", "ttl", "value", -5*time.Second),
			"ttl=-5s is negative: give a length from 0", "ttl=-5s 是负数：请写不小于 0 的时长"},
		{fmt.Errorf("c.txt:3: %w", text.Errorf("error.trace.foreign")), "c.txt:3: this is no locklab trace",
			"c.txt:3: 这不是 locklab 的轨迹"},
		{errors.Join(text.Errorf("error.trace.foreign"), foreign), "this is no locklab trace\nEOF",
			"这不是 locklab 的轨迹\nEOF"},
		{text.Errorf("error.cells", "cells", text.Lines([]error{text.Errorf("error.trace.foreign"), foreign})),
			"not as contracted:\n  this is no locklab trace\n  EOF", "与契约不符：\n  这不是 locklab 的轨迹\n  EOF"},
		{text.Errorf("error.setting.absent", "name", "a\x1b[31m\r"), `this race has no a\x1b[31m\r`,
			`这个竞争场景没有参数 a\x1b[31m\r`},
	} {
		both := c.en + " / " + c.zh
		if c.en == c.zh {
			both = c.en
		}
		got := []string{(&text.Printer{Lang: "en"}).Error(c.err), (&text.Printer{Lang: "zh"}).Error(c.err),
			(&text.Printer{Lang: "both"}).Error(c.err)}
		if diff := cmp.Diff([]string{c.en, c.zh, both}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
	if got, want := fmt.Sprint(i18n.Errorf("error.setting", "item", "ttl=5", "cause", length)),
		"error.setting item=ttl=5 cause=(error.setting.length)"; got != want {
		t.Errorf("without a language the error is %q, want %q", got, want)
	}
	if err := text.Errorf("error.setting", "item", "x", "cause", fmt.Errorf("%w", length)); !errors.Is(err, length) {
		t.Errorf("%v does not wrap its cause", err)
	}
}

// The values of a sentence in the code have the names of its text's placeholders.
func TestErrorsInCode(t *testing.T) {
	s, err := code()
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, c := range s.calls {
		name, names, ok := phraseOf(c.CallExpr)
		if !ok || c.Ellipsis != token.NoPos {
			continue
		}
		found++
		want := placeholder.FindAllString(text.In("en").Get(name), -1)
		slices.Sort(want)
		slices.Sort(names)
		if diff := cmp.Diff(slices.Compact(want), names); diff != "" {
			t.Errorf("%s: placeholders of %s (-text +code):\n%s", c.place, name, diff)
		}
	}
	if found < 150 {
		t.Errorf("only %d calls were found: the test no longer fits the code", found)
	}
}

func literal(n ast.Node) (string, bool) {
	lit, ok := n.(*ast.BasicLit)
	if !ok || lit.Kind != token.STRING {
		return "", false
	}
	s, err := strconv.Unquote(lit.Value)
	return s, err == nil
}

// takers are the functions that take a key and its pairs.
var takers = []string{"Errorf", "New", "noAnswer", "Limit", "Exceed", "exceed", "refuse"}

// phraseOf returns the key that a call gives to one of the takers, and the placeholders that
// it fills in. The takers of other packages have no key of the catalogues.
func phraseOf(call *ast.CallExpr) (key string, names []string, ok bool) {
	name := ""
	switch f := call.Fun.(type) {
	case *ast.Ident:
		name = f.Name
	case *ast.SelectorExpr:
		name = f.Sel.Name
	}
	if !slices.Contains(takers, name) {
		return "", nil, false
	}
	for i, arg := range call.Args {
		key, ok := literal(arg)
		if !ok || !text.In("en").Has(key) {
			continue
		}
		for j := i + 1; j < len(call.Args); j += 2 {
			if s, ok := literal(call.Args[j]); ok {
				names = append(names, "{"+s+"}")
			}
		}
		return key, names, true
	}
	return "", nil, false
}
