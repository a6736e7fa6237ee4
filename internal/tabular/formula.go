package tabular

import (
	"strconv"
	"strings"
)

// guard begins a cell that spreadsheets would take for a formula: they do not show it.
const guard = "'"

// guarded returns a cell that spreadsheets show and do not compute. What is a guard of its own in it gets another one, so that unguarded is
// its inverse.
func guarded(cell string) string {
	if isFormula(strings.TrimLeft(cell, guard)) {
		return guard + cell
	}
	return cell
}

// Unguarded returns the cell of which a Writer has made another one.
func Unguarded(cell string) string {
	if rest, ok := strings.CutPrefix(cell, guard); ok && isFormula(strings.TrimLeft(rest, guard)) {
		return rest
	}
	return cell
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
