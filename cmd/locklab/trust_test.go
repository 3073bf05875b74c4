package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// mostTrusted are the lines that one reads who wants to believe a proof, at most: without hypotheses, and with them.
// They only fall.
const mostTrusted, mostWithHypotheses = 13_350, 16_500

// TestTrustPath: the way to believe a proof, which simulator/README.md gives, has the lines that it says.
func TestTrustPath(t *testing.T) {
	page := filepath.Join("..", "..", "simulator", "README.md")
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile("(?m)^(\\| `([^`]+)` \\| )[0-9]+( \\|.*)$")
	counted := func(part []byte, lines *int) []byte {
		return row.ReplaceAllFunc(part, func(line []byte) []byte {
			of := row.FindSubmatch(line)
			file, err := os.ReadFile(filepath.Join("..", "..", filepath.FromSlash(string(of[2]))))
			if err != nil {
				t.Error(err)
			}
			n := bytes.Count(file, []byte("\n"))
			*lines += n
			return fmt.Appendf(nil, "%s%d%s", of[1], n, of[3])
		})
	}
	without, hypotheses := 0, 0
	seventh := bytes.Index(text, []byte("## 7."))
	is := append(counted(text[:seventh], &without), counted(text[seventh:], &hypotheses)...)
	is = regexp.MustCompile(`have [0-9]+ lines, all of them [0-9]+`).ReplaceAll(is,
		fmt.Appendf(nil, "have %d lines, all of them %d", without, without+hypotheses))
	if *update {
		if err := os.WriteFile(page, is, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(is, text) {
		t.Error("simulator/README.md has other numbers of lines: make update")
	}
	if without > mostTrusted || without+hypotheses > mostWithHypotheses {
		t.Errorf("%d lines, and %d with hypotheses", without, without+hypotheses)
	}
}
