package motion

import _ "embed"

// What all pages with runs share stands before what draws them: see ui.js and theme.css.
var (
	//go:embed ui.js
	ui string
	//go:embed theme.css
	theme string
)

func init() { Script, Style = ui+Script, theme+Style }
