// Package tabular reads and writes CSV (RFC 4180) and TSV, for imports, exports, the API and pages alike: what divides cells, quotation
// marks, the names of the columns, the numbers of lines, bounds, and cells that spreadsheets would take for formulas. What it reads is UTF-8
// already: see package charset.
package tabular
