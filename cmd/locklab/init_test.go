package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestInit: the template is copied, as a module of its own or into another one, and no file is overwritten.
func TestInit(t *testing.T) {
	dir := t.TempDir()
	own := filepath.Join(dir, "my-lock")
	code, out, errs := call(t, "init", own)
	if code != exitOK || !strings.Contains(out, "go.mod, go.sum, mylock_test.go") {
		t.Fatalf("exit status %d, %s%s", code, out, errs)
	}
	module := contentOf(t, own, "go.mod")
	for _, want := range []string{"module example.com/mylock\n\ngo 1.", "godebug randseednop=0", "\nreplace " + modulePath() + " => \"/"} {
		if !strings.Contains(module, want) {
			t.Errorf("%q is missing in\n%s", want, module)
		}
	}
	if is, want := contentOf(t, own, "mylock_test.go"), contentOf(t, template, "mylock_test.go"); is != want {
		t.Error("the test is not that of the template")
	}
	if err := os.Remove(filepath.Join(own, "go.mod")); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := call(t, "init", own); code != exitUsage || !strings.Contains(errs, "go.sum is there already") {
		t.Errorf("exit status %d, %s", code, errs)
	}
	if _, err := os.Stat(filepath.Join(own, "go.mod")); err == nil {
		t.Error("it wrote go.mod, although it refused")
	}

	for name, text := range map[string]string{"go.mod": "module example.com/shop\n", "cart/cart.go": "package basket\n"} {
		fileWith(t, text, dir, name)
	}
	code, out, errs = call(t, "init", filepath.Join(dir, "cart"))
	if code != exitOK || !strings.Contains(out, "require "+modulePath()+" v0.0.0\nreplace "+modulePath()+" => ") {
		t.Errorf("exit status %d, %s%s", code, out, errs)
	}
	if test := contentOf(t, dir, "cart/mylock_test.go"); !strings.HasPrefix(test, "package basket\n") {
		t.Errorf("it begins with %.30q", test)
	}
	if code, _, errs := call(t, "init", filepath.Join(dir, "x"), "--lab", dir); code != exitUsage || !strings.Contains(errs, "with --lab") {
		t.Errorf("exit status %d, %s", code, errs)
	}
}
