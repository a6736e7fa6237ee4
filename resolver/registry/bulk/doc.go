// Package bulk imports and exports many names of a registry.
//
// An import has two stages. It reads and checks all lines, in parallel, into a temporary table; then it
// sorts them by name, and writes the names in transactions, in each of which it records how far it is.
// So input in any order is written at one speed, lines of one name come together, prefixes come before the
// names below them, and an import that was killed goes on.
//
//   - import.go, report.go: what an import is and says
//   - format.go, input.go: what the input is, and which options it takes; delimited.go, ndjson.go, package foreign: its formats
//   - column.go, line.go: what a line says of a name
//   - read.go, record.go: the first stage; unit.go, write.go, version.go, conflict.go, position.go: the second one
//   - export.go and the files that begin so: the way out
package bulk
