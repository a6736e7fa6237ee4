package nntp

import "strings"

// unflow joins the lines of each paragraph of a format=flowed text: RFC 3676 section 4. delSp removes the space
// at the end of a line that is continued.
func unflow(text string, delSp bool) string {
	var b strings.Builder
	depth, goesOn := 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		quoted := len(line) - len(strings.TrimLeft(line, ">"))
		line = strings.TrimPrefix(line[quoted:], " ") // removes space-stuffing
		isSignature := line == "-- "
		if goesOn && (quoted != depth || isSignature) {
			b.WriteByte('\n')
			goesOn = false
		}
		if !goesOn && quoted > 0 {
			b.WriteString(strings.Repeat(">", quoted) + " ")
		}
		depth, goesOn = quoted, strings.HasSuffix(line, " ") && !isSignature
		if goesOn && delSp {
			line = strings.TrimSuffix(line, " ")
		}
		if b.WriteString(line); !goesOn {
			b.WriteByte('\n')
		}
	}
	return b.String()
}
