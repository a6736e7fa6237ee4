// Package bulk imports names into a registry from files, and exports them. A compressed or plain stream of
// CSV (RFC 4180), NDJSON or a format of another program enters an import; registry versions, a report, and a
// rejection for each invalid line leave it. An export writes CSV, TSV, NDJSON, a map of nginx or NAPTR
// records (RFC 3403, RFC 3404).
//
// An import has two stages. The first parses and checks all lines in parallel and sorts them by name in
// temporary files. The second writes the names in transactions, each of which also records the position of
// the import. So the order of the input does not affect the speed, lines of the same name are adjacent,
// prefixes are written before the names below them, and an interrupted import continues at the recorded
// position.
//
//   - import.go, report.go: the import and its report
//   - format.go, input.go: the formats, their options, and the input; delimited.go, ndjson.go, package
//     foreign: the parsers
//   - column.go, line.go: columns, and the fields of a line
//   - read.go, record.go: the first stage; mergedrecord.go, write.go, version.go, conflict.go, position.go: the
//     second stage
//   - export.go and the other files named export: exports
package bulk
