// Package page writes pages that need no network: a report, the page about a log, and the board to play on. The grid of
// a report is read without a script; the script opens the runs, as timelines that move, and filters the grid.
//
// Runs are drawn by package motion, with which stands what all pages share.
package page

import (
	"bytes"
	"embed"
	"errors"
	"fmt"
	"html/template"
	"io"
	"strings"

	"locklab/reports/motion"
	"locklab/reports/text"
	"locklab/simulator/lists"
)

// MaxSize is the size in bytes that no page exceeds, but the board, which has its engine in it.
const MaxSize = 12 << 20

// ErrTooLarge says that charts, grid and runs exceed MaxSize.
var ErrTooLarge = errors.New("page: too large: leave out charts or locks")

//go:embed *.html *.css *.js
var files embed.FS

var templates = template.Must(template.ParseFS(files, "*.html"))

// file is the content of an embedded file.
func file(name string) string {
	content, err := files.ReadFile(name)
	if err != nil {
		panic(err) // the program lacks a part of itself
	}
	return string(content)
}

// style is a style sheet with those that all pages share.
func style(name string) template.CSS { return template.CSS(file(name) + motion.Style) }

// script is the scripts of a page, in their order, after those that all pages share.
func script(names ...string) template.JS {
	return template.JS(motion.Script + strings.Join(lists.Each(names, file), ""))
}

// policy returns the rights of a page beside showing what stands in it.
func policy(more string) template.HTML {
	return template.HTML(`<meta http-equiv="Content-Security-Policy" content="default-src 'none'; ` + more +
		`; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'"/>`)
}

// inline is the policy of a page whose scripts stand in it, and ask nobody.
const inline = "script-src 'unsafe-inline'"

// execute writes a page that a template makes, of at most so many bytes.
func execute(w io.Writer, name string, data any, most int) error {
	var b bytes.Buffer
	if err := templates.ExecuteTemplate(&b, name, data); err != nil {
		return fmt.Errorf("page: filling the template: %w", err)
	}
	if b.Len() > most {
		return ErrTooLarge
	}
	if _, err := io.WriteString(w, text.InMarkup(b.String())); err != nil {
		return fmt.Errorf("page: writing: %w", err)
	}
	return nil
}
