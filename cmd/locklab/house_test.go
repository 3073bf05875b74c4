package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// The house stays small enough to be held in one head.
const (
	mostLines         = 85_213 // of Go without tests, with the modules below this one; it only falls
	mostMethods       = 40     // of a type, with those of the types that it embeds
	mostFunctionLines = 60
)

// longLists are the functions that may be longer, since they list one thing after another.
var longLists = map[string]bool{"scenarios.All": true, "algorithms/redis.All": true}

// A declared type is a type of our own with its methods.
type declared struct {
	methods  int
	embedded []string // types of our own
}

// A house has the measures of TestHouse.
type house struct {
	lines int
	types map[string]*declared // by folder and name: "simulator.World"
	long  map[string]int       // functions of more than mostFunctionLines
}

// TestHouse: no type has more methods than one can hold in mind, no function is longer than a
// page, and the whole stays within mostLines.
func TestHouse(t *testing.T) {
	h := house{types: map[string]*declared{}, long: map[string]int{}}
	drawn := drawing(t)
	for dir := range drawn {
		h.measure(t, dir)
	}
	for _, dir := range foldersBelow(t) {
		if _, ok := drawn[dir]; !ok { // of another module
			h.measure(t, dir)
		}
	}
	for name := range h.types {
		if n := h.methods(name, map[string]bool{}); n > mostMethods {
			t.Errorf("%s has %d methods, with those that it embeds; at most %d are for one idea: divide it", name, n,
				mostMethods)
		}
	}
	for name, lines := range h.long {
		if !longLists[name] {
			t.Errorf("%s has %d lines, more than %d: divide it", name, lines, mostFunctionLines)
		}
	}
	for name := range longLists {
		if h.long[name] == 0 {
			t.Errorf("%s is no long list any more: take it out of longLists", name)
		}
	}
	t.Logf("%d lines without tests, of %d", h.lines, mostLines)
	if h.lines > mostLines {
		t.Errorf("%d lines without tests, more than %d: take away as much as you add", h.lines, mostLines)
	}
}

// foldersBelow are the folders of the repository, without those of fixtures.
func foldersBelow(t *testing.T) (dirs []string) {
	t.Helper()
	root := filepath.Join("..", "..")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.IsDir() {
			return err
		}
		if name := d.Name(); path != root && (strings.HasPrefix(name, ".") || name == "testdata" || name == "out") {
			return filepath.SkipDir
		}
		rel, err := filepath.Rel(root, path)
		dirs = append(dirs, filepath.ToSlash(rel))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return dirs
}

// topLevel are the entries of the module's folder, but for those that begin with a dot; out is what commands write.
var topLevel = []string{
	"Makefile", "README.md", "algorithms", "cmd", "faults", "go.mod", "go.sum", "out", "reports", "scenarios",
	"simulator",
}

// TestTopLevel: nothing else lies in the module's folder, as a file that a command has left there.
func TestTopLevel(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); !strings.HasPrefix(name, ".") && !slices.Contains(topLevel, name) {
			t.Errorf("%s does not belong here", name)
		}
	}
}

// methods counts the methods of a type and of the types that it embeds, each once.
func (h *house) methods(name string, counted map[string]bool) int {
	d := h.types[name]
	if d == nil || counted[name] {
		return 0
	}
	counted[name] = true
	n := d.methods
	for _, e := range d.embedded {
		n += h.methods(e, counted)
	}
	return n
}

// measure adds the package in dir.
func (h *house) measure(t *testing.T, dir string) {
	t.Helper()
	folder := filepath.Join("..", "..", filepath.FromSlash(dir))
	files, err := fs.Glob(os.DirFS(folder), "*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		if strings.HasSuffix(name, "_test.go") {
			continue
		}
		content := contentOf(t, folder, name)
		positions := token.NewFileSet()
		file, err := parser.ParseFile(positions, name, content, 0)
		if err != nil {
			t.Fatal(err)
		}
		h.lines += strings.Count(content, "\n")
		imported := map[string]string{} // a name in this file -> the folder of our own package
		for _, spec := range file.Imports {
			full, _ := strconv.Unquote(spec.Path.Value)
			if own, ok := strings.CutPrefix(full, modulePath()+"/"); ok {
				imported[path.Base(own)] = own
			}
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				h.function(dir, d, positions)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						h.declare(dir, spec, imported)
					}
				}
			}
		}
	}
}

// named returns the entry of a type.
func (h *house) named(name string) *declared {
	if h.types[name] == nil {
		h.types[name] = &declared{}
	}
	return h.types[name]
}

func (h *house) function(dir string, f *ast.FuncDecl, positions *token.FileSet) {
	name := dir + "." + f.Name.Name
	if f.Recv != nil {
		receiver := typeName(f.Recv.List[0].Type, dir, nil)
		h.named(receiver).methods++
		name = receiver + "." + f.Name.Name
	}
	if lines := positions.Position(f.End()).Line - positions.Position(f.Pos()).Line + 1; lines > mostFunctionLines {
		h.long[name] = lines
	}
}

// declare records the types that a struct or an interface embeds, and the methods of an interface.
func (h *house) declare(dir string, spec *ast.TypeSpec, imported map[string]string) {
	d := h.named(dir + "." + spec.Name.Name)
	var fields []*ast.Field
	switch x := spec.Type.(type) {
	case *ast.StructType:
		fields = x.Fields.List
	case *ast.InterfaceType:
		fields = x.Methods.List
		for _, f := range fields {
			d.methods += len(f.Names)
		}
	}
	for _, f := range fields {
		if len(f.Names) == 0 {
			d.embedded = append(d.embedded, typeName(f.Type, dir, imported))
		}
	}
}

// typeName returns the folder and name of a type of our own; of any other something that is no
// name of ours.
func typeName(x ast.Expr, dir string, imported map[string]string) string {
	switch x := x.(type) {
	case *ast.StarExpr:
		return typeName(x.X, dir, imported)
	case *ast.IndexExpr:
		return typeName(x.X, dir, imported)
	case *ast.IndexListExpr:
		return typeName(x.X, dir, imported)
	case *ast.Ident:
		return dir + "." + x.Name
	case *ast.SelectorExpr:
		if p, ok := x.X.(*ast.Ident); ok && imported[p.Name] != "" {
			return imported[p.Name] + "." + x.Sel.Name
		}
	}
	return ""
}
