// Package motion draws a run as a timeline that moves: motion.js, which pages embed, draws a reports.Run, a bar for
// each client, the lease on each server running down, messages as arrows, faults and verdicts at their instants, and
// the lock's own code with the line at which each client is.
package motion

import (
	_ "embed"
	"strings"
)

var (
	//go:embed ui.js
	ui string // what all pages with runs share
	//go:embed motion.js
	source string
	//go:embed theme.css
	theme string
	//go:embed motion.css
	style string
)

// Script defines what all pages with runs share, and the function motion of a page, and Style is how that looks.
var (
	Script = ui + source + `MOTION.clients = ["` + strings.Join(ClientColors, `", "`) + "\"];\n"
	Style  = theme + style
)

// ClientColors are the colours of clients 1, 2, ... in all pictures of runs.
var ClientColors = []string{"#0072b2", "#00805e", "#a8518a", "#8a6d00", "#3b7ea1", "#6b5fb5"}
