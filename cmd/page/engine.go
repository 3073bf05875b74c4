//go:build js && wasm

// The engine of the page: it answers the requests of package play. The function
// locklabAnswer takes a request and returns the answer, both as text.
package main

import (
	"context"
	"syscall/js"

	"locklab/reports/game"
	"locklab/reports/lessons"
)

func main() {
	table := game.Table{Lesson: lessons.NewStage().Read, Cells: lessons.PathCells}
	js.Global().Set("locklabAnswer", js.FuncOf(func(_ js.Value, args []js.Value) any {
		return string(table.Answer(context.Background(), []byte(args[0].String())))
	}))
	select {}
}
