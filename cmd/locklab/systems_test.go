package main

import (
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// aPackage is one of those that the program is made of on a system, as go list has it.
type aPackage struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
}

// TestSystems: the program can be compiled for other systems. To compile it anew takes half a minute of a processor and
// more for each, and to check the types of our code, and of what others declare, two seconds. make hunt compiles it.
func TestSystems(t *testing.T) {
	for _, system := range []string{"darwin/arm64", "windows/amd64"} {
		t.Run(system, func(t *testing.T) { checkFor(t, system) })
	}
}

// checkFor checks the types of the program for a system.
func checkFor(t *testing.T, system string) {
	goos, goarch, _ := strings.Cut(system, "/")
	list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module")
	list.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	ours, made := 0, map[string]*types.Package{"unsafe": types.Unsafe}
	for in := json.NewDecoder(strings.NewReader(string(out))); in.More(); {
		var p aPackage
		if err := in.Decode(&p); err != nil {
			t.Fatal(err)
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		own := p.Module != nil && p.Module.Main
		if own {
			ours++
		}
		fset, files := token.NewFileSet(), []*ast.File(nil)
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			files = append(files, f)
		}
		c := types.Config{
			Importer:         imported{made, p.ImportMap},
			IgnoreFuncBodies: !own,
			Sizes:            types.SizesFor("gc", goarch),
			FakeImportC:      true,
			Error: func(err error) {
				if own {
					t.Error(err)
				}
			},
		}
		made[p.ImportPath], _ = c.Check(p.ImportPath, fset, files, nil)
	}
	if ours < 50 {
		t.Errorf("%d packages of our own", ours)
	}
}

// imported are packages by their paths, and the paths of those that a package knows by others.
type imported struct {
	made map[string]*types.Package
	as   map[string]string
}

func (i imported) Import(path string) (*types.Package, error) {
	if as, ok := i.as[path]; ok {
		path = as
	}
	return i.made[path], nil
}
