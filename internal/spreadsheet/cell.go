// Package spreadsheet makes tables safe to be opened by spreadsheets, which compute cells that others have written.
package spreadsheet

import (
	"strconv"
	"strings"
)

// Cell returns a text that spreadsheets show and do not compute: one that they would take for a formula begins with an apostrophe, which they
// do not show.
func Cell(text string) string {
	if isFormula(text) {
		return "'" + text
	}
	return text
}

// isFormula reports whether spreadsheets compute a cell, by what it begins with, also after spaces. The wide forms are those that they
// take for the others.
func isFormula(cell string) bool {
	cell = strings.TrimLeft(cell, " ")
	for _, begin := range []string{"=", "+", "-", "@", "\t", "\r", "\n", "\uff1d", "\uff0b", "\uff0d", "\uff20"} {
		if strings.HasPrefix(cell, begin) {
			_, err := strconv.Atoi(cell)
			return err != nil // a number, such as a priority, computes nothing
		}
	}
	return false
}
