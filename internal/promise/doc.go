// Package promise records the interfaces that users rely on, one file in testdata for each kind and one line
// for each promise: settings, commands, HTTP interfaces, files, metrics, log records, texts, errors and header
// fields. It contains only tests. They build the program, gather the lines and compare them with the files, so
// that each change of an interface is a line in a diff:
//
//	go test ./internal/promise            compares
//	go test ./internal/promise -update    rewrites the files
//
// Most lines are gathered from outside, from the output of the program and from a daemon with every feature
// enabled, so that refactoring does not affect the tests. Log records, texts and errors are read from the
// source with go/ast, in source_test.go and its users. Secrets and effects of a reload are read from the
// packages, in one function.
package promise
