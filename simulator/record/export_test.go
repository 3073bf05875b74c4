package record

// ParseJSON is Parse by package json alone.
var ParseJSON = parse
