package nntp

import "strings"

// unflow returns a text of format=flowed with its paragraphs as lines: RFC 3676 section 4. delSp is whether the space at the
// end of a line that goes on is no part of the text.
func unflow(text string, delSp bool) string {
	var b strings.Builder
	depth, goesOn := 0, false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		quoted := len(line) - len(strings.TrimLeft(line, ">"))
		line = strings.TrimPrefix(line[quoted:], " ") // which was stuffed
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
