package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"locklab/reports/text"
)

// initFlags are the flags of "locklab init".
type initFlags struct{ lab string }

func initCommand() *command {
	i := &initFlags{}
	return &command{
		use: "init FOLDER", args: exactly(1, "folder"), flags: func(f *flags) { f.add("lab", &i.lab) }, run: i.run,
		examples: []string{"init ./mylock", "init ./mylock --lab ~/locklab"},
	}
}

// templateFolder has the test that is copied, below the lab.
const templateFolder = "scenarios/locktest/template"

// The files that init writes.
const (
	testName   = "mylock_test.go"
	moduleName = "go.mod"
	sumName    = "go.sum"
)

// run copies the template into a folder, as a part of the module that this is in, or as one of its own.
func (i *initFlags) run(e *env, args []string) error {
	lab, err := i.labFolder()
	if err != nil {
		return err
	}
	folder, name, err := packageIn(args[0])
	if err != nil {
		return err
	}
	files := map[string][]byte{}
	for _, file := range []string{testName, moduleName, sumName} {
		if files[file], err = os.ReadFile(filepath.Join(lab, templateFolder, file)); err != nil {
			return text.Errorf("error.init.lab", "folder", lab, "cause", err)
		}
	}
	files[testName] = bytes.Replace(files[testName], []byte("package mylock"), []byte("package "+name), 1)
	module := moduleAbove(folder)
	replace, lines := fmt.Sprintf("replace %s => %q\n", modulePath(), lab), ""
	if module == "" {
		_, rest, _ := strings.Cut(string(files[moduleName]), "\ngo ")
		rest, _, _ = strings.Cut(rest, "// Until")
		files[moduleName] = []byte("module example.com/" + name + "\n\ngo " + rest + replace)
	} else {
		delete(files, moduleName)
		delete(files, sumName)
		lines = "godebug randseednop=0\nrequire " + modulePath() + " v0.0.0\n" + replace
	}
	if err := writeNew(folder, files); err != nil {
		return err
	}
	wrote := struct {
		Folder string   `json:"folder"`
		Files  []string `json:"files"`
		Module string   `json:"module"` // whose go.mod needs Lines; "": one of its own
		Lines  string   `json:"lines"`
	}{args[0], slices.Sorted(maps.Keys(files)), module, lines}
	e.show("init", wrote, func() {
		e.Printf("%s\n", e.Say("init.done", "folder", args[0], "files", strings.Join(wrote.Files, ", ")))
		if module != "" {
			e.Printf("%s\n\n%s\n", e.Say("init.module", "file", module), lines)
		}
		e.Next(fmt.Sprintf("cd %s && go mod tidy && go test .", args[0]), "locklab check "+args[0])
	})
	return nil
}

// labFolder is the folder of the lab's source: that of the flag, or that from which the program was built.
func (i *initFlags) labFolder() (string, error) {
	lab := i.lab
	if lab == "" {
		_, file, _, _ := runtime.Caller(0)
		lab = filepath.Dir(filepath.Dir(filepath.Dir(file)))
	}
	lab, err := filepath.Abs(lab)
	if err == nil {
		_, err = os.Stat(filepath.Join(lab, templateFolder, moduleName))
	}
	if err != nil {
		return "", text.Errorf("error.init.lab", "folder", lab, "cause", err)
	}
	return lab, nil
}

// packageIn makes a folder if there is none, and returns it with the name of the package there.
func packageIn(folder string) (path, name string, err error) {
	if path, err = filepath.Abs(folder); err == nil {
		err = os.MkdirAll(path, 0o777)
	}
	if err != nil {
		return "", "", text.Errorf("error.init.folder", "folder", folder, "cause", err)
	}
	sources, err := filepath.Glob(filepath.Join(path, "*.go"))
	for _, source := range sources {
		if file, wrong := parser.ParseFile(token.NewFileSet(), source, nil, parser.PackageClauseOnly); wrong == nil {
			return path, file.Name.Name, err
		}
	}
	name = regexp.MustCompile(`[^a-z0-9]`).ReplaceAllString(strings.ToLower(filepath.Base(path)), "")
	if !token.IsIdentifier(name) {
		name = "mylock"
	}
	return path, name, err
}

// moduleAbove returns the go.mod of the module that a folder is in; "": there is none.
func moduleAbove(folder string) string {
	for at := folder; ; at = filepath.Dir(at) {
		file := filepath.Join(at, moduleName)
		if _, err := os.Stat(file); err == nil {
			return file
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}

// writeNew writes files into a folder, if there is none of them yet.
func writeNew(folder string, files map[string][]byte) (err error) {
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if _, err := os.Lstat(filepath.Join(folder, name)); !errors.Is(err, os.ErrNotExist) {
			return text.Errorf("error.init.there", "file", filepath.Join(folder, name))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.WriteFile(filepath.Join(folder, name), files[name], 0o666); err != nil {
			return text.Errorf("error.init.folder", "folder", folder, "cause", err)
		}
	}
	return nil
}
