package main

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"

	"locklab/reports/text"
)

// initCommand copies the template into a folder, as a module of its own: it changes no version of any other one.
func initCommand() *command {
	lab := ""
	return &command{
		use: "init FOLDER", args: between(1, 1, "folder"), flags: func(f *flags) { f.add("lab", &lab) },
		examples: []string{"init ./mylock", "init ./mylock --lab ~/locklab"},
		run: func(e *env, args []string) error {
			folder, err := filepath.Abs(args[0])
			if err != nil {
				return text.Errorf("error.init.folder", "folder", args[0], "cause", err)
			}
			files, inside, err := templateFor(lab, folder)
			if err == nil {
				err = newFolder(args[0])
			}
			if err == nil {
				err = writeNew(folder, files)
			}
			if err != nil {
				return err
			}
			names := slices.Sorted(maps.Keys(files))
			e.show("init", map[string]any{"folder": args[0], "files": names}, func() {
				e.Sentence("init.done", "folder", filepath.Base(folder), "files", strings.Join(names, ", "))
				if inside {
					e.Sentence("init.module", "folder", quoted(args[0]))
				}
				e.Next("go test -C "+quoted(args[0]), "locklab check "+quoted(args[0]))
			})
			return nil
		},
	}
}

// templateFolder has the test that is copied, below the lab.
const templateFolder = "scenarios/locktest/template"

// templateFor returns the files of a folder. The lab's source is in the folder lab; "": where the program was built
// from. inside: there is a module around the folder.
func templateFor(lab, folder string) (files map[string][]byte, inside bool, err error) {
	if lab == "" {
		_, file, _, _ := runtime.Caller(0)
		lab = filepath.Dir(filepath.Dir(filepath.Dir(file)))
	}
	lab, err = filepath.Abs(lab)
	files = map[string][]byte{}
	for _, file := range []string{"mylock_test.go", "go.mod", "go.sum"} {
		if err == nil {
			files[file], err = os.ReadFile(filepath.Join(lab, templateFolder, file))
		}
	}
	if err != nil {
		return nil, false, text.Errorf("error.init.lab", "folder", lab, "cause", err)
	}
	module, _, _ := strings.Cut(string(files["go.mod"]), "// Until")
	name, finds := moduleAround(folder)
	if name != "" {
		module = regexp.MustCompile(`(?m)^module .*`).ReplaceAllLiteralString(module, name)
	}
	files["go.mod"] = fmt.Appendf(nil, "%sreplace %s => %q\n%s", module, modulePath(), lab, finds)
	return files, name != "", nil
}

// newFolder makes a folder if there is none. One with packages in it would take them into another module.
func newFolder(folder string) error {
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return text.Errorf("error.init.folder", "folder", folder, "cause", err)
	}
	var sources []string
	_ = filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error { // what cannot be read has none
		if err == nil && strings.HasSuffix(path, ".go") {
			sources = append(sources, path)
		}
		return nil
	})
	if sources != nil && !slices.Contains(sources, filepath.Join(folder, "mylock_test.go")) {
		return text.Errorf("error.init.package", "folder", folder)
	}
	return nil
}

// moduleAround returns the lines of a go.mod by which the module of a folder is named below the one around it, whose
// internal packages it may then import, and finds it; "": there is none.
func moduleAround(folder string) (name, finds string) {
	for at := filepath.Dir(folder); ; at = filepath.Dir(at) {
		content, err := os.ReadFile(filepath.Join(at, "go.mod"))
		if _, rest, is := strings.Cut("\n"+string(content), "\nmodule "); err == nil && is {
			line, _, _ := strings.Cut(rest, "\n")
			module, _, _ := strings.Cut(line, "//")
			if module = strings.Trim(module, " \t\r\"`"); module == modulePath() {
				return "", ""
			}
			down, _ := filepath.Rel(at, folder)
			up, _ := filepath.Rel(folder, at) // it moves with the other one
			return "module " + module + "/" + notInPath.ReplaceAllString(filepath.ToSlash(down), "-"),
				fmt.Sprintf("\nrequire %s v0.0.0\n\nreplace %[1]s => %q\n", module, filepath.ToSlash(up))
		}
		if at == filepath.Dir(at) {
			return "", ""
		}
	}
}

// notInPath finds what folders have in their names and modules have not.
var notInPath = regexp.MustCompile(`[^A-Za-z0-9._~/-]`)

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
